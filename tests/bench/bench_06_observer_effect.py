"""Budget 6: what a poll costs the SERVER, beside SHOW GLOBAL STATUS alone; temporary tables on disk it must not make.

The poll is the sampler's own (services.sampling.sql_poll) over a HostSession, with 100 idle connections beside it. CPU
is the server process's, in nanoseconds (schedstat).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import pymysql

from services.clock import SystemClock
from services.connections.host import HostSession
from services.sampling.settings import WatchSettings
from services.sampling.sql_poll import SqlPoll, poll_sql
from tests.bench.model import Row, paired
from tests.bench.support.private_servers import MariaDb, mariadb

POLLS = 60
IDLE = 100
ALLOWANCE_MS = 0.1
LIMIT = 1.1


def server_ms(server: MariaDb, poll: Callable[[], object]) -> float:
    """CPU milliseconds of the server per poll."""
    before = server.cpu_s()
    for _ in range(POLLS):
        poll()
    return (server.cpu_s() - before) * 1000.0 / POLLS


def disk_tables(session: HostSession) -> int:
    """Temporary tables on disk so far, whole server."""
    return int(session.status()["Created_tmp_disk_tables"])


def run(rounds: int) -> list[Row]:
    """Measure both sides in turn."""
    with mariadb() as server, server.session() as session, ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(pymysql.connect(host="127.0.0.1", port=server.port, user="bench", ssl_disabled=True))
        clock, settings, remembered = SystemClock(), WatchSettings(), SqlPoll()

        def whole() -> None:
            poll_sql(session, remembered, clock, settings)

        whole()
        before = disk_tables(session)
        ratio, a, b = paired(
            lambda: server_ms(server, whole) - ALLOWANCE_MS, lambda: server_ms(server, session.status), rounds
        )
        made = disk_tables(session) - before
    detail = f"{a + ALLOWANCE_MS:.3f} ms against {b:.3f} ms, {rounds} rounds of {POLLS}, {IDLE} idle connections"
    return [
        Row(6, "a", "server CPU of a poll less 0.1 ms / SHOW GLOBAL STATUS alone", ratio, LIMIT, detail=detail),
        Row(6, "b", "temporary tables on disk made by all of it", float(made), 0.0, "tables"),
    ]

"""Budget 3: client CPU of one poll through a HostSession, beside the bare driver doing the same statements.

A poll: SHOW GLOBAL STATUS with its values as floats, SHOW ENGINE INNODB STATUS, SHOW ALL SLAVES STATUS, SHOW
PROCESSLIST, on a server whose counters move. The session adds the registry, limits, lenient decoding and error
mapping. Its driver is PyMySQL for the login and the lean reader for the rest; mysqlclient is the C peer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any

import pymysql

from services.connections.host import HostSession
from services.connections.reads import statements
from services.connections.reads.registry import statement_of
from tests.bench.model import Row, missing, paired
from tests.bench.support.private_servers import MariaDb, mariadb, work
from tests.bench.support.unavailable import Unavailable

STATUS = "SHOW GLOBAL STATUS"
READS = (statements.INNODB_STATUS, statements.ALL_SLAVES, statements.PROCESS_LIST)
OTHERS = tuple(statement_of(read) for read in READS)
POLLS = 60
LIMIT = 1.2


def floats(values: Iterable[str]) -> int:
    """Turn what is a number into one; how many were."""
    count = 0
    for value in values:
        try:
            float(value)
            count += 1
        except ValueError:
            pass
    return count


def cpu_ms(poll: Callable[[], object], polls: int = POLLS) -> float:
    """CPU milliseconds of this process per poll."""
    started = time.process_time()
    for _ in range(polls):
        poll()
    return (time.process_time() - started) * 1000.0 / polls


def session_poll(session: HostSession) -> Callable[[], object]:
    """One poll through the session."""

    def poll() -> None:
        assert floats(session.status().values()) > 400
        for read in READS:
            session.query(read)

    return poll


def driver_poll(connection: Any) -> Callable[[], object]:
    """One poll over a DB-API connection: execute, fetchall, floats."""

    def poll() -> None:
        cursor = connection.cursor()
        cursor.execute(STATUS)
        assert floats(value for _, value in cursor.fetchall()) > 400
        for statement in OTHERS:
            cursor.execute(statement)
            cursor.fetchall()
        cursor.close()

    return poll


def c_connection(server: MariaDb) -> Any:
    """A mysqlclient connection; Unavailable where it is not installed."""
    try:
        import MySQLdb
    except ImportError as problem:
        raise Unavailable(f"mysqlclient is not to be had here: {problem}") from problem
    return MySQLdb.connect(host="127.0.0.1", port=server.port, user="bench", charset="utf8mb4")


def run(rounds: int) -> list[Row]:
    """Measure both sides in turn."""
    rows: list[Row] = []
    with mariadb() as server, work(server), server.session() as session:
        ours = session_poll(session)
        ours()
        bare = pymysql.connect(host="127.0.0.1", port=server.port, user="bench", ssl_disabled=True)
        with bare:
            theirs = driver_poll(bare)
            ratio, a, b = paired(lambda: cpu_ms(ours), lambda: cpu_ms(theirs), rounds)
        detail = f"{a:.2f} ms against {b:.2f} ms, {rounds} rounds of {POLLS}, PyMySQL {version('PyMySQL')}"
        rows.append(Row(3, "a", "CPU of a poll, session / PyMySQL's own cursor", ratio, LIMIT, detail=detail))
        title = "CPU of a poll, session / mysqlclient (C)"
        try:
            peer = c_connection(server)
        except Unavailable as reason:
            return [*rows, missing(3, "b", title, LIMIT, reason)]
        theirs = driver_poll(peer)
        ratio, a, b = paired(lambda: cpu_ms(ours), lambda: cpu_ms(theirs), rounds)
        peer.close()
        detail = f"{a:.2f} ms against {b:.2f} ms, {rounds} rounds of {POLLS}"
        rows.append(Row(3, "b", title, ratio, LIMIT, detail=detail))
    return rows

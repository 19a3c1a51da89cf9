"""Budget 4: client CPU of SHOW GLOBAL STATUS over the lean reader, beside mysqlclient (C) building the same dict.

Counters move between the polls (200 writes a second from another process), as they do where anybody watches.
"""

from __future__ import annotations

import pymysql

from tests.bench.bench_03_poll import STATUS, c_connection, cpu_ms
from tests.bench.model import Row, paired
from tests.bench.support.private_servers import mariadb, work

POLLS = 100
LIMIT = 1.7


def run(rounds: int) -> list[Row]:
    """Measure both sides in turn."""
    with mariadb() as server, work(server), server.session() as session:
        peer = c_connection(server)

        def theirs() -> dict[str, str]:
            cursor = peer.cursor()
            cursor.execute(STATUS)
            return dict(cursor.fetchall())

        bare = pymysql.connect(host="127.0.0.1", port=server.port, user="bench", ssl_disabled=True)

        def usual() -> dict[str, str]:
            cursor = bare.cursor()
            cursor.execute(STATUS)
            return dict(cursor.fetchall())

        assert session.status().keys() == theirs().keys() == usual().keys()
        ratio, a, b = paired(lambda: cpu_ms(session.status, POLLS), lambda: cpu_ms(theirs, POLLS), rounds)
        pure, _, _ = paired(lambda: cpu_ms(session.status, POLLS), lambda: cpu_ms(usual, POLLS), rounds)
        peer.close()
        bare.close()
    detail = f"{a:.3f} ms against {b:.3f} ms, {rounds} rounds of {POLLS}; {pure:.2f} x PyMySQL's cursor"
    return [Row(4, "", "CPU of SHOW GLOBAL STATUS, lean reader / mysqlclient", ratio, LIMIT, detail=detail)]

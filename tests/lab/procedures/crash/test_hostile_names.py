"""A table whose name reads like an Xid is no fork, and what XA prepared with wsrep off, which has no Xid, is one.

Before, the name alone was 'forked', and 'ok HISTORY agree' was said of a log that ends with three XA transactions: they
were brought onto a Synced node by IST.
"""

from __future__ import annotations

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states.forks import LEDGER, forget, make_ledger
from tests.lab.procedures.states.obstacles import assert_refused
from tests.lab.procedures.whole import Whole

_ALONE = (
    "mariadbd --user=mysql --wsrep-on=OFF --wsrep-provider=none --skip-networking --socket=/run/mysqld/xa.sock "
    ">/dev/null 2>&1 & S=--socket=/run/mysqld/xa.sock; "
    "for i in $(seq 80); do mariadb-admin $S ping >/dev/null 2>&1 && break; sleep 0.5; done; "
    'mariadb $S -e "$(cat)"; mariadb-admin $S shutdown; wait'
)
_NAME = "sbtest.`b\tXid = 5`"


@pytest.mark.long
@pytest.mark.slow
def test_that_a_name_like_an_xid_is_no_fork_and_xa_with_wsrep_off_is_one(
    steer: Estate, console: Console, whole: Whole
) -> None:
    make_ledger(steer)
    try:
        steer.sql("s3", f"CREATE OR REPLACE TABLE {_NAME} (id INT) ENGINE=Aria; INSERT INTO {_NAME} VALUES (1)")
        steer.sql("s1", "FLUSH PRIVILEGES")
        steer.stop("s3")
        told = console("plan", "add-node", "--input", "joiner=s3")
        assert "BLOCK HISTORY" not in told.out, told

        xa = "XA START 'x{0}'; INSERT INTO {1} VALUES ({0}, 'xa'); XA END 'x{0}'; XA PREPARE 'x{0}'; XA COMMIT 'x{0}'"
        statements = ";".join(xa.format(one, LEDGER) for one in (6_000, 6_001, 6_002))
        steer.host("s3").sh(_ALONE, stdin=statements)
        check = assert_refused(console.run("add-node", "--json", joiner="s3"), "HISTORY")
        assert "3 transactions or more written with wsrep off" in check["evidence"], check
        assert database.pid(steer.spec, "s3") is None
    finally:
        steer.sql("s1", f"DROP TABLE IF EXISTS {_NAME}")
        if database.pid(steer.spec, "s3") is None:
            forget(steer, "s3")

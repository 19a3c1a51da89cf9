"""A filter that no option file names, on real servers: rows that a member acknowledged are in none of its binary logs.

systemd's MYSQLD_OPTS gives it to the server. The transactions have rows of another schema too, so no hole shows it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states import rejoining
from tests.lab.procedures.states.rejoining import BACKUP, LOGS
from tests.lab.procedures.whole import Whole

NAME, JOINER, SOURCE = "rejoin-from-binlogs", "s3", "s1"
INPUTS = {"joiner": JOINER, "backup": BACKUP, "binlogs": LOGS, "tables": "sbtest.mixed"}
DROP_IN = "/etc/systemd/system/mariadb.service.d/99-filter.conf"
ROWS = 40
NEAR = ("--override", "IST-REACHES=what a filter left out is tried", "--override", "RACE=the same")


def _restarted(estate: Estate, script: str) -> None:
    estate.host(SOURCE).sh(f"{script}; systemctl daemon-reload; systemctl restart mariadb", limit_s=120)
    estate.wait_synced(("s1", "s2", JOINER), size=3, limit_s=60)


def _both(estate: Estate, row: int) -> None:
    estate.sql("s2", f"BEGIN; INSERT INTO shop.orders VALUES ({row}); INSERT INTO sbtest.mixed VALUES ({row}); COMMIT")


@pytest.fixture
def filtered(steer: Estate, whole: Whole) -> Iterator[None]:
    """s3 down, its backup and the logs of s1 beside it; s1 left 40 acknowledged rows out of them."""
    _restarted(
        steer,
        f"mkdir -p {DROP_IN.rpartition('/')[0]}; "
        f"printf '[Service]\\nEnvironment=MYSQLD_OPTS=--binlog-ignore-db=shop\\n' > {DROP_IN}",
    )
    steer.sql("s1", "GRANT SELECT ON sbtest.* TO observer@'%'")
    steer.sql("s2", "CREATE DATABASE shop; CREATE TABLE shop.orders (id INT PRIMARY KEY) ENGINE=InnoDB; "
              "CREATE TABLE sbtest.mixed (id INT PRIMARY KEY) ENGINE=InnoDB")  # fmt: skip
    _both(steer, -1)  # the last change that the backup holds
    rejoining.back_up(steer, JOINER)
    for row in range(ROWS):
        _both(steer, row)
    rejoining.away(steer, JOINER)
    rejoining.carry_logs(steer, SOURCE, JOINER)
    steer.host(JOINER).sh("find /var/lib/mysql -mindepth 1 -delete")
    yield
    steer.host(SOURCE).sh(f"rm -f {DROP_IN}; systemctl daemon-reload; systemctl restart mariadb", limit_s=120)
    steer.sql(
        "s2",
        "REVOKE SELECT ON sbtest.* FROM observer@'%'; DROP DATABASE IF EXISTS shop; DROP TABLE IF EXISTS sbtest.mixed",
    )
    steer.host(JOINER).sh("rm -rf /srv/rejoin")
    del whole


@pytest.mark.long
def test_that_rows_written_through_a_member_with_a_filter_stand_on_it_alone_and_add_node_tells_of_it(
    steer: Estate, console: Console, filtered: None
) -> None:
    del filtered
    steer.sql(SOURCE, "INSERT INTO shop.orders VALUES (1000)")
    steer.sql(SOURCE, "BEGIN; INSERT INTO shop.orders VALUES (1001); INSERT INTO sbtest.mixed VALUES (1001); COMMIT")
    both = "SET SESSION wsrep_sync_wait = 1; SELECT COUNT(*) FROM {} WHERE id >= 1000"
    assert steer.sql(SOURCE, both.format("shop.orders")) == [["2"]]
    assert steer.sql("s2", both.format("shop.orders")) == [["0"]]
    assert steer.sql("s2", both.format("sbtest.mixed")) == [["1"]]
    ran = console("plan", "add-node", "--input", f"joiner={JOINER}", "--json")
    told = next(check for check in ran.document()["checks"] if check["code"] == "ROWS-LEFT-OUT")
    assert told["verdict"] == "warn"
    assert "s1: its server says binlog_ignore_db = shop" in told["evidence"], told


@pytest.mark.long
def test_that_a_filter_of_the_command_line_is_refused_while_it_is_set_and_for_the_time_after(
    steer: Estate, console: Console, filtered: None
) -> None:
    del filtered
    rows = "mariadb-binlog --no-defaults -vv --base64-output=DECODE-ROWS mysql-bin.[0-9]* | grep -c 'INSERT INTO `{}`'"
    host = steer.host(JOINER)
    assert host.sh(f"cd {LOGS}; {rows.format('sbtest`.`mixed')}").out.strip() == str(ROWS + 1)
    assert host.sh(f"cd {LOGS}; {rows.format('shop`.`orders')}", check=False).out.strip() == "0"
    assert steer.sql(SOURCE, "SELECT COUNT(*) FROM shop.orders") == [[str(ROWS + 1)]]

    # While it is set: by the server's own words, and never for the logs that it wrote.
    before = console.runs()
    ran = console.run(NAME, **INPUTS)
    assert ran.code == 1, ran
    assert console.runs() == before, ran
    said = " ".join(ran.out.split())
    assert "s1: its server says binlog_ignore_db = shop" in said, ran
    assert "s1: its server was started with binlog_ignore_db = shop" in said, ran
    ran = console.run(NAME, "--override", "FILTERS=it is tried", *NEAR, **INPUTS)
    assert ran.code == 3, ran
    assert "FILTERED (" in "".join(step.error for step in console.assert_ended(RunState.UNDONE, ran).steps), ran

    # Taken away with a restart: nobody names it any more, and of the files' own time nothing is known.
    steer.host(SOURCE).sh(f"rm {DROP_IN}; systemctl daemon-reload; systemctl restart mariadb", limit_s=120)
    steer.wait_synced(("s1", "s2"), size=2, limit_s=60)
    ran = console.run(NAME, *NEAR, **INPUTS)
    assert ran.code == 3, ran
    words = "".join(step.error for step in console.assert_ended(RunState.UNDONE, ran).steps)
    assert "FILTERS-THEN (" in words, words
    assert "s1, which wrote them, was started at" in words, words
    assert steer.host(JOINER).sh("ls -A /var/lib/mysql").out.split() == []

    # The same rows from the logs of a member that runs since before the backup: known, and no filter.
    rejoining.carry_logs(steer, "s2", JOINER)
    ran = console.run(NAME, *NEAR, **INPUTS)
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    assert steer.sql(JOINER, "SELECT COUNT(*) FROM shop.orders") == [[str(ROWS + 1)]]
    assert steer.sql(JOINER, "SELECT COUNT(*) FROM sbtest.mixed") == [[str(ROWS + 1)]]

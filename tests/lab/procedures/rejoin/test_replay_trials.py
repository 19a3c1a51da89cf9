"""Replays with accounts and binary logs unlike the tests' own, on real servers, every row counted.

root@localhost with a password alone (every host's root has it in its option file), compressed events, and one
transaction of hundreds of megabytes; then a log that is encrypted.
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

NAME, JOINER, SOURCE = "rejoin-from-binlogs", "s3", "s2"
INPUTS = {"joiner": JOINER, "backup": BACKUP, "binlogs": LOGS, "settle": "3 s", "tables": "sbtest.big"}
NEAR = ("--override", "IST-REACHES=the replay is tried", "--override", "RACE=the same")
HOSTS = ("s1", "s2", JOINER)
OWN = "IDENTIFIED VIA unix_socket"
WORD = "IDENTIFIED VIA mysql_native_password USING PASSWORD('lab')"
PIECES = 300


@pytest.fixture
def closed(steer: Estate, whole: Whole) -> Iterator[None]:
    """Neither root nor the server's account gets in without a password; s3 is down, and s2's logs lie on it."""
    del whole
    rows = steer.sql("s1", "SHOW CREATE USER root@localhost; SHOW CREATE USER mysql@localhost")
    before = [row[0].replace("CREATE USER", "ALTER USER", 1) for row in rows]
    for name in HOSTS:
        steer.host(name).sh("umask 077; printf '[client]\\nuser=root\\npassword=lab\\n' > /root/.my.cnf")
    steer.sql("s1", f"GRANT SELECT ON sbtest.* TO observer@'%'; ALTER USER root@localhost {OWN} OR "
              f"mysql_native_password USING PASSWORD('lab'); ALTER USER mysql@localhost {WORD}; "
              f"ALTER USER root@localhost {WORD}; SET GLOBAL max_allowed_packet = 1073741824")  # fmt: skip
    steer.sql(SOURCE, "SET GLOBAL log_bin_compress = ON; FLUSH BINARY LOGS")
    steer.sql(
        "s1", "CREATE TABLE sbtest.big (id INT PRIMARY KEY, data LONGBLOB); INSERT INTO sbtest.big VALUES (0, 'x')"
    )
    try:
        yield
    finally:
        steer.sql("s1", f"{before[1]}; {before[0]}; DROP TABLE sbtest.big; REVOKE SELECT ON sbtest.* FROM observer@'%'")
        steer.sql(SOURCE, "SET GLOBAL log_bin_compress = OFF")
        for name in HOSTS:
            steer.host(name).sh("rm -f /root/.my.cnf; rm -rf /srv/rejoin")


def _lost(steer: Estate) -> None:
    rejoining.back_up(steer, JOINER)
    steer.sql(
        "s1", f"INSERT INTO sbtest.big SELECT seq, REPEAT(MD5(seq), 32768) FROM sbtest.seq_1_to_{PIECES}", limit_s=500
    )
    rejoining.away(steer, JOINER)
    rejoining.bring_logs(steer, SOURCE, JOINER)
    steer.host(JOINER).sh("find /var/lib/mysql -mindepth 1 -delete")


@pytest.mark.long
def test_that_who_gets_in_is_known_before_anything_is_moved_and_a_huge_transaction_is_replayed(
    steer: Estate, console: Console, closed: None
) -> None:
    del closed
    _lost(steer)
    before = console.runs()
    ran = console.run(NAME, *NEAR, **INPUTS)
    assert ran.code == 1, ran
    assert "PRIVATE-LOGIN" in ran.out[ran.out.rindex("Refused: ") :], ran
    assert console.runs() == before, ran

    # The backup has those accounts: all the same the run ends soon, and takes itself back.
    ran = console.run(NAME, "--override", "PRIVATE-LOGIN=it is tried", *NEAR, **INPUTS)
    assert ran.code == 3, ran
    view = console.assert_ended(RunState.UNDONE, ran)
    assert next(step for step in view.steps if step.step.step_id == f"replay-{JOINER}").failed, ran
    assert "neither root nor mysql is let in" in ran.out, ran
    assert steer.host(JOINER).sh("ls -A /var/lib/mysql").out.split() == []

    # With the server's own account by unix_socket alone, root's still closed: a newer backup, and it ends well.
    # It is the account of state transfers too: a donor that is not let in ends its joiner.
    steer.sql("s1", f"ALTER USER mysql@localhost {OWN}; DELETE FROM sbtest.big WHERE id > 0")
    steer.start(JOINER)
    steer.wait_synced(HOSTS, size=3, limit_s=120)
    _lost(steer)
    ran = console.run(NAME, *NEAR, **INPUTS)
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    count = "SELECT COUNT(*), SUM(CRC32(data)) FROM sbtest.big"
    assert steer.sql(JOINER, count) == steer.sql("s1", count)
    assert steer.sql(JOINER, "SELECT COUNT(*) FROM sbtest.big") == [[str(PIECES + 1)]]

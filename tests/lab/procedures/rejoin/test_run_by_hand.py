"""A colleague runs the server by hand on restored data while its starts are forbidden, on real servers.

`mariadbd --wsrep-on=OFF` leaves InnoDB's Galera position and grastate.dat as they are: nothing but what the run kept of
the server's files tells of it. Its rows would be on this node alone.
"""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states import backups
from tests.lab.procedures.whole import Whole

NAME, JOINER = "rejoin-from-incrementals", "s3"
HOW: dict[str, object] = {"joiner": JOINER, "memory": "128 MiB", "settle": "3 s"}
LISTING = "cd /var/lib/mysql; find . -type f -printf '%P %s %u %m %T@\\n' | sort"
BY_HAND = """cd /; s=/var/lib/mysql/by-hand.sock
(mariadbd --user=mysql --wsrep-on=OFF --wsrep-provider=none --skip-networking --socket=$s >/tmp/by-hand.log 2>&1 &)
for n in $(seq 300); do mariadb -S $s -e 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
mariadb -S $s -e "INSERT INTO sbtest.restored (text) VALUES ('by hand')" && mariadb-admin -S $s shutdown
for n in $(seq 300); do pgrep -x mariadbd >/dev/null || break; sleep 0.1; done
"""


@pytest.mark.long
@pytest.mark.parametrize("behind", ["recover", "tables-open", "name-donor"])
def test_that_a_server_that_was_run_by_hand_in_the_hold_is_seen_by_the_resumed_run_and_its_rows_never_serve(
    steer: Estate, console: Console, whole: Whole, chain: None, behind: str
) -> None:
    del chain
    host = steer.host(JOINER)
    old = host.sh(LISTING).out
    killed = console.killed_run(f"{behind}-{JOINER}=done", NAME, **HOW)
    assert killed.code == KILLED, killed
    host.sh(BY_HAND, limit_s=90)
    resumed = console("resume", console.runs()[0], "--yes")
    assert resumed.code == 4, resumed
    words = " ".join(resumed.out.split())
    assert f"a server ran on {JOINER} since (" in words, resumed
    assert "what it wrote into data that were already verified is not known" in words, resumed
    assert console.view().state is not RunState.UNDONE, "a person's to take back"
    assert not host.sh("pgrep -x mariadbd", check=False).ok
    undone = console("undo", console.runs()[0], "--yes")
    console.assert_ended(RunState.UNDONE, undone)
    assert host.sh(LISTING).out == old
    rows = f"SELECT COUNT(*) FROM {backups.TABLE} WHERE text = 'by hand'"
    assert [steer.sql(name, rows) for name in ("s1", "s2")] == [[["0"]]] * 2
    whole.assert_files_as_before()

"""What a run leaves where it refuses in its middle is no dead end: a full disk harms nothing. Tried on real servers."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console, Ran
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states.forks import LEDGER, kill_all, make_ledger
from tests.lab.procedures.whole import Whole, members

DATA = "/var/lib/mysql"
_FILES = f"sha256sum {DATA}/ibdata1 {DATA}/ib_logfile0"


def _ids(estate: Estate, host: str) -> frozenset[int]:
    return frozenset(int(row[0]) for row in estate.sql(host, f"SELECT id FROM {LEDGER}"))


def _said(ran: Ran) -> str:
    return " ".join(ran.out.split())


@pytest.mark.long
@pytest.mark.slow
def test_that_a_recovery_on_a_full_disk_leaves_innodb_as_it_was_and_with_room_again_the_cluster_comes_back(
    steer: Estate, console: Console, whole: Whole
) -> None:
    rows = make_ledger(steer)
    kill_all(steer)
    before = steer.host("s3").sh(_FILES).out
    steer.fill("s3")
    try:
        refused = console.run("bootstrap-after-crash", *CONFIRM)
        assert refused.code in {1, 3}, refused
        assert "Free disk space" in _said(refused), refused
        # Whoever accepts it all the same: the recovery itself wants the room before it touches anything.
        anyway = console.run("bootstrap-after-crash", *CONFIRM, "--override", "CRASH-CAUSE=tried", itself="no")
        assert anyway.code in {1, 3}, anyway
        assert steer.host("s3").sh(_FILES).out == before
    finally:
        steer.unfill("s3")
    ran = console.run("bootstrap-after-crash", *CONFIRM)
    console.assert_ended(RunState.DONE, ran)
    for name in members(steer):
        assert _ids(steer, name) == rows, name
    whole.assert_as_before()

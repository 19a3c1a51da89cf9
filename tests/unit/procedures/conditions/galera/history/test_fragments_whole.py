"""A transaction of streaming replication that was open where a replay ended: its rows are missing, a log says so."""

from __future__ import annotations

from services.clock import ManualClock
from services.connections.ports import Rows
from services.procedures.conditions.galera.history.fragments_whole import FragmentsWhole
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Past
from tests.unit.procedures.scripted_sessions import STARTING, UNIT, Attempt, ScriptedHosts, out

BEGAN = 1_795_265_449.0
PASSED_OVER = (
    "1795265452.1 n1 mariadbd[9]: 2026-11-26  6:21:40 2 [Warning] WSREP: Could not find applier context for "
    "a08901f5-e961-11f1-80fd-9e307906e159: 20, 9"
)  # seen on two servers 10.11.18: Synced, and the rows of that transaction missing
IST = "1795265451.0 n1 mariadbd[9]: 2026-11-26  6:21:38 0 [Note] WSREP: Receiving IST: 2 writesets, seqnos 8-9"


def _look(*lines: str, began: float | None = BEGAN) -> Answer:
    hosts = ScriptedHosts("n1")
    session = hosts.sessions["n1"]
    session.rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("log_error", ""), ("datadir", "/var/lib/mysql")))
    session.programs["date"] = out(str(BEGAN + 60.0))
    session.programs["timeout"] = out("\n".join(lines))
    past = Past({}, {"start-n1": began} if began is not None else {})
    return Attempt(hosts, ManualClock(BEGAN + 60.0)).look(FragmentsWhole("n1", UNIT, "start-n1"), past)


def test_that_a_transaction_that_came_without_its_beginning_is_told_and_never_waited_away() -> None:
    found = _look(STARTING, IST, PASSED_OVER)
    assert (found.holds, found.final) == (False, True)
    assert "its rows are missing" in found.evidence


def test_that_a_log_that_tells_of_none_holds_and_one_that_does_not_reach_back_is_not_known() -> None:
    assert _look(STARTING, IST).holds is True
    assert _look(IST).holds is None
    assert _look(STARTING, IST, began=None).holds is None


def test_that_what_an_earlier_start_passed_over_is_none_of_this_ones() -> None:
    assert _look(PASSED_OVER.replace("1795265452", "1795265441"), STARTING, IST).holds is True

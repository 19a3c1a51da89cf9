"""IstReaches reads each donor twice: what a failed first reading leaves."""

from __future__ import annotations

from services.clock import ManualClock
from services.connections.ports import Rows
from services.errors import Unreachable
from services.procedures.conditions.galera.transfer.ist_reaches import IstReaches
from services.procedures.plan.condition import Answer
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, Attempt, ScriptedHosts, status

DONORS = ("n1", "n2")
CACHED = status(local_cached_downto="100", last_committed="200", replicated_bytes="0", received_bytes="1000")


def _looked(*silent_at_first: str, silent_then: tuple[str, ...] = ()) -> Answer:
    """Look at two Synced donors, some of which do not answer the first reading, or the second."""
    hosts, clock = ScriptedHosts("n1", "n2", "n3"), ManualClock()
    for name in DONORS:
        session = hosts.sessions[name]
        session.state = Unreachable("No.", host=name) if name in silent_at_first else CACHED
        option = ("wsrep_provider_options", "gcache.size = 128M;")
        session.rows["SHOW GLOBAL VARIABLES"] = Rows(("Variable_name", "Value"), (option,))
    sleep = clock.sleep

    def answer(seconds: float, *more: object) -> bool | None:
        for name in DONORS:
            hosts.sessions[name].state = Unreachable("No.", host=name) if name in silent_then else CACHED
        return sleep(seconds)

    clock.sleep = answer  # type: ignore[method-assign,assignment]
    return Attempt(hosts, clock).look(IstReaches("n3", DONORS, UUID, 150), NOTHING)


def test_that_donors_whose_first_reading_failed_show_no_reach_without_a_rate() -> None:
    answer = _looked(*DONORS)
    assert answer.holds is None
    unknown = "caches from 100 (newest 200), for an unknown time"
    assert answer.evidence == f"the data of n3 are at 150; n1 {unknown}, n2 {unknown}"


def test_that_one_donor_which_was_read_twice_is_enough() -> None:
    assert _looked("n1").holds is True
    assert _looked("n2").holds is True


def test_that_a_first_reading_alone_shows_no_reach() -> None:
    answer = _looked(silent_then=DONORS)
    assert (answer.holds, "no answer from n1" in answer.evidence) == (None, True)
    assert _looked("n1", silent_then=("n2",)).holds is None

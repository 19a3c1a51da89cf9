"""The race of a replay with the donors' caches, on scripted hosts."""

from __future__ import annotations

from services.clock import ManualClock
from services.errors import Unreachable
from services.procedures.catalogue.galera.rejoin_from_binlogs.steps import progress_path
from services.procedures.conditions.galera.transfer.replay_race import ReplayRace
from services.procedures.plan.condition import Answer
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out, status

RACE = ReplayRace("n3", ("n1", "n2"), 5_000, progress_path(5_000))


def _hosts(**caches: str) -> ScriptedHosts:
    hosts = ScriptedHosts("n1", "n2", "n3")
    hosts.sessions["n3"].programs["tail"] = out("1795265450 100 1100 10 5000\n")  # 100 s to go, and the start
    for name in ("n1", "n2"):
        hosts.sessions[name].state = status(**{"local_cached_downto": "4000", "last_committed": "6000"} | caches)
    return hosts


def _after(seconds: float, hosts: ScriptedHosts, **then: str) -> Answer:
    clock = ManualClock()
    attempt = Attempt(hosts, clock)
    attempt.look(RACE, NOTHING)
    clock.sleep(seconds)
    for name in ("n1", "n2"):
        hosts.sessions[name].state = status(**{"last_committed": "6000"} | then)
    return attempt.look(RACE, NOTHING)


def test_that_a_cache_that_stands_still_is_no_race_and_one_that_purges_faster_is_lost() -> None:
    assert _after(10.0, _hosts(), local_cached_downto="4000").holds is True
    assert _after(10.0, _hosts(), local_cached_downto="4010").holds is True
    lost = _after(10.0, _hosts(), local_cached_downto="4100")
    assert (lost.holds, "for about 89 s more" in lost.evidence) == (False, True)


def test_that_the_gap_of_the_donor_selection_ends_the_race_before_the_cache_does() -> None:
    gone = _after(10.0, _hosts(), local_cached_downto="4990", last_committed="6400")
    assert (gone.holds, "the required write sets are purged" in gone.evidence) == (False, True)


def test_that_a_donor_that_says_nothing_or_tells_no_cache_leaves_the_race_not_known() -> None:
    silent = _hosts(local_cached_downto="5002")
    silent.sessions["n1"].state = Unreachable("No.")
    assert Attempt(silent, ManualClock()).look(RACE, NOTHING).holds is None
    untold = _hosts(local_cached_downto="18446744073709551615")
    answer = Attempt(untold, ManualClock()).look(RACE, NOTHING)
    assert (answer.holds, "reports no cached range" in answer.evidence) == (None, True)

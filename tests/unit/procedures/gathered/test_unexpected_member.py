"""A member that the plan does not count is named, and its past is not known: on scripted sessions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.errors import Unreachable
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.plan.condition import Answer
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.looks import UNEXPECTED
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, Attempt, ScriptedHosts, status

WHOLE = ClusterWhole(("n1", "n2"), 2, UUID)
TWO, THREE = "10.0.0.1:3306,10.0.0.2:3306", "10.0.0.1:3306,10.0.0.2:3306,10.0.0.3:0"
FACTS = Facts(0.0, UUID, "", hosts=tuple(HostFacts(f"n{i}", address=f"10.0.0.{i}") for i in (1, 2, 3)))


def looked(listed: str, size: int, condition: ClusterWhole = WHOLE, facts: Facts = FACTS, seconds: int = 12) -> Answer:
    """Return the last of the looks of so many seconds; the members say this of their view."""
    hosts, clock = ScriptedHosts("n1", "n2", "n3"), ManualClock()
    for name in ("n1", "n2"):
        hosts.sessions[name].state = status(cluster_size=str(size), incoming_addresses=listed)
    hosts.sessions["n3"].state = status(cluster_size=str(size)) if size > condition.size else Unreachable("No route.")
    attempt = Attempt(hosts, clock)
    attempt.real.facts = facts
    for _ in range(seconds):
        attempt.look(condition, NOTHING)
        clock.sleep(1.0)
    return attempt.look(condition, NOTHING)


def test_that_a_member_that_was_called_off_is_named_and_its_past_is_not_known() -> None:
    assert looked(TWO, 2).holds is True
    answer = looked(THREE, 3)
    assert (answer.holds, answer.final, answer.doubt) == (False, True, True)
    assert "n3 is a member too, which this plan does not count" in answer.evidence
    assert "whether its past is that of n1, n2 is not known" in answer.evidence
    assert "add-node" in answer.evidence
    assert answer.kept == ((UNEXPECTED, answer.evidence),)


def test_that_a_member_which_is_there_for_a_moment_ends_no_run() -> None:
    answer = looked(THREE, 3, seconds=0)
    assert (answer.holds, answer.final, answer.kept) == (False, False, ())


@pytest.mark.parametrize("listed", ["AUTO,AUTO,AUTO", ""])
def test_that_a_member_without_an_address_is_found_by_its_own_answer(listed: str) -> None:
    assert "n3 is a member too" in looked(listed, 3).evidence


def test_that_a_server_which_no_host_is_known_by_is_told_by_its_address() -> None:
    known = replace(FACTS, hosts=FACTS.hosts[:2])
    assert "the server at 10.0.0.9 is a member too" in looked(THREE.replace("0.3:0", "0.9:0"), 3, facts=known).evidence


def test_that_a_member_in_the_place_of_an_arbitrator_is_no_whole_cluster() -> None:
    condition = ClusterWhole(("n1", "n2"), 3, UUID)
    assert looked(f"{TWO},", 3, condition).holds is True
    answer = looked(THREE, 3, condition)
    assert (answer.holds, "n3 is a member too" in answer.evidence) == (False, True)


def test_that_hosts_known_by_other_addresses_are_no_strangers() -> None:
    elsewhere = replace(FACTS, hosts=tuple(replace(h, address=f"db{h.host}") for h in FACTS.hosts))
    assert looked(TWO, 2, facts=elsewhere).holds is True
    answer = looked(THREE, 3, facts=elsewhere)
    assert "n3 is a member too" in answer.evidence
    nobody = looked(THREE, 3, facts=replace(elsewhere, hosts=()))
    assert (nobody.holds, nobody.final, "10.0.0.1" in nobody.evidence) == (False, False, False)


def test_that_somebody_whom_nothing_names_is_counted_and_waited_for() -> None:
    answer = looked(f"{TWO},", 3, facts=replace(FACTS, hosts=FACTS.hosts[:2]))
    assert (answer.holds, answer.final) == (False, False)
    assert answer.evidence == "the view has 1 more than this plan counts, and nobody known names it: an arbitrator?"

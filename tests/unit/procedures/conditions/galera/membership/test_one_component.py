"""Joined is joined with the others: a Primary Component of its own beside theirs is told, and proves no undo."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.errors import Unreachable
from services.procedures.conditions.galera.data.nothing_written import NothingWritten
from services.procedures.conditions.galera.membership.apart import NotApart
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import TWO_PRIMARIES
from tests.unit.procedures.scripted_sessions import NOTHING, UNIT, UUID, Attempt, ScriptedHosts, status

SILENT = Unreachable("No route to host.")
JOINED = Joined("n3", UUID, UNIT, ("n1", "n2"))
APART = NotApart("n3", ("n1", "n2"), UUID)
OWN = status(cluster_conf_id="31", cluster_size="1", incoming_addresses="n3:3306")


@pytest.fixture
def hosts() -> ScriptedHosts:
    """n1, n2 and n3 serve in one view."""
    made = ScriptedHosts("n1", "n2", "n3")
    for session in made.sessions.values():
        session.state = status(cluster_size="3", incoming_addresses="n1:3306,n2:3306,n3:3306")
    return made


def last(hosts: ScriptedHosts, condition: Condition, looks: int = 12) -> Answer:
    clock = ManualClock()
    attempt = Attempt(hosts, clock)
    for _ in range(looks - 1):
        attempt.look(condition, NOTHING)
        clock.sleep(1.0)
    return attempt.look(condition, NOTHING)


@pytest.mark.parametrize("condition", [JOINED, APART])
def test_that_a_member_of_one_view_with_the_others_has_joined(hosts: ScriptedHosts, condition: Condition) -> None:
    answer = last(hosts, condition, 1)
    assert (answer.holds, "in one view with n1, n2" in answer.evidence) == (True, True)


@pytest.mark.parametrize("condition", [JOINED, APART])
def test_that_a_primary_component_of_its_own_is_told_as_two_and_kept(
    hosts: ScriptedHosts, condition: Condition
) -> None:
    for name in ("n1", "n2"):
        hosts.sessions[name].state = status(cluster_size="2", incoming_addresses="n1:3306,n2:3306")
    hosts.sessions["n3"].state = OWN
    answer = last(hosts, condition, 1)
    assert (answer.holds, answer.final) == (False, True)
    assert "n3 is a Primary Component of its own (one of 1), n1, n2 are another: two Primary" in answer.evidence
    assert "bring it back with add-node" in answer.evidence
    assert answer.kept == ((TWO_PRIMARIES, answer.evidence),)


@pytest.mark.parametrize("condition", [JOINED, APART])
def test_that_a_view_which_changes_just_now_is_looked_at_again(hosts: ScriptedHosts, condition: Condition) -> None:
    hosts.sessions["n3"].state = status(
        cluster_conf_id="31", cluster_size="4", incoming_addresses="n1:3306,n2:3306,n3:3306,n4:3306"
    )
    assert last(hosts, condition, 1).holds is None
    answer = last(hosts, condition)
    assert (answer.holds, answer.final) == (False, True)


def test_that_a_view_which_nobody_else_is_seen_in_is_not_known_to_be_a_joining(hosts: ScriptedHosts) -> None:
    hosts.sessions["n3"].state = OWN
    hosts.sessions["n1"].state = hosts.sessions["n2"].state = SILENT
    assert last(hosts, JOINED).holds is None


def test_that_a_first_node_and_a_cluster_of_one_need_nobody_beside_them(hosts: ScriptedHosts) -> None:
    hosts.sessions["n3"].state = OWN
    assert last(hosts, Joined("n3", UUID, UNIT), 1).holds is True
    assert last(hosts, NotApart("n3", (), UUID), 1).holds is True


def test_that_a_server_that_serves_nobody_is_no_side(hosts: ScriptedHosts) -> None:
    for seen in (SILENT, status(cluster_status="non-Primary")):
        hosts.sessions["n3"].state = seen
        assert last(hosts, APART, 1).holds is True


@pytest.mark.parametrize(
    ("last_committed", "views", "holds"), [("23", "1", True), ("25", "3", True), ("31", "3", False)]
)
def test_that_seqnos_since_a_bootstrap_are_rows_unless_the_component_changed(
    last_committed: str, views: str, holds: bool
) -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].state = status(last_committed=last_committed, cluster_conf_id=views)
    answer = last(hosts, NothingWritten("n1", 22), 1)
    assert answer.holds is holds
    assert holds or "6 write sets were committed on n1 since it was bootstrapped at seqno 22" in answer.evidence
    hosts.sessions["n1"].state = SILENT
    assert last(hosts, NothingWritten("n1", 22), 1).holds is None

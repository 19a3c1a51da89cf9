"""Conditions about a whole cluster on scripted sessions: no answer, no server and not readable are three things."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.clock import ManualClock
from services.errors import AuthFailed, Unreachable
from services.procedures.conditions.galera.membership.no_primary import NoPrimary
from services.procedures.conditions.galera.membership.still_primary import StillPrimary
from services.procedures.conditions.galera.membership.whole import ClusterWhole, FormedAgain
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, Attempt, ScriptedHosts, out, status


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        (lambda s: s, True),
        (lambda s: s | {"wsrep_cluster_conf_id": "8"}, False),
        (lambda s: s | {"wsrep_cluster_status": "non-Primary"}, False),
        (lambda s: s | {"wsrep_desync_count": "1"}, False),
        (lambda s: {k: v for k, v in s.items() if k != "wsrep_desync_count"}, False),
        (lambda s: s | {"wsrep_connected": "OFF"}, False),
        (lambda s: s | {"wsrep_cluster_size": "3"}, False),
        (lambda s: s | {"wsrep_ready": "OFF"}, False),
    ],
)
def test_that_one_odd_node_makes_a_cluster_not_whole(
    prover: Attempt, hosts: ScriptedHosts, change: Callable[[dict[str, str]], dict[str, str]], holds: bool
) -> None:
    hosts.sessions["n2"].state = change(status())
    assert prover.look(ClusterWhole(("n1", "n2"), 2, UUID), NOTHING).holds is holds


def test_that_silence_of_one_node_is_told_from_its_loss(prover: Attempt, hosts: ScriptedHosts) -> None:
    hosts.sessions["n2"].state = Unreachable("No answer.", host="n2")
    condition = StillPrimary(("n1", "n2"), 2, UUID)
    assert prover.look(condition, NOTHING).holds is None  # the other still sees both
    hosts.sessions["n2"].programs["ps"] = out(code=1)
    gone = prover.look(condition, NOTHING)
    assert (gone.holds, "n2: no server runs" in gone.evidence) == (False, True)
    hosts.sessions["n2"].programs.clear()
    hosts.sessions["n1"].state = status(cluster_size="1")
    assert prover.look(condition, NOTHING).holds is False
    assert prover.look(StillPrimary(("n1", "n2"), 1, UUID), NOTHING).holds is True


def test_that_members_of_which_none_is_primary_are_told_as_a_cluster_without_writes(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    condition = StillPrimary(("n1", "n2"), 2, UUID)
    hosts.sessions["n1"].state = hosts.sessions["n2"].state = status(cluster_status="non-Primary")
    assert "no node that answers is Primary: the cluster accepts no writes" in prover.look(condition, NOTHING).evidence
    hosts.sessions["n2"].state = status()
    assert "no node that answers" not in prover.look(condition, NOTHING).evidence


def test_that_members_that_were_asked_while_a_view_changed_are_asked_again(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    """A node joined between the two answers: a rolling restart was paused by it, 'their views differ'."""
    condition = StillPrimary(("n1", "n2"), 2, UUID)
    one, other = hosts.sessions["n1"], hosts.sessions["n2"]
    one.state, other.state = status(cluster_conf_id="7"), status(cluster_conf_id="8")
    asked: list[str] = []
    ask = one.status

    def late(*, limit_s: float = 5.0) -> dict[str, str]:
        asked.append("n1")
        if len(asked) == 3:
            one.state = status(cluster_conf_id="8")
        return ask(limit_s=limit_s)

    one.status = late  # type: ignore[method-assign]
    assert prover.look(condition, NOTHING).holds is True
    assert len(asked) == 3
    one.state = status(cluster_conf_id="7")
    stays = prover.look(condition, NOTHING)
    assert (stays.holds, stays.evidence) == (False, "their views differ")


def test_that_an_unreachable_host_is_never_counted_as_no_primary(prover: Attempt, hosts: ScriptedHosts) -> None:
    one, other = hosts.sessions["n1"], hosts.sessions["n2"]
    one.state = other.state = Unreachable("Refused.")
    one.programs["ps"] = out(code=1)
    other.programs["ps"] = Unreachable("No route to host.")
    assert prover.look(NoPrimary(("n1",)), NOTHING).holds is True
    assert prover.look(NoPrimary(("n1", "n2")), NOTHING).holds is None
    assert prover.look(NoPrimary(("n1", "n2"), accounted=("n2",)), NOTHING).holds is True
    one.programs["ps"] = out("5 Sl mariadbd\n")  # it runs and does not answer: nobody knows what it serves
    assert prover.look(NoPrimary(("n1",)), NOTHING).holds is None
    one.programs["systemctl"] = out("ActiveState=active\n")
    assert prover.look(NoPrimary(("n1",)), NOTHING).holds is None


def test_that_a_server_that_hangs_on_its_way_up_is_no_primary(prover: Attempt, hosts: ScriptedHosts) -> None:
    session = hosts.sessions["n1"]
    session.state = Unreachable("Refused.")
    session.programs = {"ps": out("5 Sl mariadbd\n"), "systemctl": out("ActiveState=activating\n")}
    answer = prover.look(NoPrimary(("n1",)), NOTHING)
    assert (answer.holds, "starting" in answer.evidence) == (True, True)


def test_that_a_wait_for_nodes_to_form_again_holds_when_they_did_or_had_their_time(
    hosts: ScriptedHosts, clock: ManualClock, prover: Attempt
) -> None:
    whole = {
        "wsrep_cluster_status": "Primary", "wsrep_local_state": "4", "wsrep_ready": "ON", "wsrep_cluster_size": "2",
        "wsrep_cluster_state_uuid": UUID, "wsrep_desync_count": "0",
    }  # fmt: skip
    condition = FormedAgain(("n1", "n2"), UUID, 300.0)
    hosts.sessions["n1"].state = hosts.sessions["n2"].state = Unreachable("Refused.")
    assert prover.look(condition, NOTHING).holds is False
    clock.advance(299.0)
    assert prover.look(condition, NOTHING).holds is False
    hosts.sessions["n1"].state = hosts.sessions["n2"].state = whole
    assert prover.look(condition, NOTHING).holds is True
    hosts.sessions["n2"].state = Unreachable("Refused.")
    assert prover.look(condition, NOTHING).holds is False
    clock.advance(300.0)
    late = prover.look(condition, NOTHING)
    assert (late.holds, late.evidence) == (True, "they did not form it: no answer from n2 (Refused)")


def test_that_no_answer_no_server_and_a_refused_login_are_told_apart(prover: Attempt, hosts: ScriptedHosts) -> None:
    other, whole = hosts.sessions["n2"], ClusterWhole(("n1", "n2"), 2, UUID)
    other.state = Unreachable("No route to host.", host="n2")
    other.programs = {"ps": Unreachable("No route to host.", host="n2")}
    dark = prover.look(whole, NOTHING)
    assert (dark.holds, dark.evidence) == (None, "no answer from n2 (No route to host)")
    other.programs = {"ps": out("5 Sl mariadbd\n")}  # it hangs
    assert prover.look(whole, NOTHING) == dark
    other.programs = {"ps": out(code=1)}
    dead = prover.look(whole, NOTHING)
    assert (dead.holds, dead.evidence) == (False, "n2: no server runs")
    other.programs = {"ps": out("5 Sl mariadbd\n"), "systemctl": out("ActiveState=activating\n")}
    assert prover.look(whole, NOTHING).evidence == "n2: its server is starting and serves no clients yet"
    other.programs = {"ps": out("5 Sl mariadbd\n")}
    other.state = AuthFailed("The server refused the login of observer.", host="n2")
    shut = prover.look(whole, NOTHING)
    assert (shut.holds, shut.evidence) == (None, "n2 could not be read (The server refused the login of observer)")


def test_that_a_fault_that_was_read_counts_beside_a_member_that_is_silent(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    hosts.sessions["n2"].state = Unreachable("No route to host.", host="n2")
    hosts.sessions["n1"].state = status(cluster_size="1")
    found = prover.look(ClusterWhole(("n1", "n2"), 2, UUID), NOTHING)
    assert (found.holds, found.evidence) == (False, "n1 sees 1 nodes of 2; no answer from n2 (No route to host)")

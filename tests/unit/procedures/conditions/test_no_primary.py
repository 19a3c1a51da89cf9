"""Nobody anybody ever named is Primary: called-off hosts and addresses without a login are asked too."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.errors import AuthFailed, SecretMissing, Unreachable, UserError
from services.procedures.conditions.galera.no_primary import NoPrimary
from services.procedures.plan.condition import Answer
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.scripted_sessions import NOTHING, ScriptedHosts, out, status

SILENT = Unreachable("No route to host.")


@pytest.fixture
def hosts() -> ScriptedHosts:
    """n1 answers and runs no server; n2 is silent."""
    made = ScriptedHosts("n1", "n2")
    for name, ps in (("n1", out(code=1)), ("n2", SILENT)):
        made.sessions[name].state = SILENT
        made.sessions[name].programs["ps"] = ps
    return made


def look(hosts: ScriptedHosts, *addresses: str, off: bool = True) -> Answer:
    """Ask of n1 and n2, the second called off."""
    names = ("n1",) if off else ("n1", "n2")
    return RealProver(hosts, ManualClock()).look(NoPrimary(names, ("n2",) if off else (), addresses), NOTHING)


def test_that_silence_is_what_is_expected_of_a_host_that_was_called_off_only(hosts: ScriptedHosts) -> None:
    assert look(hosts).holds is True
    assert "no answer from n2, as you said" in look(hosts).evidence
    assert look(hosts, off=False).holds is None


def test_that_a_host_that_was_called_off_and_is_primary_ends_it(hosts: ScriptedHosts) -> None:
    hosts.sessions["n2"].state = status()
    answer = look(hosts)
    assert (answer.holds, answer.final) == (False, True)
    assert "n2: member of a Primary Component" in answer.evidence


@pytest.mark.parametrize(
    ("state", "ps"),
    [
        (status(cluster_status="non-Primary"), SILENT),
        (SILENT, out(code=1)),
        (SILENT, out("7 Sl mariadbd\n")),
        (AuthFailed("Access denied."), AuthFailed("Permission denied.")),
    ],
)
def test_that_any_answer_of_a_host_that_was_called_off_means_to_plan_anew(
    hosts: ScriptedHosts, state: dict[str, str] | UserError, ps: Output | UserError
) -> None:
    hosts.sessions["n2"].state, hosts.sessions["n2"].programs["ps"] = state, ps
    answer = look(hosts)
    assert (answer.holds, "n2" in answer.evidence, "make a new plan" in answer.evidence) == (False, True, True)


def test_that_our_own_missing_password_is_no_answer_of_the_host(hosts: ScriptedHosts) -> None:
    hosts.sessions["n2"].state = hosts.sessions["n2"].programs["ps"] = SecretMissing("No password.")
    assert look(hosts).holds is True


@pytest.mark.parametrize(
    ("tried", "holds"),
    [
        (out(), False),
        (out(code=1, errors="bash: connect: Connection refused"), True),
        (out(code=124), True),
        (out(code=126, errors="bash: cannot execute"), None),
    ],
)
def test_that_a_listener_at_an_address_nobody_can_log_in_to_ends_it_and_silence_does_not(
    hosts: ScriptedHosts, tried: Output, holds: bool | None
) -> None:
    hosts.sessions["n1"].programs["timeout"] = tried
    answer = look(hosts, "10.0.0.9")
    assert answer.holds is holds
    assert "10.0.0.9" in answer.evidence

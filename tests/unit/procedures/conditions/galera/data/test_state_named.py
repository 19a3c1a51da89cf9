"""What a start that is taken back left of a node's state file: a transfer that broke off takes its state out."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.procedures.conditions.galera.data.state_named import StateNamed
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, Attempt, ScriptedHosts, out

ZERO = "00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize(("uuid", "holds"), [(UUID, True), (ZERO, False)])
def test_that_a_state_file_without_a_state_leaves_the_data_not_known(uuid: str, *, holds: bool) -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs["cat"] = out(f"# GALERA saved state\nversion: 2.1\nuuid:    {uuid}\nseqno:   -1\n")
    answer = Attempt(hosts, ManualClock()).look(StateNamed("n1", "/var/lib/mysql"), NOTHING)
    assert (answer.holds, answer.final) == (holds, not holds)
    words = "of n1 contains no state now: whether an interrupted transfer erased its data is not known"
    assert holds or answer.evidence.endswith(words)


def test_that_a_state_file_that_is_gone_names_no_state() -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs["cat"] = out(code=1)
    assert Attempt(hosts, ManualClock()).look(StateNamed("n1", "/var/lib/mysql"), NOTHING).holds is False

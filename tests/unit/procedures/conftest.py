"""What several files of tests of conditions share: two members on scripted sessions, and a prover of one attempt."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from tests.unit.procedures.scripted_sessions import Attempt, ScriptedHosts, two_members


@pytest.fixture
def hosts() -> ScriptedHosts:
    return two_members()


@pytest.fixture
def prover(hosts: ScriptedHosts, clock: ManualClock) -> Attempt:
    return Attempt(hosts, clock)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()

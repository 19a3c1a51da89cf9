"""What several files of tests of conditions share: two members on scripted sessions, and a prover of one attempt."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.clock import ManualClock
from tests.unit.procedures import needs_guard, ways_guard
from tests.unit.procedures.scripted_sessions import Attempt, ScriptedHosts, two_members


@pytest.fixture(autouse=True, scope="session")
def _only_what_a_card_needs_is_looked_at() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        needs_guard.stand(patch)
        ways_guard.stand(patch)
        yield


@pytest.fixture
def hosts() -> ScriptedHosts:
    return two_members()


@pytest.fixture
def prover(hosts: ScriptedHosts, clock: ManualClock) -> Attempt:
    return Attempt(hosts, clock)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()

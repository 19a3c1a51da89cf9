"""The gate before a connection."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.gate import Gate
from services.connections.limits import Limits
from services.errors import AuthFailed, NothingListens, TimedOut, Unreachable


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def gate(clock: ManualClock) -> Gate:
    return Gate("The SSH connection", clock, Limits(backoff_first_s=1.0, backoff_most_s=30.0))


def test_that_a_fresh_gate_lets_through(gate: Gate) -> None:
    gate.check()


def test_that_a_shut_gate_quotes_the_last_reason_and_when_the_next_attempt_is_due(gate: Gate) -> None:
    gate.failed(TimedOut("No answer from SSH.", host="db1", try_=("Check the VPN.",)))
    with pytest.raises(Unreachable, match=r"down; next attempt in 1 s. Last reason: No answer from SSH.") as caught:
        gate.check()
    assert caught.value.host == "db1"
    assert caught.value.try_ == ("Check the VPN.",)


def test_that_a_shut_gate_keeps_what_kind_of_failure_it_was(gate: Gate) -> None:
    gate.failed(NothingListens("It refused.", host="db1"))
    with pytest.raises(NothingListens) as caught:
        gate.check()
    assert (caught.value.code, caught.value.bare) == ("connection-refused", "It refused.")
    gate.failed(TimedOut("Nothing came.", host="db1"))
    with pytest.raises(Unreachable) as late:
        gate.check()
    assert late.value.code == "timed-out"


def test_that_a_gate_behind_another_says_the_last_reason_once(gate: Gate, clock: ManualClock) -> None:
    gate.failed(TimedOut("No answer from SSH."))
    behind = Gate("The database connection", clock, Limits(backoff_first_s=1.0, backoff_most_s=30.0))
    with pytest.raises(Unreachable) as first:
        gate.check()
    behind.failed(first.value)
    with pytest.raises(Unreachable) as second:
        behind.check()
    assert str(second.value) == "The database connection is down; next attempt in 1 s. Last reason: No answer from SSH."


def test_that_it_opens_by_itself_when_the_wait_is_over(gate: Gate, clock: ManualClock) -> None:
    gate.failed(Unreachable("refused"))
    clock.advance(1.3)
    gate.check()


def test_that_waits_grow_to_the_limit_and_start_anew_after_a_success(gate: Gate, clock: ManualClock) -> None:
    waits = []
    for _ in range(8):
        gate.failed(Unreachable("refused"))
        before = clock.monotonic()
        while True:
            try:
                gate.check()
                break
            except Unreachable:
                clock.advance(0.1)
        waits.append(clock.monotonic() - before)
    assert waits[0] < 1.4
    assert 20.0 < waits[-1] < 36.5
    gate.opened()
    gate.failed(Unreachable("refused"))
    clock.advance(1.3)
    gate.check()


def test_that_what_only_a_person_can_mend_is_raised_as_it_is_and_waits_longest(gate: Gate, clock: ManualClock) -> None:
    gate.failed(AuthFailed("no"))
    clock.advance(29.0)
    with pytest.raises(AuthFailed, match="no"):
        gate.check()
    clock.advance(1.1)
    gate.check()


def test_that_a_person_may_skip_the_wait(gate: Gate) -> None:
    gate.failed(AuthFailed("no"))
    gate.try_now()
    gate.check()

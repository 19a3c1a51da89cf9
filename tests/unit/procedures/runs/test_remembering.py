"""What looks remember: time in which somebody looked, time that passes by itself, and nothing of another attempt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.clock import ManualClock
from services.procedures.plan.remembering import Memory, most_gap_s


class Sleeping(ManualClock):
    """A computer that sleeps: its wall clock goes on, its monotonic one stands."""

    def __init__(self) -> None:
        super().__init__()
        self.slept = 0.0

    def wall(self) -> float:
        """Return the wall time."""
        return super().wall() + self.slept


def test_that_a_spell_lasts_as_long_as_it_was_looked_at() -> None:
    clock, memory = ManualClock(), Memory()
    found = []
    for _ in range(4):
        found.append(memory.held_s("x", clock, 5))
        clock.advance(4)
    assert found == [0, 4, 8, 12]
    memory.broke("x")
    assert memory.held_s("x", clock, 5) == 0


def test_that_a_console_that_stood_still_begins_its_spell_anew() -> None:
    clock, memory = ManualClock(), Memory()
    memory.held_s("x", clock, 5)
    clock.advance(5.1)  # SIGSTOP: both clocks go on
    assert memory.held_s("x", clock, 5) == 0


def test_that_a_computer_that_slept_begins_its_spell_anew_though_its_monotonic_clock_stood() -> None:
    clock, memory = Sleeping(), Memory()
    memory.held_s("x", clock, 5)
    clock.advance(1)
    clock.slept = 3600.0
    assert memory.held_s("x", clock, 5) == 0


def test_that_a_wall_clock_that_is_stepped_back_ends_no_spell() -> None:
    clock, memory = Sleeping(), Memory()
    memory.held_s("x", clock, 5)
    clock.advance(1)
    clock.slept = -3600.0
    assert memory.held_s("x", clock, 5) == 1


def test_that_patience_passes_whether_anybody_looks_or_not() -> None:
    clock, memory = ManualClock(), Memory()
    assert memory.waited_s("x", clock) == 0
    clock.advance(100)
    assert memory.waited_s("x", clock) == 100
    assert Memory().waited_s("x", clock) == 0


@pytest.mark.parametrize(("for_s", "gap"), [(1, 3), (12, 3), (20, 5), (60, 10), (3600, 10)])
def test_that_looks_of_a_short_spell_are_near_each_other(for_s: float, gap: float) -> None:
    assert most_gap_s(for_s) == gap


@given(st.lists(st.floats(0.1, 20.0), min_size=1, max_size=30), st.floats(0.5, 60.0))
def test_that_no_spell_holds_time_in_which_nobody_looked(steps: list[float], gap: float) -> None:
    clock, memory = ManualClock(), Memory()
    memory.held_s("x", clock, gap)
    looked = 0.0
    for step in steps:
        clock.advance(step)
        looked = looked + step if step <= gap else 0.0
        assert memory.held_s("x", clock, gap) <= looked + 1e-6

"""What watching costs, as the process's own books say."""

from __future__ import annotations

import time

from services.clock import ManualClock
from services.sampling.cost import PollCost, resident_bytes


def test_that_polls_are_counted_and_their_times_ranked() -> None:
    clock = ManualClock()
    cost = PollCost(clock)
    for milliseconds in range(1, 101):
        cost.polled(float(milliseconds))
    cost.polled(5.0, missed=3)
    clock.advance(12.0)
    read = cost.read()
    assert (read.polls, read.missed_polls) == (101, 3)
    assert read.poll_ms_p50 == 50.0
    assert 94.0 <= read.poll_ms_p95 <= 96.0
    assert read.uptime_s == 12.0


def test_that_a_poll_that_nobody_answered_is_counted_and_takes_no_part_in_the_times() -> None:
    cost = PollCost(ManualClock())
    for _ in range(9):
        cost.polled(0.1, answered=False)
    cost.polled(12.0)
    read = cost.read()
    assert (read.polls, read.poll_ms_p50, read.poll_ms_p95) == (10, 12.0, 12.0)


def test_that_the_worst_stall_of_the_window_is_kept() -> None:
    cost = PollCost(ManualClock())
    cost.ui_stalled(12.0, 0)
    cost.ui_stalled(64.0, 2)
    cost.ui_stalled(3.0, 2)
    read = cost.read()
    assert (read.ui_stall_ms_max, read.ui_stalls_over_50ms) == (64.0, 2)


def test_that_cpu_time_and_memory_are_this_processs() -> None:
    cost = PollCost(ManualClock())
    before = cost.read()
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    kept = bytearray(40 * 2**20)
    after = cost.read()
    assert after.cpu_s - before.cpu_s >= 0.09
    assert after.rss_bytes - before.rss_bytes >= 30 * 2**20
    assert resident_bytes() > len(kept)


def test_that_nothing_polled_yet_costs_nothing() -> None:
    read = PollCost(ManualClock()).read()
    assert (read.polls, read.poll_ms_p50, read.poll_ms_p95) == (0, 0.0, 0.0)

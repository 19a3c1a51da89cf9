"""What is told of detached work: bytes, rate, how long it may still take, and nothing that was not measured."""

from __future__ import annotations

from services.procedures.execute.work_progress import told_of


def test_that_nothing_measured_is_nothing_told() -> None:
    assert told_of([], 10) == ""


def test_that_one_look_tells_bytes_and_two_tell_rate_and_time() -> None:
    assert told_of([(0.0, 10**9)], 4 * 10**9) == "1.00 of 4.00 GB"
    assert told_of([(0.0, 10**9), (10.0, 2 * 10**9)], 4 * 10**9) == "2.00 of 4.00 GB, 100.0 MB/s, about 20 s left"


def test_that_without_a_total_or_a_rise_no_time_is_told() -> None:
    assert told_of([(0.0, 10**9), (10.0, 2 * 10**9)], 0) == "2.00 GB, 100.0 MB/s"
    assert told_of([(0.0, 2 * 10**9), (10.0, 2 * 10**9)], 4 * 10**9) == "2.00 of 4.00 GB"

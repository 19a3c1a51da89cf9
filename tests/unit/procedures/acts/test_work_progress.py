"""What is told of detached work: bytes, rate, how long it may still take, and nothing that was not measured."""

from __future__ import annotations

from services.connections.command import Command
from services.connections.ports import Output
from services.procedures.execute.work_progress import WorkProgress, told_of


class FakeSession:
    """Answers one du."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, command: Command, *, limit_s: float) -> Output:
        """Note what is run."""
        del limit_s
        self.asked.append(" ".join(command.argv))
        return Output(0, b"500000000\t/data\n", b"")


def test_that_nothing_measured_is_nothing_told() -> None:
    assert told_of([], 10) == ""


def test_that_one_look_tells_bytes_and_two_tell_rate_and_time() -> None:
    assert told_of([(0.0, 10**9)], 4 * 10**9) == "1.00 of 4.00 GB"
    assert told_of([(0.0, 10**9), (10.0, 2 * 10**9)], 4 * 10**9) == "2.00 of 4.00 GB, 100.0 MB/s, about 20 s left"


def test_that_hours_are_told_as_hours_and_not_as_thousands_of_seconds() -> None:
    assert told_of([(0.0, 0), (10.0, 10**9)], 3601 * 10**9).endswith("about 10 h left")


def test_that_old_data_kept_in_the_folder_are_not_counted_as_copied() -> None:
    session = FakeSession()
    assert WorkProgress(lambda: session, "/data", 10**9, "/data/.kept").told(0.0) == "0.50 of 1.00 GB"  # type: ignore[arg-type,return-value]
    assert session.asked == ["du -sb --exclude=/data/.kept -- /data"]


def test_that_without_a_total_or_a_rise_no_time_is_told() -> None:
    assert told_of([(0.0, 10**9), (10.0, 2 * 10**9)], 0) == "2.00 GB, 100.0 MB/s"
    assert told_of([(0.0, 2 * 10**9), (10.0, 2 * 10**9)], 4 * 10**9) == "2.00 of 4.00 GB"

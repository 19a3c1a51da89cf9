"""Lanes: serial inside, parallel across, and a hung call stalls only its own host, and not for long."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest

from services.connections import lanes as module
from services.connections.lanes import Lanes
from services.errors import TimedOut, Unreachable


@pytest.fixture
def lanes() -> Iterator[Lanes]:
    made = Lanes()
    yield made
    made.shutdown(limit_s=5.0)


def test_that_calls_of_one_lane_run_one_after_the_other_in_order_on_a_thread_named_after_the_host(lanes: Lanes) -> None:
    seen: list[tuple[int, str]] = []
    running = threading.Lock()

    def call(n: int) -> int:
        assert running.acquire(blocking=False), "two calls of one lane ran at once"
        time.sleep(0.002)
        seen.append((n, threading.current_thread().name))
        running.release()
        return n

    futures = [lanes.lane("db1").submit(lambda n=n: call(n)) for n in range(20)]
    assert [future.result(5) for future in futures] == list(range(20))
    assert seen == [(n, "lane db1") for n in range(20)]


def test_that_lanes_run_beside_each_other(lanes: Lanes) -> None:
    both = threading.Barrier(2, timeout=5)
    futures = [lanes.lane(name).submit(both.wait) for name in ("db1", "db2")]
    assert sorted(future.result(5) for future in futures) == [0, 1]


def test_that_an_error_reaches_whoever_asked_and_the_lane_goes_on(lanes: Lanes) -> None:
    lane = lanes.lane("db1")

    def fails() -> None:
        raise Unreachable("gone", host="db1")

    with pytest.raises(Unreachable, match="gone"):
        lane.submit(fails).result(5)
    assert lane.submit(lambda: 7).result(5) == 7


def test_that_a_call_that_waits_can_be_cancelled_and_one_that_waits_too_long_is_told_as_timed_out(lanes: Lanes) -> None:
    lane = lanes.lane("db1")
    go = threading.Event()
    ran: list[str] = []
    lane.submit(lambda: go.wait(5))
    cancelled = lane.submit(lambda: ran.append("cancelled"))
    late = lane.submit(lambda: ran.append("late"), limit_s=0.05, what="status")
    assert cancelled.cancel()
    with pytest.raises(TimedOut, match=r"db1: status did not end within 0.05 s"):
        late.result(5)
    go.set()
    lane.submit(lambda: None).result(5)
    assert ran == []
    with pytest.raises(CancelledError):
        cancelled.result(0)


def test_that_a_call_blocked_on_a_socket_is_ended_by_cutting_it(lanes: Lanes) -> None:
    ours, theirs = socket.socketpair()
    ended: list[str] = []

    def hangs() -> None:
        ended.append("recv" if ours.recv(1) == b"" else "data")

    with ours, theirs:
        lane = lanes.lane("db1", on_hang=lambda: ours.shutdown(socket.SHUT_RDWR))
        started = time.monotonic()
        with pytest.raises(TimedOut):
            lane.submit(hangs, limit_s=0.1, what="a query").result(5)
        assert time.monotonic() - started < 1.0
        assert lane.submit(lambda: 1).result(1) == 1
        assert ended == ["recv"]


def test_that_a_call_which_nothing_ends_is_abandoned_and_its_lane_goes_on(
    lanes: Lanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE_S", 0.1)
    release = threading.Event()
    lane = lanes.lane("db1")
    with pytest.raises(TimedOut):
        lane.submit(lambda: release.wait(10), limit_s=0.05).result(5)
    assert lane.submit(lambda: "on").result(5) == "on"
    release.set()


def test_that_another_host_does_not_notice(lanes: Lanes) -> None:
    release = threading.Event()
    lanes.lane("db1").submit(lambda: release.wait(10))
    started = time.monotonic()
    assert lanes.lane("db2").submit(lambda: 2).result(5) == 2
    assert time.monotonic() - started < 0.5
    release.set()


def test_that_shutdown_cuts_what_runs_cancels_what_waits_joins_and_takes_nothing_more() -> None:
    lanes = Lanes()
    cut = threading.Event()
    begun = threading.Event()
    running = lanes.lane("db1", on_hang=cut.set).submit(lambda: (begun.set(), cut.wait(10)))
    waiting = lanes.lane("db1").submit(lambda: None)
    assert begun.wait(5)
    assert lanes.shutdown(limit_s=5.0) == ()
    assert running.result(0) == (None, True)
    assert waiting.cancelled()
    assert not [thread for thread in threading.enumerate() if thread.name == "lane db1"]
    with pytest.raises(Unreachable):
        lanes.lane("db1")


def test_that_shutdown_names_the_lanes_that_did_not_end() -> None:
    lanes = Lanes()
    release = threading.Event()
    begun = threading.Event()
    lanes.lane("stuck").submit(lambda: (begun.set(), release.wait(10)))
    assert begun.wait(5)
    lanes.lane("fine").submit(lambda: None).result(5)
    started = time.monotonic()
    assert lanes.shutdown(limit_s=0.3) == ("stuck",)
    assert time.monotonic() - started < 1.5
    release.set()


def test_that_one_host_may_leave_and_come_back(lanes: Lanes) -> None:
    old = lanes.lane("db1")
    assert lanes.close_lane("db1")
    with pytest.raises(Unreachable):
        old.submit(lambda: None)
    assert lanes.lane("db1").submit(lambda: 3).result(5) == 3


def test_that_a_fault_while_cutting_is_logged_and_the_watch_goes_on(lanes: Lanes, expected_log: object) -> None:
    assert callable(expected_log)
    expected_log("ERROR", "cutting a hung call failed")
    release = threading.Event()

    def broken() -> None:
        raise ValueError("a bug")

    with pytest.raises(TimedOut):
        lanes.lane("db1", on_hang=broken).submit(lambda: release.wait(5), limit_s=0.05).result(5)
    release.set()
    blocked = threading.Event()
    with pytest.raises(TimedOut):
        lanes.lane("db2", on_hang=blocked.set).submit(lambda: blocked.wait(5), limit_s=0.05).result(5)
    assert blocked.wait(5)

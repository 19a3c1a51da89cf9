"""The bridge between services and window: background calls, the pump, the stall meter."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from services.discovery.model import EstateSnapshot
from services.errors import Unreachable
from services.events import Event
from widgets.bridge.ops import Ops
from widgets.bridge.pump import Pump
from widgets.bridge.stall_watch import calls_of
from widgets.bridge.stalls import StallMeter


class _Source:
    """As much of an EstateSource as the pump asks."""

    def __init__(self) -> None:
        self.newest = EstateSnapshot(at=1.0)
        self.told: list[Event] = []

    def now(self) -> float:
        return 5.0

    def snapshot(self) -> EstateSnapshot:
        return self.newest

    def events(self) -> list[Event]:
        return self.told


def test_that_a_result_arrives_on_the_gui_thread(qtbot: QtBot) -> None:
    ops = Ops()
    threads: list[tuple[str, str]] = []
    worker: list[str] = []

    def work() -> str:
        worker.append(threading.current_thread().name)
        return "answer"

    ops.run("a", work, lambda result: threads.append((result, threading.current_thread().name)))
    qtbot.waitUntil(lambda: bool(threads), timeout=2000)
    ops.shutdown()
    assert threads == [("answer", threading.main_thread().name)]
    assert worker[0].startswith("pilothouse-op")


def test_that_of_several_calls_with_one_key_only_the_newest_is_delivered(qtbot: QtBot) -> None:
    ops = Ops()
    gate = threading.Event()
    results: list[int] = []

    def slow() -> int:
        gate.wait(2)
        return 1

    ops.run("k", slow, results.append)
    ops.run("k", lambda: 2, results.append)
    qtbot.waitUntil(lambda: bool(results), timeout=2000)
    gate.set()
    qtbot.waitUntil(lambda: not ops.busy(), timeout=2000)
    ops.shutdown()
    assert results == [2]


def test_that_a_failure_without_a_handler_is_told(qtbot: QtBot) -> None:
    ops = Ops()
    told: list[object] = []
    ops.failed.connect(told.append)

    def work() -> None:
        raise Unreachable("no route", host="n1")

    ops.run("k", work, lambda _: None)
    qtbot.waitUntil(lambda: bool(told), timeout=2000)
    ops.shutdown()
    assert str(told[0]) == "n1: no route"


@pytest.mark.expected_log("ERROR", "a background call failed")
def test_that_a_bug_on_a_worker_reaches_the_person(qtbot: QtBot) -> None:
    ops = Ops()
    told: list[object] = []
    ops.run("k", lambda: 1 // 0, lambda _: None, told.append)
    qtbot.waitUntil(lambda: bool(told), timeout=2000)
    ops.shutdown()
    assert "ZeroDivisionError" in str(told[0])


def test_that_the_pump_tells_a_snapshot_once_however_often_it_pulls(qtbot: QtBot) -> None:
    source = _Source()
    pump = Pump(source, interval_ms=5)  # type: ignore[arg-type]
    seen: list[object] = []
    events: list[tuple[Event, ...]] = []
    pump.snapshot_changed.connect(seen.append)
    pump.events_changed.connect(events.append)
    pump.start()
    qtbot.wait(60)
    assert seen == [source.newest]
    source.newest = EstateSnapshot(at=2.0)
    source.told.append(Event(2.0, "note", "hello"))
    qtbot.waitUntil(lambda: len(seen) == 2 and bool(events), timeout=1000)
    pump.stop()


def listened(pump: Pump, note: Callable[[str], None]) -> None:
    """Note each signal of a pump by its name."""
    pump.snapshot_changed.connect(lambda _snapshot: note("snapshot"))
    pump.events_changed.connect(lambda _events: note("events"))
    pump.ticked.connect(lambda _now: note("tick"))


def test_that_a_beat_of_the_timer_tells_one_thing_a_turn_of_the_event_loop(qtbot: QtBot) -> None:
    source, turns = _Source(), [0]
    source.told.append(Event(2.0, "note", "hello"))
    counting = QTimer()
    counting.timeout.connect(lambda: turns.append(turns[-1] + 1))
    counting.start(0)
    pump = Pump(source, interval_ms=60_000)  # type: ignore[arg-type]
    told: list[tuple[str, int]] = []
    listened(pump, lambda what: told.append((what, turns[-1])))
    pump.start()
    assert [what for what, _ in told] == ["snapshot"]
    qtbot.waitUntil(lambda: len(told) == 3, timeout=5000)
    pump.stop()
    counting.stop()
    assert [what for what, _ in told] == ["snapshot", "events", "tick"]
    assert len({turn for _, turn in told}) == 3


def test_that_a_beat_that_is_asked_for_tells_everything_at_once_and_once() -> None:
    source = _Source()
    source.told.append(Event(2.0, "note", "hello"))
    pump = Pump(source, interval_ms=60_000)  # type: ignore[arg-type]
    told: list[str] = []
    listened(pump, told.append)
    pump.start()
    pump.beat()  # in the middle of the first one
    assert told == ["snapshot", "events", "tick"]
    pump.beat()
    assert told[3:] == ["tick"]
    pump.stop()


def test_that_the_end_of_a_span_is_told_though_newer_events_stand_behind_it() -> None:
    source = _Source()
    began = Event(1.0, "connection", "n1 does not answer", spans=True, key="silence:n1")
    source.told += [began, Event(2.0, "note", "hello")]
    pump = Pump(source, interval_ms=60_000)  # type: ignore[arg-type]
    told: list[tuple[Event, ...]] = []
    pump.events_changed.connect(told.append)
    pump.beat()
    source.told[0] = replace(began, until=3.0)
    pump.beat()
    assert [events[0].until for events in told] == [None, 3.0]


def test_that_a_blocked_event_loop_is_measured(qtbot: QtBot) -> None:
    meter = StallMeter()
    before = time.perf_counter()
    meter.start()
    qtbot.wait(60)
    time.sleep(0.15)
    qtbot.wait(60)
    meter.stop()
    whole_ms = (time.perf_counter() - before) * 1000.0
    assert 100.0 < meter.take() < whole_ms
    assert meter.over_limit >= 1
    assert meter.take() == 0.0


def _hold_up_the_window(seconds: float) -> None:
    time.sleep(seconds)


def test_that_a_stall_is_kept_with_its_time_and_what_the_window_was_doing(qtbot: QtBot) -> None:
    meter = StallMeter()
    begun = time.time()
    meter.start()
    qtbot.wait(60)
    before = time.time()
    _hold_up_the_window(0.15)
    qtbot.wait(60)
    meter.stop()
    # A busy machine may hold the window up as well: the stall that was made here is known by what it was doing.
    stall = next(stall for stall in meter.stalls if "_hold_up_the_window" in stall.doing.split(" < ")[0])
    assert before < stall.at <= time.time()
    assert 100.0 < stall.ms < (time.time() - begun) * 1000.0
    assert "test_bridge.py" in stall.doing
    assert stall.own_ms < stall.ms / 2, "it slept, so it used no CPU"


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Let the threads take turns fifty times as often as Python's 5 ms: more moments are looked at in less time."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("quick_switches")
def test_that_looking_at_another_thread_keeps_none_of_its_variables_alive() -> None:
    class Kept:
        pass

    survivors: list[Kept] = []
    enough = threading.Event()

    def call() -> weakref.ref[Kept]:
        local = Kept()
        sum(range(2000))
        return weakref.ref(local)

    def work() -> None:
        while not enough.is_set():
            kept = call()()
            if kept is not None:
                survivors.append(kept)

    thread = threading.Thread(target=work)
    thread.start()
    assert thread.ident is not None
    told = set()
    for _ in range(500):
        time.sleep(0.0002)
        told.add(calls_of(thread.ident))
    enough.set()
    thread.join()
    assert any(" call < " in calls for calls in told)
    assert survivors == []
    assert calls_of(thread.ident) == ""

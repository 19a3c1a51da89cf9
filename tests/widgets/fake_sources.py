"""Fake sources of an estate, of synthetic snapshots and curves: they prove the window, never what a server does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.mark_shelf import MarkShelf
from app.window.controller import Controller
from app.window.main_window import MainWindow
from app.window.pages import build_pages
from services.discovery.model import EstateSnapshot
from services.errors import UserError
from services.events import Event
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.charts import load_charts
from services.sampling.model import ConsoleCost, Metric
from services.series import Series
from services.types import Health
from tests.widgets import builders as b
from widgets.bridge.ops import Ops
from widgets.common.look.theme import ThemeName, apply_theme

NOW = b.AT
CARDS = len(load_charts())


class FakeLiveSource:
    """A live estate that says what the test puts into it; `now` moves only when the test moves it."""

    is_live = True

    def __init__(self, snapshot: EstateSnapshot | None = None) -> None:
        self.title = "fake estate"
        self.present = NOW
        self.begun = NOW - 3600.0
        self.newest = snapshot or b.estate(b.healthy())
        self.past: dict[float, EstateSnapshot] = {}
        self.told: list[Event] = []
        self.stalls: list[tuple[float, int]] = []
        self.asked_from: set[str] = set()

    def now(self) -> float:
        return self.present

    def snapshot(self) -> EstateSnapshot:
        return self.newest

    def snapshot_at(self, at: float) -> EstateSnapshot:
        self.asked_from.add(threading.current_thread().name)
        known = [moment for moment in self.past if moment <= at]
        return self.past[max(known)] if known else EstateSnapshot(at=at)

    def events(self) -> tuple[Event, ...]:
        return tuple(self.told)

    def span(self) -> tuple[float, float]:
        return self.begun, self.present

    def series(self, server: str, metric: str, start: float, end: float, points: int) -> Series:
        self.asked_from.add(threading.current_thread().name)
        first = max(start, self.begun)
        t = np.arange(first, min(end, self.present) + 0.5, max(1.0, (end - start) / max(points, 1)))
        return Series(metric, t, 20.0 + 10.0 * np.sin(t / 30.0))

    def tail(self, server: str, metric: str, since: float) -> Series:
        t = np.arange(max(since, self.present - 600.0) + 1.0, self.present + 0.5)
        return Series(metric, t, 20.0 + 10.0 * np.sin(t / 30.0))

    def catalogue(self) -> tuple[Metric, ...]:
        return tuple(load_catalogue())

    def cost(self) -> ConsoleCost:
        return ConsoleCost(polls=10, poll_ms_p50=12.4)

    def ui_stalled(self, worst_ms: float, over_limit: int) -> None:
        self.stalls.append((worst_ms, over_limit))

    def servers(self) -> tuple[str, ...]:
        return ("db1", "db2", "db3")


class FakeRecording(FakeLiveSource):
    """A recording of ten minutes whose position moves only when the test or the window moves it."""

    is_live = False

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.end = NOW - 600.0, NOW
        self.present = self.begun
        self.playing = False
        self.speed = 1.0
        self.past = {self.begun: b.estate(b.healthy()), NOW - 300.0: b.estate(b.sst_running())}
        self.recorded = (
            Event(NOW - 300.0, "transfer", "SST from db2 to db4", Health.TRANSFER, until=NOW - 100.0, spans=True),
        )

    def snapshot(self) -> EstateSnapshot:
        return self.past[max(moment for moment in self.past if moment <= self.present)]

    def events(self) -> tuple[Event, ...]:
        return tuple(event for event in self.recorded if event.at <= self.present)

    def all_events(self) -> tuple[Event, ...]:
        return self.recorded

    def span(self) -> tuple[float, float]:
        return self.begun, self.end

    def series(self, server: str, metric: str, start: float, end: float, points: int) -> Series:
        t = np.arange(max(start, self.begun), min(end, self.end) + 0.5)
        return Series(metric, t, 20.0 + 10.0 * np.sin(t / 30.0))

    def cost(self) -> ConsoleCost:
        return ConsoleCost()

    def play(self) -> None:
        self.playing = True

    def pause(self) -> None:
        self.playing = False

    def set_speed(self, speed: float) -> None:
        self.speed = speed

    def seek(self, at: float) -> None:
        self.present = min(self.end, max(self.begun, at))


@dataclass(slots=True)
class _Waiting:
    work: Callable[[], Any]
    success: Callable[[Any], None]
    failure: Callable[[UserError], None] | None


@dataclass(slots=True)
class FakeOps:
    """Background calls that wait until the test answers them, so that no host is needed for what a host would say."""

    waiting: dict[str, _Waiting] = field(default_factory=dict)

    def run(
        self,
        key: str,
        work: Callable[[], Any],
        success: Callable[[Any], None],
        failure: Callable[[UserError], None] | None = None,
    ) -> None:
        self.waiting[key] = _Waiting(work, success, failure)

    def answer(self, key: str, result: Any) -> None:
        """Deliver this result instead of running the work."""
        self.waiting.pop(key).success(result)

    def fail(self, key: str, problem: UserError) -> None:
        """Deliver a failure."""
        failure = self.waiting.pop(key).failure
        assert failure is not None
        failure(problem)

    def do(self, key: str) -> None:
        """Run the work here and now, as a worker would."""
        call = self.waiting.pop(key)
        try:
            result = call.work()
        except UserError as problem:
            assert call.failure is not None
            call.failure(problem)
        else:
            call.success(result)


@dataclass(slots=True)
class OpenWindow:
    """A window joined with a fake source by the program's own controller and pages."""

    window: MainWindow
    controller: Controller
    ops: Ops

    def settle(self) -> None:
        """Let everything be shown that a worker makes ready."""
        settle(self.controller)


def settle(controller: Controller) -> None:
    """Let the event loop turn until all of the newest snapshot is shown."""
    end = time.monotonic() + 10.0
    while controller.busy():
        assert time.monotonic() < end, "it is never shown"
        QApplication.processEvents()


@contextmanager
def open_window(
    qapp: QApplication, source: FakeLiveSource, theme: ThemeName = "light", shelf: MarkShelf | None = None
) -> Iterator[OpenWindow]:
    """Show a window on `source`; on the way out everything is stopped as the program does."""
    apply_theme(qapp, theme)
    window = MainWindow()
    ops = Ops(window)
    window.topology.set_reduced_motion(True)
    window.resize(1280, 800)
    controller = Controller(source, window, ops, parent=window)
    for _ in build_pages(controller, window, ops, parent=window, shelf=shelf):
        pass
    window.show()
    window.activateWindow()
    controller.start()
    settle(controller)
    while ops.busy():
        qapp.processEvents()
    for _ in range(CARDS):
        qapp.processEvents()  # the charts' cards are made one a turn
    try:
        yield OpenWindow(window, controller, ops)
    finally:
        controller.stop()
        ops.shutdown()
        window.close()
        window.deleteLater()
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # processEvents leaves these lying

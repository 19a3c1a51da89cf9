"""The window's one time axis: strip, charts, topology and journal look at the same moment and the same span."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtCore import QObject

from app.controller import Controller
from app.main_window import MainWindow
from services.events import Event
from widgets.bridge.source import PlaybackControl
from widgets.charts.page import ChartsPage
from widgets.timeline.replay_bar import ReplayBar
from widgets.timeline.strip import EventStrip


class TimeAxis(QObject):
    """Joins the event strip (and a replay's controls) with the controller and the charts page."""

    def __init__(self, controller: Controller, window: MainWindow, charts: ChartsPage, parent: QObject) -> None:
        super().__init__(parent)
        self._controller = controller
        self._charts = charts
        self._strip = EventStrip()
        source = controller.source
        self._player = None if source.is_live else cast("PlaybackControl", source)
        self._bar = ReplayBar() if self._player is not None else None
        window.add_strip(*([self._bar, self._strip] if self._bar is not None else [self._strip]))
        self._strip.cursor_moved.connect(controller.look_at)
        self._strip.range_changed.connect(self._span_chosen)
        self._strip.live_wanted.connect(controller.go_live)
        charts.range_changed.connect(self._strip.set_range)
        window.live_wanted.connect(self._back_to_live)
        controller.moment_changed.connect(self._strip.set_cursor)
        controller.events_shown.connect(self._on_events)
        controller.pump.ticked.connect(self._on_tick)
        if self._bar is not None and self._player is not None:
            self._strip.set_replay(True, source.span()[0])
            self._bar.play_wanted.connect(self._player.play)
            self._bar.pause_wanted.connect(self._player.pause)
            self._bar.speed_wanted.connect(self._player.set_speed)
            self._bar.seek_wanted.connect(self._seek)

    def _span_chosen(self, start: float, end: float, live: bool) -> None:
        self._charts.set_range(start, end, live)

    def _back_to_live(self) -> None:
        view = self._strip.view()
        now = self._controller.source.now()
        self._strip.set_range(now - view.span, now, live=True)

    def _seek(self, at: float) -> None:
        if self._player is not None:
            self._controller.go_live()
            self._player.seek(at)
            self._controller.pump.beat()

    def _on_events(self, events: Sequence[Event]) -> None:
        self._strip.set_events(events)
        if self._bar is not None:
            self._bar.set_events(events)

    def _on_tick(self, now: float) -> None:
        view = self._strip.view()
        if view.live and self._controller.moment is None:
            self._strip.set_range(now - view.span, now, live=True)
        if self._bar is not None and self._player is not None:
            start, end = self._controller.source.span()
            self._bar.set_state(now, start, end, self._player.playing, self._player.speed)

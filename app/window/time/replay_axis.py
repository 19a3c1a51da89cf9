"""The time axis of a recording: the whole of it in sight, one position in it, moved by play, by seeking, by hand."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.window.controller import Controller
from app.window.main_window import MainWindow
from app.window.time.shared_axis import SharedAxis
from widgets.bridge.source import PlaybackControl
from widgets.charts.page import ChartsPage
from widgets.timeline.replay_bar import ReplayBar
from widgets.timeline.strip import EventStrip


class ReplayAxis(QObject):
    """Joins event strip, transport controls and charts with a recording's position.

    The bar always shows the whole recording, strip and charts do at first, and one span later too; zoomed in, they move
    along when the position leaves them by itself. Where a person zoomed or panned away from it they stay, until the
    position comes by or is taken elsewhere. A moment chosen anywhere (strip, chart, journal) is a seek: a recording has
    no other present.
    """

    def __init__(
        self, controller: Controller, player: PlaybackControl, window: MainWindow, charts: ChartsPage, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._player = player
        self._charts = charts
        self._strip = EventStrip(turns=controller.turns)
        self._bar = ReplayBar()
        self._begin, self._end = controller.source.span()
        self._at = self._begin
        self._sought = False
        window.add_strip(self._bar, self._strip)
        SharedAxis(window, charts, self._strip, self, self._bar)
        self._wire(window)
        self._show_everything()

    def _wire(self, window: MainWindow) -> None:
        strip, bar, player = self._strip, self._bar, self._player
        bar.play_wanted.connect(player.play)
        bar.pause_wanted.connect(player.pause)
        bar.speed_wanted.connect(player.set_speed)
        bar.seek_wanted.connect(self._controller.look_at)
        strip.cursor_moved.connect(self._moved_to)
        strip.range_changed.connect(self._chosen_on_strip)
        self._charts.cursor_moved.connect(self._chosen_on_charts)
        self._charts.range_changed.connect(self._span_chosen)
        window.live_wanted.connect(self._to_end)
        window.play_wanted.connect(self._toggle)
        self._controller.sought.connect(self._was_sought)
        self._controller.pump.ticked.connect(self._on_tick)

    def _show_everything(self) -> None:
        self._charts.set_recording(self._begin, self._end)
        events = self._player.all_events()
        self._strip.set_replay(True, self._begin)
        self._strip.set_events(events)
        self._bar.set_events(events)
        self._charts.set_events(events)
        self._show_whole()

    def _show_whole(self) -> None:
        self._charts.set_range(self._begin, self._end, live=False, now=self._end)
        self._take_along()

    def _take_along(self) -> None:
        """Let the strip show what the charts show."""
        view, at_end = self._charts.view(), self._controller.source.now() >= self._end
        self._strip.set_range(view.start, view.end, live=at_end and view.end >= self._end, now=self._end)

    # --- what a person chooses ---------------------------------------------------------------------------------------

    def _moved_to(self, at: float | None) -> None:
        """The strip gives None for its right end."""
        self._controller.look_at(self._end if at is None else at)

    def _chosen_on_charts(self, at: float | None) -> None:
        """Escape takes the crosshair away in a live window; here the position stays where it is."""
        if at is not None:
            self._controller.look_at(at)
        self._on_tick(self._controller.source.now())

    def _span_chosen(self, start: float, end: float, live: bool) -> None:
        """A span of the newest minutes means the minutes around the position; one longer than it all shows it all."""
        span = end - start
        if span >= self._end - self._begin:
            self._show_whole()
        elif live:
            self._show_around(self._controller.source.now(), span)
        else:
            self._take_along()

    def _chosen_on_strip(self, start: float, end: float, _live: bool) -> None:
        """The end of a recording is no present to follow."""
        self._charts.set_range(start, end, live=False, now=self._end)
        self._span_chosen(start, end, live=False)

    def _toggle(self) -> None:
        (self._player.pause if self._player.playing else self._player.play)()

    def _to_end(self) -> None:
        self._controller.look_at(self._end)

    # --- the position ------------------------------------------------------------------------------------------------

    def _show_around(self, at: float, span: float) -> None:
        start = min(max(at - 0.5 * span, self._begin), max(self._begin, self._end - span))
        self._charts.set_range(start, start + span, live=False, now=self._end)
        self._take_along()

    def _on_tick(self, now: float) -> None:
        at_end = now >= self._end
        self._take_along()
        self._strip.set_cursor(None if at_end else now)
        self._charts.set_cursor(now)
        self._bar.set_state(now, self._begin, self._end, self._player.playing, self._player.speed)
        self._follow(now)

    def _was_sought(self) -> None:
        self._sought = True

    def _follow(self, now: float) -> None:
        """Move the charts along with a position that has left them, or was taken elsewhere."""
        view, before = self._charts.view(), self._at
        wanted = self._sought or view.start <= before <= view.end
        self._at, self._sought = now, False
        if wanted and not view.start <= now <= view.end:
            self._show_around(now, view.span)

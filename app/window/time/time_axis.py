"""The window's one time axis, live: strip, charts, topology and journal look at the same moment and the same span."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.window.controller import Controller
from app.window.main_window import MainWindow
from app.window.time.shared_axis import SharedAxis
from widgets.bridge.ops import Ops
from widgets.charts.page import ChartsPage
from widgets.common.time_axis.view import MINUTE
from widgets.timeline.strip import EventStrip

_STEP_S, _STEPS = 0.95, 600.0
"""The axis moves on with the samples, once a second, or oftener where a second is wider than two pixels: each step
paints every chart anew."""
_FIRST_SPANS = (1 * MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE)


class TimeAxis(QObject):
    """Joins the event strip with the controller and the charts page.

    Until the person chooses a span the axis is as long as the history fills: a console that has watched for a minute
    shows that minute, not 14 empty ones beside it.
    """

    def __init__(
        self, controller: Controller, window: MainWindow, charts: ChartsPage, ops: Ops, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._window = window
        self._charts = charts
        self._strip = EventStrip(turns=controller.turns)
        self._first: float | None = None
        self._fills = True
        self._returning = False
        shown = charts.view()
        self._strip.set_range(shown.start, shown.end, live=True)
        window.add_strip(self._strip)
        SharedAxis(window, charts, self._strip, self)
        self._strip.cursor_moved.connect(controller.look_at)
        self._strip.range_changed.connect(self._chosen_on_strip)
        self._strip.live_wanted.connect(controller.go_live)
        charts.range_changed.connect(self._chosen_on_charts)
        window.live_wanted.connect(self._back_to_live)
        window.page_shown.connect(self._page_shown)
        controller.moment_changed.connect(self._strip.set_cursor)
        controller.moment_changed.connect(charts.set_cursor)
        controller.events_shown.connect(self._strip.set_events)
        controller.events_shown.connect(charts.set_events)
        controller.pump.ticked.connect(self._on_tick)
        charts.cursor_moved.connect(controller.look_at)
        ops.run("first moment", controller.source.span, self._know_first)

    def _know_first(self, span: tuple[float, float]) -> None:
        self._first = span[0]

    def _chosen_on_strip(self, start: float, end: float, live: bool) -> None:
        self._fills = False
        self._charts.set_range(start, end, live)

    def _chosen_on_charts(self, start: float, end: float, live: bool) -> None:
        self._fills = self._fills and self._returning
        self._strip.set_range(start, end, live)

    def _back_to_live(self) -> None:
        self._returning = True
        self._charts.go_live()
        self._returning = False
        self._on_tick(self._controller.source.now())

    def _on_tick(self, now: float) -> None:
        view = self._strip.view()
        if not view.live or self._controller.moment is not None:
            return
        span = self._filled_span(now) if self._fills else view.span
        same = abs(span - view.span) < 1e-3
        if same and 0.0 <= now - view.end < min(_STEP_S, span / _STEPS):
            return
        self._strip.set_range(now - span, now, live=True)
        if not same or self._window.page() == "charts":
            self._charts.set_range(now - span, now, live=True)

    def _page_shown(self, page: str) -> None:
        """Bring the charts to where the strip is: behind another page they stood still."""
        view = self._strip.view()
        if page == "charts" and view.live and self._controller.moment is None:
            self._charts.set_range(view.start, view.end, live=True)

    def _filled_span(self, now: float) -> float:
        known = _FIRST_SPANS[-1] if self._first is None else now - self._first
        return next((span for span in _FIRST_SPANS if span >= known), _FIRST_SPANS[-1])

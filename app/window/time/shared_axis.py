"""Keeps the time axis of strip and replay bar right under that of the charts while these are in front.

What is marked on the strip is marked in the charts, which then are in front.
"""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QObject

from app.window.main_window import MainWindow
from widgets.charts.compare.marks import Side
from widgets.charts.page import ChartsPage
from widgets.common.time_axis.pixels import SIDE
from widgets.timeline.strip import EventStrip


class _TimeLine(Protocol):
    """What has a time axis between two sides."""

    def set_sides(self, left: float, right: float) -> None:
        """Keep so many pixels free left and right of the axis."""


class SharedAxis(QObject):
    """Gives the parts below the pages the edges of the charts' axis; under another page theirs is as wide as can be."""

    def __init__(
        self, window: MainWindow, charts: ChartsPage, strip: EventStrip, parent: QObject, bar: _TimeLine | None = None
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._charts = charts
        self._parts: tuple[_TimeLine, ...] = (strip,) if bar is None else (bar, strip)
        window.page_shown.connect(self._follow)
        charts.frame_moved.connect(self._follow)
        strip.mark_wanted.connect(self._mark)

    def _mark(self, side: Side, at: float) -> None:
        self._window.show_page("charts")
        self._charts.compare.mark(side, at)

    def _follow(self) -> None:
        edges = self._charts.edges() if self._window.page() == "charts" else None
        left, right = (SIDE, SIDE) if edges is None else (edges[0], self._charts.width() - edges[1])
        for part in self._parts:
            part.set_sides(left, right)

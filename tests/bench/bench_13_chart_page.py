"""Budget 13: the real charts page with 12 charts of 4 curves and 3,600 points, while samples come.

And what a person feels of it: the longest single turn of the event loop, against the 50 ms the window may stand still.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QApplication

from services.series import Series
from tests.bench.model import Row, paired
from tests.bench.support.plotting import (
    AT,
    NOISE,
    PAGE_NOISE,
    BareChart,
    application,
    frame_ms,
    line_spec,
    noisy,
    one_point,
)
from widgets.charts.page import ChartsPage

CHARTS, CURVES, POINTS, SIZE = 12, 4, 3600, (1600, 1000)
TOP = 16.0
FRAMES = 10
STALL_MS = 50.0
SHARE = 0.5
"""Of the 50 ms: CPU time is counted, and where others want the processor too, a turn takes twice as long."""


class _Sides:
    """The shipped page, and a bare painter of curves, grids and words at the same places."""

    def __init__(self, noise: float) -> None:
        self._noise = noise
        t = np.arange(POINTS) + AT - POINTS + 1
        values = [
            [noisy(4 * chart + curve, POINTS, 3.0 + 3 * curve, noise) for curve in range(CURVES)]
            for chart in range(CHARTS)
        ]
        self.page = ChartsPage()
        self.page.resize(*SIZE)
        self.page.show()
        self.page.set_side_by_side(True)  # all of them in sight
        self.page.set_specs([line_spec(f"chart{number}", CURVES) for number in range(CHARTS)])
        self.page.set_range(AT - POINTS, AT, live=True)
        for chart, rows in enumerate(values):
            for curve, value in enumerate(rows):
                self.page.set_series(f"chart{chart}", f"c{curve}", Series("bench", t, value))
        QApplication.processEvents()
        self.paint_page()
        frames = []
        for chart in range(CHARTS):
            plot = self.page.card(f"chart{chart}").plot
            frames.append(plot.frame_rect().translated(QPointF(plot.mapTo(self.page, plot.rect().topLeft()))))
        inside = QRectF(self.page.rect())
        if not all(inside.contains(frame) for frame in frames):
            raise AssertionError("a chart is out of sight: the sides would not paint the same")
        curves = [(frames[chart], t.copy(), value.copy()) for chart, rows in enumerate(values) for value in rows]
        self.bare = BareChart(curves, frames, TOP)
        self.bare.resize(*SIZE)
        self.bare.start, self.bare.end = AT - POINTS, AT
        self.bare.show()
        QApplication.processEvents()
        self.page_at = self.bare_at = AT
        self._rng = np.random.default_rng(3)

    def fresh(self) -> list[float]:
        """Return the next value of every curve."""
        noise = self._rng.normal(0, self._noise, CHARTS * CURVES)
        return [3.0 + 3 * (number % CURVES) + noise[number] for number in range(CHARTS * CURVES)]

    def feed_page(self, _step: int) -> None:
        """Give every curve of the page a sample and move on by a second."""
        self.page_at += 1
        for number, value in enumerate(self.fresh()):
            self.page.append(f"chart{number // CURVES}", f"c{number % CURVES}", one_point(self.page_at, value))
        self.page.set_range(self.page_at - POINTS, self.page_at, live=True)

    def feed_bare(self, _step: int) -> None:
        """Give every curve of the bare page a sample and move on by a second."""
        self.bare_at += 1
        self.bare.append(self.bare_at, self.fresh())
        self.bare.start, self.bare.end = self.bare_at - POINTS, self.bare_at

    def paint_page(self) -> float:
        """Let the event loop turn until the page is painted; return the CPU time of the longest turn, ms."""
        longest, quiet = 0.0, 0
        while quiet < 2:  # what is asked for is laid out first, and what was painted last comes on the screen after it
            busy = self.page.painting
            quiet = 0 if busy else quiet + 1
            begun = time.thread_time()
            QApplication.processEvents()
            longest = max(longest, (time.thread_time() - begun) * 1e3)
        return longest

    def longest_turn_ms(self, change: Callable[[], object]) -> float:
        """Return the CPU time of the longest turn of the event loop from a change until all of it is painted, ms."""
        begun = time.thread_time()
        change()
        changed = (time.thread_time() - begun) * 1e3
        return max(changed, self.paint_page())

    def close(self) -> None:
        """Let everything go."""
        for widget in (self.page, self.bare):
            widget.close()
            widget.deleteLater()
        QApplication.processEvents()


def run(rounds: int) -> list[Row]:
    """Measure one update with all its painting; titles and legends with 48 values are painted on our side only."""
    application()
    return [
        _measure("a", "noisy curves, bound by pixels as where the budget was found", PAGE_NOISE, rounds),
        _measure("b", "calm curves, bound by axes, legends and widgets", NOISE, rounds),
        *_turns(rounds),
    ]


def _measure(part: str, kind: str, noise: float, rounds: int) -> Row:
    sides = _Sides(noise)
    ratio, mine, bare = paired(
        lambda: frame_ms(sides.feed_page, sides.paint_page, FRAMES),
        lambda: frame_ms(sides.feed_bare, sides.bare.repaint, FRAMES),
        rounds,
    )
    sides.close()
    title = f"12 plots x 4 curves x 3,600 points live, update against bare QPainter page: {kind}"
    return Row(13, part, title, ratio, 1.3, detail=f"{mine:.1f} : {bare:.1f} ms CPU, {rounds} rounds")


def _turns(rounds: int) -> list[Row]:
    """Measure the longest turn of the event loop while samples come, and after what makes Qt paint the whole page."""
    sides = _Sides(PAGE_NOISE)
    sides.bare.hide()
    page = sides.page

    def shown() -> None:
        page.hide()
        QApplication.sendPostedEvents()
        sides.feed_page(0)
        page.show()

    def worst(*changes: Callable[[], object]) -> float:
        """Of the rounds the median: each of them has its longest turn, and a busy machine some that are longer."""
        return statistics.median(max(sides.longest_turn_ms(change) for change in changes) for _ in range(rounds))

    tick = worst(*[lambda: sides.feed_page(0)] * FRAMES)
    resized = worst(lambda: page.resize(SIZE[0] - 10, SIZE[1]), lambda: page.resize(*SIZE))
    turned = worst(shown)
    sides.close()
    title = "longest turn of the event loop on that page, CPU against the 50 ms it may stand still:"
    more = f"resized {resized:.1f}, shown {turned:.1f} ms, {rounds} rounds"
    return [
        Row(13, "c", f"{title} samples come", tick / STALL_MS, SHARE, detail=f"{tick:.1f} ms, {rounds} x {FRAMES}"),
        Row(13, "d", f"{title} it is resized, shown", max(resized, turned) / STALL_MS, SHARE,
            detail=more),
    ]  # fmt: skip

"""What the two plotting benchmarks share: application, data, frames, and the bare QPainter to compare with."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QWidget

from services.series import Array, Series
from widgets.charts.model import ChartSpec, CurveSpec
from widgets.common.look.theme import apply_theme, current_theme, curve_color

AT = 1_795_200_000.0
# So that the bare sides cost about what they cost where the budgets were found: 9 ms for a frame of budget 12; the page
# of budget 13 was bound by pixels (23 ms). The page is measured with calm curves too.
NOISE, PAGE_NOISE = 0.25, 2.0


def application() -> QApplication:
    """Return the one application, dressed as the program is."""
    found = QApplication.instance()
    app = found if isinstance(found, QApplication) else QApplication([])
    apply_theme(app, "light")
    return app


def noisy(seed: int, count: int, level: float, noise: float = NOISE) -> Array:
    """Return a slow wave with noise around `level`: fills about a twentieth of a plot of 20 such curves."""
    rng = np.random.default_rng(seed)
    return level + 1.5 * np.sin(np.arange(count) * (2 * np.pi / count) * (1 + seed % 5)) + rng.normal(0, noise, count)


def line_spec(key: str, count: int) -> ChartSpec:
    """Return a chart of `count` lines."""
    return ChartSpec(key, key, tuple(CurveSpec(f"c{i}", f"c{i}", i) for i in range(count)))


def one_point(at: float, value: float) -> Series:
    """Return a series of one sample."""
    return Series("tail", np.array([at]), np.array([value]))


def frame_ms(change: Callable[[int], None], paint: Callable[[], None], frames: int) -> float:
    """Return the median CPU time of a change with its painting, in ms."""
    spent = []
    for step in range(frames):
        begun = time.process_time()
        change(step)
        paint()
        spent.append((time.process_time() - begun) * 1e3)
    return float(np.median(spent))


class BareChart(QWidget):
    """The least a hand-written chart does: numpy's min and max per pixel column, a polyline a curve, grid, words."""

    def __init__(self, curves: Sequence[tuple[QRectF, Array, Array]], rects: Sequence[QRectF], top: float) -> None:
        super().__init__()
        self.curves = list(curves)
        self.start, self.end, self.top = 0.0, 1.0, top
        self._rects = tuple(rects)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def append(self, at: float, values: Sequence[float]) -> None:
        """Add a sample to each curve: shift by one, in place."""
        for (_, t, y), value in zip(self.curves, values, strict=True):
            t[:-1], y[:-1] = t[1:], y[1:]
            t[-1], y[-1] = at, value

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint all curves."""
        del event
        painter = QPainter(self)
        painter.fillRect(self.rect(), current_theme().panel)
        for rect in self._rects:
            self._axes(painter, rect)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for number, (rect, t, y) in enumerate(self.curves):
            painter.setPen(QPen(curve_color(number), 1))
            painter.setClipRect(rect)
            painter.drawPolyline(self._line(rect, t, y))

    def _line(self, rect: QRectF, t: Array, y: Array) -> object:
        first, last = np.searchsorted(t, (self.start, self.end))
        t, y = t[first:last], y[first:last]
        width = max(2, int(rect.width()))
        edges = np.linspace(self.start, self.end, width, endpoint=False)
        starts = np.searchsorted(t, edges)
        low, high = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
        odd = np.arange(len(starts)) % 2 == 1  # turn every other column: neighbours join at their ends, fewer pixels
        low[odd], high[odd] = high[odd], low[odd]
        x = np.repeat(rect.left() + (t[starts] - self.start) * (rect.width() / (self.end - self.start)), 2)
        made = pg.functions.create_qpolygonf(2 * len(starts))
        memory = pg.functions.ndarray_from_qpolygonf(made)
        memory[:, 0] = x
        scale = rect.height() / self.top
        memory[0::2, 1], memory[1::2, 1] = rect.bottom() - low * scale, rect.bottom() - high * scale
        return made

    def _axes(self, painter: QPainter, rect: QRectF) -> None:
        for part in range(5):
            y = rect.bottom() - part * rect.height() / 4
            painter.setPen(current_theme().divider)
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
            painter.setPen(current_theme().third)
            box = QRectF(rect.left() - 52, y - 9, 44, 18)
            painter.drawText(
                box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{part * self.top / 4:g}"
            )
        for part in range(1, 5):
            x = rect.left() + part * rect.width() / 5
            painter.drawText(QRectF(x - 40, rect.bottom() + 3, 80, 16), Qt.AlignmentFlag.AlignCenter, f"02:{part * 10}")

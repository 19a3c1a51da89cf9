"""Synthetic series and specifications for the chart tests; they prove drawing only, never what a server does."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from services.series import Array, Series
from widgets.charts.model import ChartSpec, CurveSpec
from widgets.charts.page import ChartsPage

NOW = 1_795_200_000.0


def series(values: Array | list[float], step: float = 1.0, end: float = NOW, **more: object) -> Series:
    """Return values that end at `end`, one each `step` seconds."""
    value = np.asarray(values, dtype=np.float64)
    t = end - step * np.arange(len(value) - 1, -1, -1)
    return Series("test", t, value, step_s=step, **more)  # type: ignore[arg-type]


def spec(key: str = "flow", curves: int = 1, **more: object) -> ChartSpec:
    """Return a chart of lines in percent, named db1, db2, ..."""
    lines = tuple(CurveSpec(f"db{i + 1}", f"db{i + 1}", i) for i in range(curves))
    settings: dict[str, object] = {"title": "Flow control", "subtitle": "share of each second paused", "unit": "%"}
    return ChartSpec(key=key, curves=lines, **{**settings, **more})  # type: ignore[arg-type]


def image_of(widget: QWidget) -> QImage:
    """Return what the widget paints."""
    return widget.grab().toImage()


def near(a: QColor, b: QColor, most: int = 90) -> bool:
    """Return whether two colours look alike (antialiasing mixes a curve with its ground)."""
    return abs(a.red() - b.red()) + abs(a.green() - b.green()) + abs(a.blue() - b.blue()) <= most


def columns_with(image: QImage, color: QColor, top: float, bottom: float) -> set[int]:
    """Return the pixel columns between two heights in which a colour is seen."""
    return {
        x
        for x in range(image.width())
        if any(near(image.pixelColor(x, y), color) for y in range(int(top), int(bottom)))
    }


def highest(image: QImage, color: QColor, left: float, right: float) -> int:
    """Return the topmost pixel row between two columns that has the colour (the image's height: none)."""
    for y in range(image.height()):
        if any(near(image.pixelColor(x, y), color) for x in range(int(left), int(right))):
            return y
    return image.height()


def settle(qtbot: QtBot) -> None:
    """Wait until every chart in sight has read its newest data, had its turn and been painted."""
    qtbot.wait(90)
    pages = [page for page in QApplication.allWidgets() if isinstance(page, ChartsPage)]
    qtbot.waitUntil(lambda: not any(page.painting for page in pages if page.isVisible()), timeout=30_000)
    for _ in range(3):
        QApplication.processEvents()  # what a turn changed is painted in the next

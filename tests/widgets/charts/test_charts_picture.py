"""A plot's picture that was moved and painted at its end only is, pixel by pixel, the one painted as a whole.

A test run takes each length of the view and each look of it once; `test everything` takes every pair.
"""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from services.events import Event
from services.types import Health
from tests.widgets.chart_data import NOW, series, spec
from widgets.charts.model import ChartSpec, CurveSpec, LimitLine
from widgets.charts.plots.paint import StillPainter
from widgets.charts.plots.picture import Picture
from widgets.charts.plots.state import PlotState
from widgets.common.look.theme import apply_theme

WIDTH, HEIGHT, POINTS = 640, 164, 4000
FRAME = QRectF(60, 8, WIDTH - 76, HEIGHT - 28)
SPANS, LOOKS = (60.0, 300.0, 900.0, 3600.0), (("light", 1.0), ("dark", 1.0), ("light", 2.0))
CASES = [
    pytest.param(span, *look, marks=[] if number % len(LOOKS) == at else [pytest.mark.long])
    for number, span in enumerate(SPANS)
    for at, look in enumerate(LOOKS)
]
LEAST_OF_255 = 3
"""A line's place is rounded to a part of a pixel: its edge may be so much lighter."""

Painted = list[float | None]


def state_of(chart: ChartSpec, span: float) -> PlotState:
    """Return a plot's state full of samples until NOW."""
    state = PlotState(chart)
    rng = np.random.default_rng(7)
    for number, track in enumerate(state.tracks.values()):
        track.replace(series(20.0 + 10 * number + rng.normal(0, 2, POINTS)))
    state.start, state.end = NOW - span, NOW
    return state


def pixels(picture: Picture) -> np.ndarray:
    """Return a picture's bytes."""
    image = picture.pixmap.toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), dtype=np.uint8).astype(np.int16)


def second(state: PlotState, number: int, span: float, value: float = 25.0) -> None:
    """Let a sample come and the view move on."""
    for row, track in enumerate(state.tracks.values()):
        track.append(series([value + 10 * row + number % 3], end=NOW + number))
    state.start, state.end = NOW + number - span, NOW + number


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> Painted:
    """Return the list of pixels from which on pictures are painted from now on, None: all."""
    found: Painted = []
    paint = StillPainter.paint

    def noted(self: StillPainter, new_from: float | None = None) -> None:
        found.append(new_from)
        paint(self, new_from)

    monkeypatch.setattr(StillPainter, "paint", noted)
    return found


def show(picture: Picture, state: PlotState, ratio: float = 1.0) -> np.ndarray:
    """Paint the newest state and return what is seen."""
    picture.paint(state, FRAME, QSize(round(WIDTH * ratio), round(HEIGHT * ratio)), ratio)
    return pixels(picture)


@pytest.mark.parametrize(("span", "theme", "ratio"), CASES)
def test_that_a_moved_picture_is_the_one_painted_as_a_whole(
    qapp: QApplication, painted: Painted, span: float, theme: str, ratio: float
) -> None:
    apply_theme(qapp, theme)  # type: ignore[arg-type]
    chart = spec(curves=3, unit="ms")
    state, moved = state_of(chart, span), Picture()
    for number in range(24):
        second(state, number, span, value=25.0 if number != 17 else float("nan"))
        seen = show(moved, state, ratio)
        whole = show(Picture(), state, ratio)
        assert np.abs(seen - whole).max() <= LEAST_OF_255, number
    apply_theme(qapp, "light")
    assert sum(left is not None for left in painted[0::2]) >= 18


def test_that_a_value_which_came_late_is_painted_where_it_belongs(qapp: QApplication, painted: Painted) -> None:
    apply_theme(qapp, "light")
    state, picture = state_of(spec(curves=2), 900.0), Picture()
    show(picture, state)
    for track in state.tracks.values():
        values = track.value.copy()
        values[-700:-680] = 1.0
        track.replace(series(values))
    seen = show(picture, state)
    assert np.array_equal(seen, show(Picture(), state))
    assert painted[1] is None


def test_that_a_picture_with_what_is_not_a_line_is_painted_as_a_whole(qapp: QApplication, painted: Painted) -> None:
    apply_theme(qapp, "light")
    limited = spec(limits=(LimitLine("limit", 30.0, "warn"),))
    banded = ChartSpec("b", "b", (CurveSpec("db1", "db1", 0, band=True),))
    for chart in (limited, banded, spec(curves=2, kind="stack"), spec()):
        state, picture = state_of(chart, 900.0), Picture()
        if chart == spec():
            state.events = (Event(NOW - 100, "state", "db1", Health.BAD, "state", "went down"),)
        for number in range(3):
            second(state, number, 900.0)
            show(picture, state)
    assert painted == [None] * 12


def test_that_another_scale_theme_size_or_curve_paints_all(qapp: QApplication, painted: Painted) -> None:
    apply_theme(qapp, "light")
    state, picture = state_of(spec(curves=2), 900.0), Picture()
    show(picture, state)
    apply_theme(qapp, "dark")
    show(picture, state)
    apply_theme(qapp, "light")
    show(picture, state, 2.0)
    show(picture, state)
    state.isolated = "db1"
    show(picture, state)
    state.isolated = ""
    second(state, 1, 900.0, value=5000.0)
    show(picture, state)
    assert painted == [None] * 6

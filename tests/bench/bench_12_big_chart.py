"""Budget 12: one chart of 20 curves x 86,400 points (a day at 1 Hz), panned, zoomed and appended to."""

from __future__ import annotations

import time

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from services.series import Series
from tests.bench.model import Row, paired
from tests.bench.support.plotting import AT, NOISE, BareChart, application, frame_ms, line_spec, noisy, one_point
from widgets.charts.plots.plot import Plot

CURVES, POINTS, SIZE = 20, 86_400, (1200, 800)
TOP = 66.0
FRAMES = 12
LIVE_S = 6.0


class _Sides:
    """The shipped plot, the bare painter and pyqtgraph's defaults over the same data."""

    def __init__(self) -> None:
        t = np.arange(POINTS) + AT - POINTS + 1
        values = [noisy(seed, POINTS, 3.0 + 3 * seed) for seed in range(CURVES)]
        self.plot = Plot(line_spec("day", CURVES))
        self.plot.resize(*SIZE)
        for number, value in enumerate(values):
            self.plot.set_series(f"c{number}", Series("bench", t, value))
        frame = self.plot.frame_rect()
        self.bare = BareChart([(frame, t.copy(), value.copy()) for value in values], [frame], TOP)
        self.bare.resize(*SIZE)
        self.default = pg.PlotWidget()
        self.default.resize(*SIZE)
        for number, value in enumerate(values):
            self.default.plot(t, value, pen=pg.intColor(number))
        self.show(AT - POINTS, AT)
        for widget in (self.plot, self.bare, self.default):
            widget.show()
        QApplication.processEvents()

    def show(self, start: float, end: float) -> None:
        """Show a span on all sides."""
        self.view_plot(start, end)
        self.view_bare(start, end)
        self.default.setXRange(start, end, padding=0)

    def view_plot(self, start: float, end: float) -> None:
        """Show a span in the shipped plot."""
        self.plot.set_view(start, end)

    def view_bare(self, start: float, end: float) -> None:
        """Show a span in the bare chart."""
        self.bare.start, self.bare.end = start, end

    def close(self) -> None:
        """Let everything go."""
        for widget in (self.plot, self.bare, self.default):
            widget.close()
            widget.deleteLater()
        QApplication.processEvents()


def _pan(step: int) -> tuple[float, float]:
    return AT - POINTS + 600 * step, AT - POINTS / 4 + 600 * step


def _zoom(step: int) -> tuple[float, float]:
    return AT - POINTS * 0.9**step, AT


def run(rounds: int) -> list[Row]:
    """Measure pan and zoom against both, then the live plot's CPU."""
    application()
    sides = _Sides()
    rows: list[Row] = []
    for part, name, view in (("a", "pan", _pan), ("b", "zoom", _zoom)):

        def ours(view=view) -> float:
            return frame_ms(lambda step: sides.view_plot(*view(step)), sides.plot.paint_now, FRAMES)

        def bare(view=view) -> float:
            return frame_ms(lambda step: sides.view_bare(*view(step)), sides.bare.repaint, FRAMES)

        ratio, mine, limit = paired(ours, bare, rounds)
        title = f"{name} 20 x 86,400 points, frame against bare QPainter"
        rows.append(Row(12, part, title, ratio, 1.2, detail=f"{mine:.1f} : {limit:.1f} ms CPU, {rounds} rounds"))

    rows.append(_against_defaults(sides, rounds))
    shares = [_live_share(sides.plot) for _ in range(max(1, min(3, rounds)))]
    rows.append(
        Row(
            12,
            "d",
            "append to a day of 20 curves at 10 Hz, share of a core",
            float(np.median(shares)),
            10.0,
            unit="%",
            detail=f"real event loop, {LIVE_S:g} s each, {len(shares)} rounds; changes < 0.1 pixel painted at 5 Hz",
        )
    )
    sides.close()
    return rows


def _against_defaults(sides: _Sides, rounds: int) -> Row:
    def ours() -> float:
        return frame_ms(lambda step: sides.view_plot(*_day(step)), sides.plot.paint_now, FRAMES)

    def theirs() -> float:
        change = lambda step: sides.default.setXRange(*_day(step), padding=0)  # noqa: E731
        return frame_ms(change, QApplication.processEvents, max(3, FRAMES // 3))

    ratio, mine, limit = paired(ours, theirs, rounds)
    detail = f"{mine:.1f} : {limit:.1f} ms CPU, pyqtgraph {pg.__version__}, {rounds} rounds"
    return Row(12, "c", "pan a whole day, frame against pyqtgraph's defaults", ratio, 0.15, detail=detail)


def _day(step: int) -> tuple[float, float]:
    return AT - POINTS - 60 * step, AT - 60 * step


def _live_share(plot: Plot) -> float:
    """Return the CPU share in percent while samples come at 10 Hz and each is painted."""
    state = {"at": max(track.last_at for track in plot.state.tracks.values()), "beats": 0}
    rng = np.random.default_rng(5)
    plot.set_view(state["at"] - POINTS, state["at"])

    def beat() -> None:
        state["at"] += 1.0
        state["beats"] += 1
        for number, value in enumerate(rng.normal(0, NOISE, CURVES)):
            plot.append(f"c{number}", one_point(state["at"], 3.0 + 3 * number + value))
        plot.set_view(state["at"] - POINTS, state["at"])

    QApplication.processEvents()
    timer, loop = QTimer(), QEventLoop()
    timer.timeout.connect(beat)
    timer.start(100)
    QTimer.singleShot(int(LIVE_S * 1000), loop.quit)
    wall, cpu = time.perf_counter(), time.process_time()
    loop.exec()
    share = (time.process_time() - cpu) / (time.perf_counter() - wall) * 100
    timer.stop()
    return share * (LIVE_S * 10) / max(1, state["beats"])  # beats that came late count as if they had come

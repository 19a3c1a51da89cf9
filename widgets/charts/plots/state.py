"""All that one plot paints from: specification, tracks, view, marks. Computes shapes and scales once per change."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from services.events import Event
from services.i18n import tr
from widgets.charts.compare.marks import MarkedSpan
from widgets.charts.model import ChartSpec, CurveSpec
from widgets.charts.plots.shapes import Pile, Shape, line_shape, pile_shape, step_shape
from widgets.charts.plots.track import Track
from widgets.charts.scales import Scale, make_scale, right_scale

# A scale shrinks only when the data fill less than this share of it: it must not breathe with every sample.
_SHRINK_BELOW = 0.42
_ROUNDED = 1.0 + 1e-6
"""Shares of a whole sum up to 100.00000000000001 %: that is no more than the whole."""
_INTERVAL_PX, _LEAST_INTERVALS, _MOST_INTERVALS = 32.0, 2, 8


class PlotState:
    """The state of one plot (GUI thread only)."""

    def __init__(self, spec: ChartSpec) -> None:
        self.spec = spec
        self.tracks: dict[str, Track] = {curve.key: Track() for curve in spec.curves}
        self.start, self.end = 0.0, 1.0
        self.isolated = ""
        self.events: Sequence[Event] = ()
        self.marks: tuple[MarkedSpan, ...] = ()  # stretches of time that are being compared
        self.silence = ""  # why no sample comes now: a host without an answer, or without the way in that it takes
        self.shapes: list[tuple[CurveSpec, Shape]] = []
        self.pile: tuple[list[CurveSpec], Pile] | None = None
        self.restarts: tuple[tuple[float, str], ...] = ()
        self.left = make_scale(0.0, 1.0, spec.unit)
        self.right: Scale | None = None
        self._peaks: dict[str, float] = {}

    def drawn_curves(self) -> list[CurveSpec]:
        """Return the curves in sight: all with a line, or the isolated one."""
        curves = [curve for curve in self.spec.curves if curve.drawing != "none"]
        return [c for c in curves if c.key == self.isolated] or curves

    def message(self) -> str:
        """Return the words that stand instead of a plot, '' when there is something to plot."""
        if not self.spec.curves:
            return self.silence or self.spec.empty or tr("Nothing to plot")
        tracks = [self.tracks[c.key] for c in self.spec.curves if c.drawing != "none"]
        if tracks and all(track.missing for track in tracks):
            return self.silence or tracks[0].missing
        if not any(len(track) for track in tracks):
            if self.silence:
                return self.silence
            known = all(track.known for track in tracks)
            return (
                tr("No samples in this time span")
                if known and self.has_history()
                else tr("Waiting for the first sample…")
            )
        return ""

    def has_history(self) -> bool:
        """Return whether the view ends well before the newest data could be: then waiting would be no answer."""
        return any(track.known and not len(track) and track.step_s > 1.5 for track in self.tracks.values())

    def find_restarts(self) -> None:
        """Find the restarts in sight with their words: who it was is said where the curves are of several."""
        if not any(track.restarts for track in self.tracks.values()):
            self.restarts = ()
            return
        seen: dict[float, str] = {}
        for curve in self.drawn_curves():
            for at in self.tracks[curve.key].restarts:
                if self.start <= at <= self.end:
                    seen.setdefault(at, curve.label)
        single = len({track.restarts for track in self.tracks.values()}) == 1
        found = sorted(seen.items())
        self.restarts = tuple(
            (at, tr("restart") if single else tr("{label} restarted", label=who)) for at, who in found
        )

    def prepare(self, pixels: int, height: float) -> None:
        """Compute shapes for a plot `pixels` wide, then the scales that hold them and have ticks for `height`."""
        curves = self.drawn_curves()
        self.shapes, self.pile = [], None
        if self.spec.kind == "stack" and not self.isolated:
            piled = [c for c in curves if not self.tracks[c.key].missing]
            if piled:
                tracks = [self.tracks[c.key] for c in piled]
                self.pile = (piled, pile_shape(tracks, self.start, self.end, pixels))
        else:
            self.shapes = [(curve, self._shape(curve, pixels)) for curve in curves]
        self._scale(max(_LEAST_INTERVALS, min(_MOST_INTERVALS, round(height / _INTERVAL_PX))))

    def _shape(self, curve: CurveSpec, pixels: int) -> Shape:
        track = self.tracks[curve.key]
        if curve.drawing == "step" and not track.banded:
            return step_shape(track, self.start, self.end)
        return line_shape(track, self.start, self.end, pixels, band=curve.band)

    def _scale(self, intervals: int) -> None:
        spec = self.spec
        low, high = self._extent("left")
        bottom = spec.y_min if spec.y_min is not None else min(low, 0.0 if low >= 0 and low < 0.5 * high else low)
        if not math.isfinite(bottom):
            bottom = 0.0
        high = max([high, *(line.value for line in spec.limits)]) if math.isfinite(high) else high
        if spec.y_max is not None and not (math.isfinite(high) and high > spec.y_max * _ROUNDED):
            self.left = make_scale(bottom, spec.y_max, spec.unit, fixed_high=True, intervals=intervals)
        else:
            self.left = make_scale(bottom, self._calm("left", high), spec.unit, intervals=intervals)
        self.right = None
        if spec.has_right:
            _, high = self._extent("right")
            top = self._calm("right", high) if spec.right_max is None else max(spec.right_max, np.nan_to_num(high))
            self.right = right_scale(self.left, top, spec.right_unit)

    def _calm(self, side: str, high: float) -> float:
        """Return the top that the scale must hold; the former one while the data still fill a good part of it."""
        if not math.isfinite(high) or high <= 0:
            return self._peaks.get(side, 0.0) if not math.isfinite(high) else 0.0
        former = self._peaks.get(side, 0.0)
        if not _SHRINK_BELOW * former <= high <= former:
            self._peaks[side] = high
        return self._peaks[side]

    def _extent(self, side: str) -> tuple[float, float]:
        if self.pile is not None and side == "left":
            top = self.pile[1].tops[-1]
            finite = top[np.isfinite(top)]
            return (0.0, float(finite.max())) if len(finite) else (math.nan, math.nan)
        extents = [shape.extent(self.start, self.end) for curve, shape in self.shapes if curve.axis == side]
        known = [pair for pair in extents if math.isfinite(pair[0])]
        if not known:
            return math.nan, math.nan
        return min(pair[0] for pair in known), max(pair[1] for pair in known)

    def scale_of(self, curve: CurveSpec) -> Scale:
        """Return the scale a curve is drawn on."""
        return self.right if curve.axis == "right" and self.right is not None else self.left

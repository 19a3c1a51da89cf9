"""One curve of a run as a drawing: gaps as gaps, the limit with its words, a mark where each step began."""

from __future__ import annotations

from math import ceil, floor, isfinite, log10
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from services.discovery.words import number, size
from services.procedures.plan.model import Chart
from services.procedures.report.blocks import Grid, Picture
from services.procedures.report.style import INK
from services.procedures.report.time import LEFT, RIGHT, WIDTH, Axis, axis_words, grouped, upright
from services.procedures.report.topology import new_svg, put_text
from services.series import Array, Series
from services.words import tr

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = WIDTH, 132.0, LEFT, RIGHT, 14.0, 24.0
_MOST_POINTS = 1_200
_CURVE, _LIMIT, _GRID = INK["curve"], INK["bad"], INK["divider"]
Mark = tuple[float, str]
"""When a step began (UTC epoch seconds) and its number in the plan."""
_MOST = 1e300
"""An axis ends there: beyond it the arithmetic of its lines overflows."""


def plot_picture(chart: Chart, series: Series, axis: Axis, marks: tuple[Mark, ...], unit: str) -> Picture:
    """Return a chart of the run over the axis' time, with the least, mean and largest value as a table."""
    t, values = _thinned(series.t, series.value)
    shown = values[np.isfinite(values)]
    svg = new_svg(_WIDTH, _HEIGHT, chart.title)
    if not len(shown):
        reason = series.missing or tr("nothing was sampled")
        put_text(
            svg, (_LEFT, _HEIGHT / 2), tr("No samples: {reason}", reason=reason), font_size="12", fill=INK["third"]
        )
        return Picture(chart.title, svg, Grid((), ((tr("No samples"), reason),)))
    limits = [] if chart.limit is None else [chart.limit]
    low, high, step = _axis(min([float(shown.min()), *limits, 0.0]), max([float(shown.max()), *limits]))
    scale = _Scale(axis, (low, high))
    _grid(svg, scale, step, unit)
    within = tuple(mark for mark in marks if axis.start <= mark[0] <= axis.end)
    _marks(svg, scale, within)
    for piece in _pieces(t, values, scale):
        SubElement(svg, "path", {"d": piece, "fill": "none", "stroke": _CURVE, "stroke-width": "1.5"})
    if chart.limit is not None:
        _limit(svg, scale, chart)
    _numbers(svg, scale, within)
    whole = series.value[np.isfinite(series.value)]
    figures = tuple(said(float(f), unit) for f in (whole.min(), whole.mean(), whole.max(), whole[-1]))
    return Picture(chart.title, svg, Grid((tr("Least"), tr("Mean"), tr("Largest"), tr("Last")), (figures,)))


class _Scale:
    """From time and value to the drawing's units."""

    def __init__(self, axis: Axis, values: tuple[float, float]) -> None:
        self.axis, self.values = axis, values

    def x(self, t: float) -> float:
        """Return where a moment is."""
        return self.axis.x(t)

    def y(self, value: float) -> float:
        """Return where a value is."""
        low, high = self.values
        return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)


def said(value: float, unit: str) -> str:
    """Return a value with its unit: bytes in SI units, anything else with three figures."""
    if unit in ("B", "B/s"):
        return size(value) + unit[1:]
    return f"{number(float(f'{value:.3g}') if abs(value) < 1000 else float(round(value)))} {unit}".strip()


def _axis(low: float, high: float) -> tuple[float, float, float]:
    """Return the axis' ends and the distance of its lines: 1, 2 or 5 times a power of ten, about four lines."""
    low, high = max(low, -_MOST), min(high, _MOST)
    if low == high == 0.0:
        high = 1.0  # nothing but zeros: an axis from 0 to 0 says nothing
    raw = max(high - low, abs(low) * 1e-6, 1e-9) / 4
    power = 10.0 ** floor(log10(raw))
    step = next((m * power for m in (1.0, 2.0, 5.0) if m * power >= raw), 10.0 * power)
    bottom = floor(low / step) * step
    return bottom, bottom + max(1, ceil((high - bottom) / step)) * step, step


def _grid(svg: Element, scale: _Scale, step: float, unit: str) -> None:
    low, high = scale.values
    for i in range(round((high - low) / step) + 1):
        y = scale.y(low + i * step)
        line = {"x1": f"{_LEFT:g}", "x2": f"{_WIDTH - _RIGHT:g}", "y1": f"{y:.1f}", "y2": f"{y:.1f}"}
        SubElement(svg, "line", {**line, "stroke": _GRID})
        label = said(low + i * step, unit)
        put_text(svg, (_LEFT - 8, y + 4), label, font_size="11", fill=INK["third"], text_anchor="end")
    upright(svg, scale.axis, _TOP, _HEIGHT - _BOTTOM)
    axis_words(svg, scale.axis, _HEIGHT - 8)


def _marks(svg: Element, scale: _Scale, marks: tuple[Mark, ...]) -> None:
    for at, _ in marks:
        x = f"{scale.x(at):.1f}"
        ends = {"x1": x, "x2": x, "y1": f"{_TOP:g}", "y2": f"{_HEIGHT - _BOTTOM:g}"}
        SubElement(svg, "line", {**ends, "stroke": INK["stale"], "stroke-dasharray": "2 3"})


def _numbers(svg: Element, scale: _Scale, marks: tuple[Mark, ...]) -> None:
    """Put the steps' numbers over everything; a halo keeps them readable where a limit or a curve runs through them."""
    halo = {"stroke": INK["panel"], "stroke_width": "3", "paint_order": "stroke"}
    for x, label in grouped([(scale.x(at), label) for at, label in marks]):
        put_text(svg, (x + 3, _TOP + 8), label, font_size="10", fill=INK["third"], **halo)


def _limit(svg: Element, scale: _Scale, chart: Chart) -> None:
    y = scale.y(chart.limit or 0.0)
    ends = {"x1": f"{_LEFT:g}", "x2": f"{_WIDTH - _RIGHT:g}", "y1": f"{y:.1f}", "y2": f"{y:.1f}"}
    SubElement(svg, "line", {**ends, "stroke": _LIMIT, "stroke-dasharray": "6 4"})
    put_text(svg, (_WIDTH - _RIGHT, y - 4), chart.limit_text, font_size="11", fill=_LIMIT, text_anchor="end")


def _pieces(t: Array, values: Array, scale: _Scale) -> list[str]:
    """Return one path for each stretch without a gap; a lone point is a short dash."""
    pieces: list[list[str]] = [[]]
    for at, value in zip(t.tolist(), values.tolist(), strict=True):
        if isfinite(value):
            pieces[-1].append(f"{scale.x(at):.1f} {scale.y(value):.1f}")
        elif pieces[-1]:
            pieces.append([])
    return [f"M{' L'.join(piece)}" if len(piece) > 1 else f"M{piece[0]} h1.5" for piece in pieces if piece]


def _thinned(t: Array, values: Array) -> tuple[Array, Array]:
    """Return at most about `_MOST_POINTS` points: of each bucket its least and its largest, so that no peak is lost."""
    if len(t) <= _MOST_POINTS:
        return t, values
    kept: list[int] = []
    for bucket in np.array_split(np.arange(len(t)), _MOST_POINTS // 2):
        part = values[bucket]
        if np.isfinite(part).any():
            kept += sorted({int(bucket[np.nanargmin(part)]), int(bucket[np.nanargmax(part)])})
        else:
            kept.append(int(bucket[0]))
    return t[kept], values[kept]

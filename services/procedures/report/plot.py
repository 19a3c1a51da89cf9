"""One curve of a run as a drawing: gaps as gaps, the limit with its words, a mark where each step began."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from services.discovery.words import number, size
from services.drawing.curve import Frame, Point, ValueAxis, value_axis
from services.drawing.thinning import thinned
from services.i18n import tr
from services.procedures.plan.model import Chart
from services.procedures.report.blocks import Grid, Picture
from services.procedures.report.style import INK
from services.procedures.report.time import LEFT, RIGHT, WIDTH, Axis, axis_words, grouped, upright
from services.procedures.report.topology import new_svg, put_text
from services.series import Series

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = WIDTH, 132.0, LEFT, RIGHT, 14.0, 24.0
_MOST_POINTS, _INTERVALS = 1_200, 4
_CURVE, _LIMIT, _GRID = INK["curve"], INK["bad"], INK["divider"]
Mark = tuple[float, str]
"""When a step began (UTC epoch seconds) and its number in the plan."""


def plot_picture(chart: Chart, series: Series, axis: Axis, marks: tuple[Mark, ...], unit: str) -> Picture:
    """Return a chart of the run over the axis' time, with the least, mean and largest value as a table."""
    t, values = thinned(series.t, series.value, _MOST_POINTS)
    shown = values[np.isfinite(values)]
    svg = new_svg(_WIDTH, _HEIGHT, chart.title)
    if not len(shown):
        reason = series.missing or tr("no samples were taken")
        put_text(
            svg, (_LEFT, _HEIGHT / 2), tr("No samples: {reason}", reason=reason), font_size="12", fill=INK["third"]
        )
        return Picture(chart.title, svg, Grid((), ((tr("No samples"), reason),)))
    limits = [] if chart.limit is None else [chart.limit]
    lines = value_axis(min([float(shown.min()), *limits, 0.0]), max([float(shown.max()), *limits]), _INTERVALS)
    frame = axis.frame(_TOP, _HEIGHT - _BOTTOM, (lines.low, lines.high))
    _grid(svg, axis, frame, lines, unit)
    within = tuple(mark for mark in marks if frame.holds(mark[0]))
    _marks(svg, frame, within)
    for piece in _pieces(frame.lines(t.tolist(), values.tolist())):
        SubElement(svg, "path", {"d": piece, "fill": "none", "stroke": _CURVE, "stroke-width": "1.5"})
    if chart.limit is not None:
        _limit(svg, frame, chart)
    _numbers(svg, frame, within)
    whole = series.value[np.isfinite(series.value)]
    figures = tuple(said(float(f), unit) for f in (whole.min(), whole.mean(), whole.max(), whole[-1]))
    return Picture(chart.title, svg, Grid((tr("Least"), tr("Mean"), tr("Largest"), tr("Last")), (figures,)))


def said(value: float, unit: str) -> str:
    """Return a value with its unit: bytes in SI units, anything else with three figures."""
    if unit in ("B", "B/s"):
        return size(value) + unit[1:]
    return f"{number(float(f'{value:.3g}') if abs(value) < 1000 else float(round(value)))} {unit}".strip()


def _grid(svg: Element, axis: Axis, frame: Frame, lines: ValueAxis, unit: str) -> None:
    for value in lines.lines:
        y = frame.y(value)
        line = {"x1": f"{_LEFT:g}", "x2": f"{_WIDTH - _RIGHT:g}", "y1": f"{y:.1f}", "y2": f"{y:.1f}"}
        SubElement(svg, "line", {**line, "stroke": _GRID})
        put_text(svg, (_LEFT - 8, y + 4), said(value, unit), font_size="11", fill=INK["third"], text_anchor="end")
    upright(svg, axis, _TOP, _HEIGHT - _BOTTOM)
    axis_words(svg, axis, _HEIGHT - 8)


def _marks(svg: Element, frame: Frame, marks: tuple[Mark, ...]) -> None:
    for at, _ in marks:
        x = f"{frame.x(at):.1f}"
        ends = {"x1": x, "x2": x, "y1": f"{_TOP:g}", "y2": f"{_HEIGHT - _BOTTOM:g}"}
        SubElement(svg, "line", {**ends, "stroke": INK["stale"], "stroke-dasharray": "2 3"})


def _numbers(svg: Element, frame: Frame, marks: tuple[Mark, ...]) -> None:
    """Put the steps' numbers over everything; a halo keeps them readable where a limit or a curve runs through them."""
    halo = {"stroke": INK["panel"], "stroke_width": "3", "paint_order": "stroke"}
    for x, label in grouped([(frame.x(at), label) for at, label in marks]):
        put_text(svg, (x + 3, _TOP + 8), label, font_size="10", fill=INK["third"], **halo)


def _limit(svg: Element, frame: Frame, chart: Chart) -> None:
    y = frame.y(chart.limit or 0.0)
    ends = {"x1": f"{_LEFT:g}", "x2": f"{_WIDTH - _RIGHT:g}", "y1": f"{y:.1f}", "y2": f"{y:.1f}"}
    SubElement(svg, "line", {**ends, "stroke": _LIMIT, "stroke-dasharray": "6 4"})
    put_text(svg, (_WIDTH - _RIGHT, y - 4), chart.limit_text, font_size="11", fill=_LIMIT, text_anchor="end")


def _pieces(stretches: Iterable[list[Point]]) -> Iterator[str]:
    """Give one path for each stretch without a gap; a lone point is a short dash."""
    for stretch in stretches:
        words = [f"{x:.1f} {y:.1f}" for x, y in stretch]
        yield f"M{' L'.join(words)}" if len(words) > 1 else f"M{words[0]} h1.5"

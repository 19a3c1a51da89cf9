"""The charts page as data (resources/charts.toml): which metrics stand on which card, with limits and bands.

Field names and meanings are those of the window's chart widget (title, subtitle, unit, kind, axis, drawing, band,
hint), so that the window only fills in nodes and colours. Formulas among the metrics are checked when the file is read.
A chart that can't be used costs nobody the others.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from services.errors import BadInput
from services.i18n import tr
from services.sampling.metrics.catalogue import Catalogue, load_catalogue

Scope = Literal["node", "all"]


@dataclass(frozen=True, slots=True)
class CurveTemplate:
    """One curve, or (in a chart of all nodes) one per node: then `label` holds {node}; of each device: {device}.

    `metric`: a key of the catalogue or a formula. `drawing` "none" shows the value in the legend only.
    """

    metric: str
    label: str
    color_index: int | None = None
    token: str = ""
    unit: str | None = None
    axis: Literal["left", "right"] = "left"
    drawing: Literal["line", "step", "none"] = "line"
    band: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class BandTemplate:
    """A tinted zone of the left scale, from and to a share of the chart's top (`y_max` or `y_max_metric`)."""

    label: str
    start_share: float
    end_share: float | None = None
    token: Literal["warn", "bad"] = "warn"  # noqa: S105 - a colour of the theme


@dataclass(frozen=True, slots=True)
class LimitTemplate:
    """A dashed line at `value` with its words."""

    label: str
    value: float
    token: Literal["warn", "bad"] = "warn"  # noqa: S105 - a colour of the theme


@dataclass(frozen=True, slots=True)
class ChartTemplate:
    """One card.

    Attributes:
        scope: "node" draws the selected node ({node} in the title), "all" every node of the cluster.
        each: of which devices of the node it has its curves; `metric` and `label` hold {device}.
        needs: a trait of the cluster's kind, or "replica": which nodes can have it; `empty` says what stands there
            when none can. never: a trait of kinds of which it can tell nothing.
        y_max: top of the left scale; `y_max_metric` takes it from the newest value of a metric ({capacity} in the
            subtitle is that value with its unit).
    """

    key: str
    title: str
    curve: tuple[CurveTemplate, ...]
    subtitle: str = ""
    unit: str = ""
    kind: Literal["stack", "lines"] = "lines"
    scope: Scope = "node"
    needs: str = ""
    never: str = ""
    right_unit: str = ""
    y_max: float | None = None
    y_max_metric: str = ""
    band: tuple[BandTemplate, ...] = ()
    limit: tuple[LimitTemplate, ...] = ()
    empty: str = ""
    hint: str = ""
    each: Literal["", "disk", "net"] = ""


@dataclass(frozen=True, slots=True)
class ChartsFile:
    """The charts that can be drawn, in the order of the file, and a sentence about each that can't."""

    charts: tuple[ChartTemplate, ...]
    faults: tuple[str, ...] = ()


@cache
def read_charts() -> ChartsFile:
    """Return the charts that come with the program, and what is wrong in their file; never raises for its content."""
    path = files("resources").joinpath("charts.toml")
    return parse_charts(path.read_text(encoding="utf-8"), load_catalogue(), str(path))


def load_charts() -> tuple[ChartTemplate, ...]:
    """Return the charts that come with the program and can be drawn, in the order of the page."""
    return read_charts().charts


def parse_charts(text: str, catalogue: Catalogue, file: str) -> ChartsFile:
    """Return the charts of a TOML text; one that can't be used is left out and told, by `file` and its key."""
    try:
        written = tomllib.loads(text).get("chart", [])
    except tomllib.TOMLDecodeError as problem:
        return ChartsFile((), (tr("{file} cannot be read: {problem}.", file=file, problem=problem),))
    charts: list[ChartTemplate] = []
    faults: list[str] = []
    for number, one in enumerate(written if isinstance(written, list) else [written], start=1):
        key = str(one.get("key", number)) if isinstance(one, dict) else str(number)
        try:
            charts.append(_usable(one, catalogue))
        except (msgspec.ValidationError, BadInput) as problem:
            told = _lacking(one) or str(problem).rstrip(".")
            sentence = tr('{file}: the chart "{key}" is left out: {problem}.', file=file, key=key, problem=told)
            faults.append(sentence)
    return ChartsFile(tuple(charts), tuple(faults))


def _usable(written: object, catalogue: Catalogue) -> ChartTemplate:
    """Return a chart as it was written; raise ValidationError or BadInput where it can't be used."""
    chart = msgspec.convert(written, ChartTemplate)
    if not chart.curve:
        raise BadInput(tr("it has no curve"))
    for metric in (*(c.metric for c in chart.curve), *((chart.y_max_metric,) if chart.y_max_metric else ())):
        if "(" in metric:
            catalogue.formula(metric)
        elif catalogue.metric(metric) is None:
            raise BadInput(tr("it names {metric!r}, which is not in the catalogue", metric=metric))
    return chart


def _lacking(written: object) -> str:
    """Return what a chart, else the first of its curves that lacks something, must have and has not; '' for nothing."""
    if not isinstance(written, dict):
        return ""
    if field := _first_lacking(ChartTemplate, written):
        return tr("it has no `{field}`", field=field)
    curves = written["curve"] if isinstance(written["curve"], list) else ()
    for n, curve in enumerate(curves, start=1):
        if isinstance(curve, dict) and (field := _first_lacking(CurveTemplate, curve)):
            return tr("its curve {n} has no `{field}`", n=n, field=field)
    return ""


def _first_lacking(template: type[ChartTemplate | CurveTemplate], written: Mapping[str, object]) -> str:
    needed = (field.name for field in fields(template) if field.default is MISSING)
    return next((name for name in needed if name not in written), "")

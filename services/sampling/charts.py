"""The charts page as data (resources/charts.toml): which metrics stand on which card, with limits and bands.

Field names and meanings are those of the window's chart widget (title, subtitle, unit, kind, axis, drawing, band,
hint), so that the window only fills in nodes and colours. Formulas among the metrics are checked when the file is read.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from services.errors import BadInput
from services.sampling.catalogue import Catalogue, load_catalogue
from services.words import tr

Scope = Literal["node", "all"]
Need = Literal["", "galera", "replica"]


@dataclass(frozen=True, slots=True)
class CurveTemplate:
    """One curve, or (in a chart of all nodes) one per node: then `label` holds {node}.

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
        needs: "galera" or "replica": which nodes can have it; `empty` says what stands there when none can.
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
    needs: Need = ""
    right_unit: str = ""
    y_max: float | None = None
    y_max_metric: str = ""
    band: tuple[BandTemplate, ...] = ()
    limit: tuple[LimitTemplate, ...] = ()
    empty: str = ""
    hint: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """resources/charts.toml as written."""

    chart: tuple[ChartTemplate, ...]


@cache
def load_charts() -> tuple[ChartTemplate, ...]:
    """Return the charts that come with the program, in the order of the page."""
    text = files("resources").joinpath("charts.toml").read_text(encoding="utf-8")
    return parse_charts(text, load_catalogue())


def parse_charts(text: str, catalogue: Catalogue) -> tuple[ChartTemplate, ...]:
    """Return the charts of a TOML text; raise BadInput when one can't be used."""
    try:
        charts = msgspec.convert(tomllib.loads(text), _File).chart
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as problem:
        raise BadInput(tr("The charts can't be read: {problem}.", problem=problem)) from problem
    for chart in charts:
        for metric in (*(c.metric for c in chart.curve), *((chart.y_max_metric,) if chart.y_max_metric else ())):
            if "(" in metric:
                catalogue.formula(metric)
            elif catalogue.metric(metric) is None:
                raise BadInput(
                    tr(
                        "The chart {key!r} names {metric!r}, which the catalogue does not have.",
                        key=chart.key,
                        metric=metric,
                    )
                )
    return charts

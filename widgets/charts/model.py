"""What a chart is, as data: curves, units, limits. Cheap to import; the caller decides colours by node.

Colours: `color_index` is the node's place in the palette of curves (the same on every page); `tone` instead names a
colour of the theme ("stale", "bad", ...) or one of the two greys of a processor that has time left: "iowait", "idle".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

ChartKind = Literal["stack", "lines"]
AxisSide = Literal["left", "right"]
Drawing = Literal["line", "step", "none"]


class SeriesLike(Protocol):
    """The part of services.series.Series that charts read (see there for shapes and units)."""

    @property
    def key(self) -> str: ...
    @property
    def t(self) -> Array: ...
    @property
    def value(self) -> Array: ...
    @property
    def minimum(self) -> Array | None: ...
    @property
    def maximum(self) -> Array | None: ...
    @property
    def p5(self) -> Array | None: ...
    @property
    def p95(self) -> Array | None: ...
    @property
    def restarts(self) -> tuple[float, ...]: ...
    @property
    def step_s(self) -> float: ...
    @property
    def missing(self) -> str: ...
    @property
    def lacks(self) -> str: ...


@dataclass(frozen=True, slots=True)
class CurveSpec:
    """One curve.

    Attributes:
        key: names the curve within its chart; the integrator maps it to a server and a metric.
        label: what the legend says (a node's name, a metric's title).
        color_index, tone: one of the two, see the module.
        unit: of the values, None takes the chart's (right axis: the chart's `right_unit`).
        axis: which scale it is drawn on.
        drawing: "line"; "step" for settings that jump; "none" shows the value in the legend only.
        band: smooth the line and show p5 to p95 around it even at full resolution (noisy curves such as lag).
        hint: what the number hides, for the tooltip.
    """

    key: str
    label: str
    color_index: int | None = None
    tone: str = ""
    unit: str | None = None
    axis: AxisSide = "left"
    drawing: Drawing = "line"
    band: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class LimitBand:
    """A zone of the left scale from `start` to `end` (None: to the top), tinted: `tone` "warn" or "bad"."""

    label: str
    start: float
    end: float | None = None
    tone: str = "warn"


@dataclass(frozen=True, slots=True)
class LimitLine:
    """A dashed line at `value` of the left scale with its words ("1 h, your limit")."""

    label: str
    value: float
    tone: str = "warn"


@dataclass(frozen=True, slots=True)
class ChartSpec:
    """One chart card.

    Attributes:
        key: names the chart on its page.
        title, subtitle: "CPU of db2", "available = idle + iowait".
        unit: of the left scale: "%", "B", "B/s", "1/s", "s", "ms", "h", "" (a count).
        kind: "stack" piles the curves up in their order from the bottom, "lines" lays them over one another.
        y_min, y_max: ends of the left scale; None follows the data (y_min never above zero for positive data).
        right_unit, right_max: the right scale, used when a curve asks for it.
        bands, limits: zones and lines that mean something.
        empty: words instead of a plot when no curve is given at all ("no asynchronous replica in this cluster").
        hint: what the chart hides, for the tooltip of its title.
    """

    key: str
    title: str
    curves: tuple[CurveSpec, ...]
    subtitle: str = ""
    unit: str = ""
    kind: ChartKind = "lines"
    y_min: float | None = 0.0
    y_max: float | None = None
    right_unit: str = ""
    right_max: float | None = None
    bands: tuple[LimitBand, ...] = ()
    limits: tuple[LimitLine, ...] = ()
    empty: str = ""
    hint: str = ""

    def curve_unit(self, curve: CurveSpec) -> str:
        """Return the unit of a curve's values."""
        if curve.unit is not None:
            return curve.unit
        return self.right_unit if curve.axis == "right" else self.unit

    @property
    def has_right(self) -> bool:
        """Return whether a drawn curve uses the right scale."""
        return any(c.axis == "right" and c.drawing != "none" for c in self.curves)

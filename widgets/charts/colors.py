"""From a curve's index or tone to its colours in the present theme."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPen

from services.types import Health
from widgets.charts.model import CurveSpec
from widgets.common.look.theme import Theme, curve_color, with_alpha

_EVENT_DASHES, _LIMIT_DASHES = (2.0, 3.0), (5.0, 4.0)
_EVENT_ALPHA = 0.75
# Time a processor has left is grey, never alarming: iowait is idle time with an outstanding request (man proc_stat).
# (fill of the area and of its square in the legend, line and frame of the square), light and dark.
_GREYS = {
    "iowait": (("#9FAFC4", "#8698B0"), ("#6F8198", "#8698B0")),
    "idle": (("#EDF1F4", "#C6CFD9"), ("#262D36", "#C0C7D0")),
}


def curve_line(curve: CurveSpec, theme: Theme) -> QColor:
    """Return the colour of the line, and of the frame of an area's square in the legend."""
    if curve.tone in _GREYS:
        return QColor(_GREYS[curve.tone][theme.dark][1])
    if curve.tone:
        return QColor(getattr(theme, curve.tone))
    return curve_color(curve.color_index or 0)


def curve_area(curve: CurveSpec, theme: Theme) -> QColor:
    """Return the colour of a stacked area."""
    if curve.tone in _GREYS:
        return QColor(_GREYS[curve.tone][theme.dark][0])
    return with_alpha(curve_line(curve, theme), 0.86 if theme.dark else 0.84)


def limit_tint(tone: str, theme: Theme) -> QColor:
    """Return the ground of a limit band."""
    return QColor(getattr(theme, f"{tone}_tint"))


def limit_line(tone: str, theme: Theme) -> QColor:
    """Return the colour of a limit's line and of a zone's frame in the legend."""
    return QColor(theme.warn_fill if tone == "warn" else getattr(theme, tone))


def limit_pen(tone: str, theme: Theme) -> QPen:
    """Return the pen of a limit's line, in a chart and in its legend."""
    pen = QPen(limit_line(tone, theme), 1)
    pen.setDashPattern(list(_LIMIT_DASHES))
    return pen


def event_pen(health: Health, theme: Theme) -> QPen:
    """Return the pen of an event's upright line, in charts and in their legend."""
    color = theme.third if health is Health.UNKNOWN else theme.health(health)
    pen = QPen(with_alpha(color, _EVENT_ALPHA), 1)
    pen.setDashPattern(list(_EVENT_DASHES))
    return pen

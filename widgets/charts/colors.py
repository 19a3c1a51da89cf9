"""From a curve's index or tone to its colours in the present theme."""

from __future__ import annotations

from PySide6.QtGui import QColor

from widgets.charts.model import CurveSpec
from widgets.common.theme import Theme, curve_color, with_alpha

# Time a processor has left is grey, never alarming: iowait is idle time with an outstanding request (man proc_stat).
# (fill of the area, square in the legend), light and dark.
_GREYS = {
    "iowait": (("#9FAFC4", "#8698B0"), ("#6F8198", "#8698B0")),
    "idle": (("#EDF1F4", "#C6CFD9"), ("#262D36", "#C0C7D0")),
}


def curve_line(curve: CurveSpec, theme: Theme) -> QColor:
    """Return the colour of the line and of the square in the legend."""
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


def limit_text(tone: str, theme: Theme) -> QColor:
    """Return the colour of a limit's words."""
    return QColor(getattr(theme, tone))

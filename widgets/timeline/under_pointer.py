"""What of the event strip lies under the pointer, and what is told of it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from services.i18n import tr
from widgets.common.event_words import sentence, when
from widgets.common.look.text import MIDDLE
from widgets.timeline.placement import Bar, Mark
from widgets.timeline.strip_paint import AXIS_Y, BAR_Y, GLYPH_Y, TEXT_HEIGHT, TEXT_TOPS, StripScene

_NEAR_PX = 8.0
_TIP_LINES = 8


def under_pointer(scene: StripScene, point: QPointF) -> Mark | Bar | None:
    """Return what is under a point: a glyph, a sentence or a bar."""
    for mark in scene.marks:
        if abs(point.x() - mark.x) <= _NEAR_PX and abs(point.y() - GLYPH_Y) <= _NEAR_PX + 2:
            return mark
    for label in scene.labels:
        if QRectF(label.left, TEXT_TOPS[label.row], label.width, TEXT_HEIGHT).contains(point):
            return label.mark
    for bar in scene.bars:
        if bar.left <= point.x() <= bar.right and BAR_Y - 3 <= point.y() <= AXIS_Y:
            return bar
    return None


def words_of(under: Mark | Bar, now: float) -> str:
    """Return moment (and length) and whole sentence of each event there; `now`: UTC epoch seconds."""
    events = (under.event,) if isinstance(under, Bar) else under.events
    lines = [f"{when(event, now)} {MIDDLE} {sentence(event)}" for event in events[:_TIP_LINES]]
    more = len(events) - _TIP_LINES
    return "\n".join([*lines, tr("and {more} more: zoom in", more=more)] if more > 0 else lines)

"""What gets the keys is seen: scrolling as far as that takes."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QScrollArea, QWidget


def bring_into_sight(stop: QWidget) -> None:
    """Scroll whatever a widget stands in until it is seen.

    A QScrollArea does that only for Tab within it (QScrollArea::focusNextPrevChild), and for a field only with its
    cursor (ensureWidgetVisible asks for ImCursorRectangle). Of what is larger than its place the beginning is shown.
    """
    around = stop.parentWidget()
    while around is not None:
        inner = around.widget() if isinstance(around, QScrollArea) else None
        if isinstance(around, QScrollArea) and inner is not None:
            room = around.viewport().size()
            across, down = (min(stop.width(), room.width()) + 1) // 2, (min(stop.height(), room.height()) + 1) // 2
            middle = stop.mapTo(inner, QPoint(across, down))
            around.ensureVisible(middle.x(), middle.y(), across, down)
        around = around.parentWidget()

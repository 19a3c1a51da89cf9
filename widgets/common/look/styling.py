"""Who wears the style sheet: each panel of the window by itself, never the application.

A sheet of the application is dressed by Qt once for every ancestor of a widget (QStyleSheetStyle's updateObjects goes
down from each of them): 350 ms for the 1,050 widgets of a window with a plan. A panel's sheet dresses its own widgets
only: 90 ms for all of them, at once.
"""

from __future__ import annotations

import weakref
from functools import lru_cache

from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


class Styling:
    """Knows the panels and the present sheet (GUI thread only)."""

    def __init__(self) -> None:
        self._sheet = ""
        self._panels: list[weakref.ref[QWidget]] = []

    def wear(self, panel: QWidget) -> None:
        """Dress a panel whose widgets are made, now and at every change of the sheet."""
        self._panels = [known for known in self._panels if _alive(known)]
        self._panels.append(weakref.ref(panel))
        if self._sheet:
            panel.setStyleSheet(self._sheet)

    def dress(self, sheet: str) -> None:
        """Dress every panel."""
        self._sheet = sheet
        for known in self._panels:
            panel = known()
            if panel is not None and isValid(panel) and panel.styleSheet() != sheet:
                panel.setStyleSheet(sheet)


def _alive(known: weakref.ref[QWidget]) -> bool:
    panel = known()
    return panel is not None and isValid(panel)


@lru_cache(maxsize=1)
def styling() -> Styling:
    """Return the one styling of this process."""
    return Styling()


def wear(panel: QWidget) -> None:
    """Let a panel wear the theme's style sheet: called when its widgets are made, never for a part of a panel."""
    styling().wear(panel)

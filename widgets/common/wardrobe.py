"""Who wears the style sheet: each panel of the window by itself, never the application.

A sheet of the application is dressed by Qt once for every ancestor of a widget (QStyleSheetStyle's updateObjects goes
down from each of them: 2,600 times for 400 widgets, 80 to 200 ms). A panel's sheet dresses its own widgets only, some
milliseconds, so that a change of theme is dressed panel by panel with turns of the event loop between.
"""

from __future__ import annotations

import weakref
from functools import lru_cache

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


class Wardrobe(QObject):
    """Knows the panels and the present sheet (GUI thread only)."""

    def __init__(self) -> None:
        super().__init__()
        self._sheet = ""
        self._panels: list[weakref.ref[QWidget]] = []
        self._frozen: list[QWidget] = []
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._dress_next)

    def wear(self, panel: QWidget) -> None:
        """Dress a panel whose widgets are made, now and at every change of the sheet."""
        self._panels = [known for known in self._panels if _alive(known)]
        self._panels.append(weakref.ref(panel))
        if self._sheet:
            panel.setStyleSheet(self._sheet)

    def dress(self, sheet: str) -> None:
        """Dress every panel at once."""
        self._sheet = sheet
        while self._waiting():
            self._dress_next()
        self._dress_next()

    def hold_still(self) -> None:
        """Let the windows show their last picture until all that is in sight is dressed: never half of each theme."""
        panels = [panel for known in self._panels if (panel := known()) is not None and isValid(panel)]
        for window in {panel.window() for panel in panels if panel.isVisible()}:
            if window.updatesEnabled():
                window.setUpdatesEnabled(False)
                self._frozen.append(window)

    def dress_in_turns(self, sheet: str) -> None:
        """Dress a panel a turn of the event loop, those in sight first."""
        self._sheet = sheet
        self._turn.start()

    def changing(self) -> bool:
        """Return whether panels still wait to be dressed."""
        return self._turn.isActive()

    def _waiting(self) -> list[QWidget]:
        """Return the panels in another sheet, those in sight first; a page may have come to the front meanwhile."""
        panels = [panel for known in self._panels if (panel := known()) is not None and isValid(panel)]
        return sorted((p for p in panels if p.styleSheet() != self._sheet), key=lambda p: not p.isVisible())

    def _dress_next(self) -> None:
        waiting = self._waiting()
        if waiting:
            waiting[0].setStyleSheet(self._sheet)
        if not any(panel.isVisible() for panel in waiting[1:]):
            self._thaw()
        if len(waiting) <= 1:
            self._turn.stop()

    def _thaw(self) -> None:
        frozen, self._frozen = self._frozen, []
        for window in frozen:
            if isValid(window):
                window.setUpdatesEnabled(True)


def _alive(known: weakref.ref[QWidget]) -> bool:
    panel = known()
    return panel is not None and isValid(panel)


@lru_cache(maxsize=1)
def wardrobe() -> Wardrobe:
    """Return the one wardrobe of this process."""
    return Wardrobe()


def wear(panel: QWidget) -> None:
    """Let a panel wear the theme's style sheet: called when its widgets are made, never for a part of a panel."""
    wardrobe().wear(panel)

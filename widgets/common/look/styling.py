"""Who wears the style sheet: each panel of the window by itself, never the application.

A sheet of the application is dressed by Qt once for every ancestor of a widget (QStyleSheetStyle's updateObjects goes
down from each of them): 350 ms for the 1,050 widgets of a window with a plan. A panel's sheet dresses its own widgets
only: 90 ms for all of them, at once.

A dressed panel that is given its place in another widget is dressed by Qt a second time (QWidget's inheritStyle: what
has a sheet of its own is polished again). What is built in pieces is made `undressed`, placed, and dressed then.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from functools import lru_cache

from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


class Styling:
    """Knows the panels and the present sheet (GUI thread only)."""

    def __init__(self) -> None:
        self._sheet = ""
        self._panels: list[weakref.ref[QWidget]] = []
        self._held = 0

    def wear(self, panel: QWidget) -> None:
        """Dress a panel whose widgets are made, now and at every change of the sheet."""
        self._panels = [known for known in self._panels if _alive(known)]
        self._panels.append(weakref.ref(panel))
        if self._sheet and not self._held:
            panel.setStyleSheet(self._sheet)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Dress nothing meanwhile."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def dress(self, sheet: str) -> None:
        """Dress every panel."""
        self._sheet = sheet
        for _ in self.dress_left():
            pass

    def dress_left(self) -> Iterator[None]:
        """Dress the panels that do not wear the present sheet yet, one a step."""
        for known in tuple(self._panels):
            panel = known()
            if panel is not None and isValid(panel) and panel.styleSheet() != self._sheet:
                panel.setStyleSheet(self._sheet)
                yield


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


def undressed() -> contextlib.AbstractContextManager[None]:
    """Let what is made meanwhile wait for `dress_left`, which whoever gives it its place calls."""
    return styling().held()


def dress_left() -> Iterator[None]:
    """Dress what was made undressed, a panel a step."""
    return styling().dress_left()

"""What is painted before anything is loaded: the window's own places, empty. It costs what an empty window costs.

No enum of Qt's namespace may be touched: the first one builds all hundred of them, 15 to 30 ms, and a QBrush, a pen or
a fillRect is such a touch. So the grounds are plain widgets with palettes; style sheet and fonts come with the real
widgets, some 0.2 s later, at the same places and in the same colours.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QColor, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from services.colors import DARK, LIGHT
from services.i18n import tr

TOP, STATUS = 44, 28
_TREE, _INSPECTOR = 232, 316
_WORD = 13
_NARROW, _WIDE, _MORE = 1440, 2560, 0.35


def wider(panel: int, window: int) -> int:
    """Return how wide a side panel is in a window this wide: `panel` on a laptop, a third more on a large screen."""
    share = min(1.0, max(0.0, (window - _NARROW) / (_WIDE - _NARROW)))
    return round(panel * (1.0 + _MORE * share))


def with_text(percent: int) -> float:
    """Return how much wider panels are for text of this size: half as much as it is larger."""
    return (1 + percent / 100) / 2


class Sides(NamedTuple):
    """The widths of estate and inspector that a person has drawn, in pixels; 0: as suits the window."""

    tree: int = 0
    inspector: int = 0

    def within(self, window: int) -> tuple[int, int]:
        """Return how wide both are in a window this wide: their names are not cut on a large screen."""
        return self.tree or wider(_TREE, window), self.inspector or wider(_INSPECTOR, window)


class FirstFrame(QWidget):
    """Bar, tree, middle, inspector and status line as grounds; what shows between them are the lines.

    Args:
        sides: the widths that a person has drawn.
        dark: the theme asked for; None: what the desktop's own palette looks like.
        percent: the text size: bar, panels and status line grow with it.
        hidden: whether the person has hidden estate and inspector.

    Signals:
        painted(): it is on the screen, once.
    """

    painted = Signal()

    def __init__(
        self, sides: Sides, *, dark: bool | None = None, percent: int = 100, hidden: tuple[bool, bool] = (False, False)
    ) -> None:
        super().__init__()
        if dark is None:
            dark = self.palette().window().color().lightness() < 128
        self._tokens = DARK if dark else LIGHT
        self._sides = sides
        self._percent = percent
        self._told = False
        self._ground(self, "line")
        self._bar, self._tree, self._middle, self._inspector, self._status = (QWidget(self) for _ in range(5))
        for place, token in (
            (self._bar, "panel"),
            (self._tree, "panel"),
            (self._middle, "canvas"),
            (self._inspector, "panel"),
            (self._status, "canvas"),
        ):
            self._ground(place, token)
        self._tree.setHidden(hidden[0])
        self._inspector.setHidden(hidden[1])
        self._word = QLabel(tr("loading…"), self._status)
        if percent != 100:
            font = self._word.font()
            font.setPixelSize(self._px(_WORD))
            self._word.setFont(font)
        self.setAccessibleName(tr("Pilothouse is loading"))

    def _ground(self, widget: QWidget, token: str) -> None:
        color = QColor(self._tokens[token])
        widget.setPalette(QPalette(color, color))
        widget.setAutoFillBackground(True)

    def _px(self, pixels: int) -> int:
        return round(pixels * self._percent / 100)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the grounds where the real widgets will stand."""
        super().resizeEvent(event)
        top, status = self._px(TOP), self._px(STATUS)
        width, bottom = self.width(), self.height() - status
        tree, inspector = (round(side * with_text(self._percent)) for side in self._sides.within(width))
        between, right = bottom - top - 2, width - inspector
        begin = 0 if self._tree.isHidden() else tree + 1
        end = width if self._inspector.isHidden() else right - 1
        self._bar.setGeometry(0, 0, width, top)
        self._tree.setGeometry(0, top + 1, tree, between)
        self._middle.setGeometry(begin, top + 1, end - begin, between)
        self._inspector.setGeometry(right, top + 1, inspector, between)
        self._status.setGeometry(0, bottom, width, status)
        self._word.setGeometry(12, 0, self._px(200), status)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell when this event, the whole first paint, is over; the palettes do the painting."""
        super().paintEvent(event)
        if not self._told:
            self._told = True
            QTimer.singleShot(0, self, self.painted.emit)

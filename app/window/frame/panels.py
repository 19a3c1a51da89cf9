"""Estate, middle and inspector side by side: their edges can be drawn, the outer two can be hidden."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QSplitter, QSplitterHandle, QWidget

from widgets.common.look.fonts import text_percent
from widgets.common.look.theme import theme_holder
from widgets.frame.first_frame import Sides, with_text

LEAST, MOST = 160, 640
_STEP = 24
_LEAST_MIDDLE = 320


class _Edge(QSplitterHandle):
    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self.palette().mid())


class Panels(QSplitter):
    """Holds what the person chose: widths (those with text in its usual size), and which panel is hidden.

    Signal: changed().
    """

    changed = Signal()

    def __init__(self, tree: QWidget, middle: QWidget, inspector: QWidget, widths: Sides) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._sides = (tree, inspector)
        self._hidden: set[QWidget] = set()
        self._with_inspector = True
        self._widths = {tree: widths.tree, inspector: widths.inspector}
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        for part in (tree, middle, inspector):
            self.addWidget(part)
        for side in self._sides:
            side.setMinimumWidth(LEAST)
            side.setMaximumWidth(MOST)
        middle.setMinimumWidth(_LEAST_MIDDLE)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._drawn)
        theme_holder().sized.connect(self._apply)
        self._apply()

    def createHandle(self) -> QSplitterHandle:
        """Return an edge in the colour of the lines between panels."""
        return _Edge(self.orientation(), self)

    def widths(self) -> Sides:
        """Return the widths that the person has drawn; of a panel as wide as suits the window it is 0."""
        tree, inspector = self._sides
        return Sides(self._widths[tree], self._widths[inspector])

    def hidden(self) -> tuple[bool, bool]:
        """Return whether the person has hidden the estate and the inspector."""
        tree, inspector = self._sides
        return tree in self._hidden, inspector in self._hidden

    def set_hidden(self, tree: bool, inspector: bool) -> None:
        """Hide these two, or show them."""
        self._hidden = {side for side, gone in zip(self._sides, (tree, inspector), strict=True) if gone}
        self._apply()
        self.changed.emit()

    def show_inspector(self, wanted: bool) -> None:
        """Let the inspector stand beside the page in front, or not; a hidden one stays hidden."""
        self._with_inspector = wanted
        self._apply()

    def widen(self, by: int) -> None:
        """Make the panel that has the focus wider (1) or narrower (-1)."""
        focus = QApplication.focusWidget()
        for side in self._sides:
            if focus is not None and side.isAncestorOf(focus):
                self._widths[side] = max(LEAST, min(MOST, self._present()[side] + by * _STEP))
                self._apply()
                self.changed.emit()

    def _apply(self) -> None:
        tree, inspector = self._sides
        tree.setVisible(tree not in self._hidden)
        inspector.setVisible(self._with_inspector and inspector not in self._hidden)
        wide = self._wanted()
        rest = max(_LEAST_MIDDLE, self.width() - sum(wide.values()))
        self.setSizes([wide[tree], rest, wide[inspector]])

    def _drawn(self, _place: int, _which: int) -> None:
        for side in self._sides:
            if side.isVisible() and side.width() != self._wanted()[side]:
                self._widths[side] = round(side.width() / with_text(text_percent()))
        self.changed.emit()

    def _present(self) -> dict[QWidget, int]:
        """Return how wide the panels are with text in its usual size."""
        return dict(zip(self._sides, self.widths().within(self.width()), strict=True))

    def _wanted(self) -> dict[QWidget, int]:
        return {side: round(width * with_text(text_percent())) for side, width in self._present().items()}

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the panels their share of the new width, where the person has drawn no edge."""
        super().resizeEvent(event)
        if not all(self._widths.values()):
            self._apply()

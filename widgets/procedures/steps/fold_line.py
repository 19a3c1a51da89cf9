"""A line that opens what stands below it: by a click, Enter, Space and Right; Left folds it, arrows go on."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from services.i18n import tr
from widgets.common.look.fonts import px
from widgets.common.look.theme import current_theme, theme_holder

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_ARROWS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class FoldLine(QAbstractButton):
    """Signals: `turned(bool)` when a person opens (True) or folds it, `moved(int)` -1 or +1 for the arrow keys."""

    turned = Signal(bool)
    moved = Signal(int)

    def __init__(self, height: int, *, opened: bool) -> None:
        super().__init__()
        self._opened = opened
        self._said = ""
        self._height = height
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda _checked=False: self._turn(opened=not self._opened))
        theme_holder().changed.connect(self.update)
        self.describe("")

    def _fit_text(self) -> None:
        self.setFixedHeight(px(self._height))

    @property
    def opened(self) -> bool:
        """Return whether what stands below is shown."""
        return self._opened

    def set_open(self, opened: bool) -> None:
        """Turn the wedge; nobody is told."""
        if opened != self._opened:
            self._opened = opened
            self.describe(self._said)
            self.update()

    def describe(self, said: str) -> None:
        """Say for a screen reader what the line shows besides its name, and whether it is open."""
        self._said = said
        state = tr("open") if self._opened else tr("folded")
        self.setAccessibleDescription(f"{said} {state}".strip())

    def sizeHint(self) -> QSize:
        """Return as little as a cut line needs."""
        return QSize(160, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space turn it, Right opens, Left folds, Up and Down go to the neighbours."""
        key = event.key()
        if key in _ENTER:
            self.click()
        elif key == Qt.Key.Key_Right:
            self._turn(opened=True)
        elif key == Qt.Key.Key_Left:
            self._turn(opened=False)
        elif key in _ARROWS:
            self.moved.emit(_ARROWS[Qt.Key(key)])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keys are."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the frame away."""
        super().focusOutEvent(event)
        self.update()

    def _turn(self, *, opened: bool) -> None:
        if opened != self._opened:
            self.set_open(opened)
            self.turned.emit(opened)


def wedge(painter: QPainter, at: QPointF, *, down: bool) -> None:
    """Paint the sign of a fold: down when it is open, to the right when it is not."""
    points = ((-4, -2), (4, -2), (0, 3)) if down else ((-2, -4), (-2, 4), (3, 0))
    size = px(100) / 100
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(current_theme().second)
    painter.drawPolygon(QPolygonF([at + QPointF(x, y) * size for x, y in points]))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def focus_ring(painter: QPainter, box: QRectF) -> None:
    """Paint the frame of what has the keys."""
    painter.setPen(current_theme().accent)
    painter.drawRoundedRect(box.adjusted(2.5, 2.5, -2.5, -2.5), 4, 4)

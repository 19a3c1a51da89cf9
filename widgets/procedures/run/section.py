"""A part of the wizard: a card whose head says in one line where it stands; its body folds away when done."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QVBoxLayout, QWidget

from services.i18n import tr
from services.types import Health
from widgets.common.controls.boxes import hairline
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import BASE, STRONG, px
from widgets.common.look.glyphs import WORDS, glyph, shape_box
from widgets.common.look.theme import current_theme, theme_holder, ui_font
from widgets.procedures.steps.fold_line import wedge

_HEIGHT, _SHAPE_ROOM = 38, 23


class SectionHead(QAbstractButton):
    """The line: shape, name, summary, a word at the right, a wedge. Space, Enter and a click fold the section."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._health: Health | None = None
        self._summary = self._right = ""
        self.open = True
        self.setText(name)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme_holder().changed.connect(self.update)

    def say(self, health: Health | None, summary: str, right: str) -> None:
        """Show shape, summary and what stands at the right."""
        if (health, summary, right) == (self._health, self._summary, self._right):
            return
        self._health, self._summary, self._right = health, summary, right
        self.setAccessibleName(f"{self.text()} {summary}")
        self.setAccessibleDescription(" ".join(filter(None, (tr(WORDS[health]) if health else "", right))))
        set_tip(self, summary)
        self.update()

    def _fit_text(self) -> None:
        self.setFixedHeight(px(_HEIGHT))

    def texts(self) -> tuple[str, str]:
        """Return summary and what stands at the right."""
        return self._summary, self._right

    def sizeHint(self) -> QSize:
        """Return as little as the name needs."""
        return QSize(int(QFontMetricsF(ui_font(BASE, STRONG)).horizontalAdvance(self.text())) + px(80), px(_HEIGHT))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter do what Space does; Right opens, Left folds."""
        key = event.key()
        other_way = key == (Qt.Key.Key_Left if self.open else Qt.Key.Key_Right)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or other_way:
            self.click()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            event.accept()  # it stands so already: the keys stay here
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the line, the summary cut where the room ends."""
        del event
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(16, 0, -14, 0)
        if self.hasFocus():
            painter.setPen(theme.accent)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(3.5, 3.5, -3.5, -3.5), 6, 6)
        if self._health is not None:
            glyph(painter, shape_box(box.x(), box.center().y()), self._health, theme)
            box.setLeft(box.left() + px(_SHAPE_ROOM))
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        wedge(painter, QPointF(box.right() - px(4), box.center().y()), down=self.open)
        box.setRight(box.right() - px(18))
        painter.setFont(ui_font(BASE, STRONG))
        painter.setPen(theme.text)
        painter.drawText(box, middle, self.text())
        box.setLeft(box.left() + QFontMetricsF(painter.font()).horizontalAdvance(self.text()) + 10)
        painter.setFont(ui_font())
        metrics = QFontMetricsF(painter.font())
        painter.setPen(theme.second)
        if self._right:
            painter.drawText(box, middle | Qt.AlignmentFlag.AlignRight, self._right)
            box.setRight(box.right() - metrics.horizontalAdvance(self._right) - 16)
        cut = metrics.elidedText(self._summary, Qt.TextElideMode.ElideRight, max(0.0, box.width()))
        painter.drawText(box, middle, cut)
        painter.end()


class Section(QFrame):
    """Head and body. `folded(bool)` tells that a person opened (True) or closed it."""

    folded = Signal(bool)

    def __init__(self, name: str, body: QWidget, *, margins: tuple[int, int, int, int] = (16, 12, 16, 16)) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self.head = SectionHead(name)
        self.body = body
        self._line = hairline()
        self._frame = QFrame()
        inner = QVBoxLayout(self._frame)
        inner.setContentsMargins(*margins)
        inner.addWidget(body)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self._line)
        column.addWidget(self._frame)
        self.head.clicked.connect(self._turn)

    def say(self, health: Health | None, summary: str, right: str = "") -> None:
        """Say in the head where the section stands."""
        self.head.say(health, summary, right)

    def is_open(self) -> bool:
        """Return whether the body is shown."""
        return self.head.open

    def set_open(self, shown: bool) -> None:
        """Show or fold the body."""
        if shown != self.head.open:
            self.head.open = shown
            self._line.setVisible(shown)
            self._frame.setVisible(shown)
            self.head.update()

    def _turn(self) -> None:
        self.set_open(not self.head.open)
        self.folded.emit(self.head.open)

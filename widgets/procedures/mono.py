"""Exact lines in the fixed font on a quiet ground, broken where they must: a command is never cut."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from services.i18n import tr
from widgets.common.look.theme import current_theme, mono_font, theme_holder

PAD_X, PAD_Y = 8.0, 4.0


class Wrapped:
    """Some paragraphs laid out at a width. Building costs; painting is cheap."""

    __slots__ = ("height", "layouts", "widest")

    def __init__(self, lines: tuple[str, ...], font: QFont, width: float, *, anywhere: bool = False) -> None:
        mode = QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
        option = QTextOption()
        option.setWrapMode(mode if not anywhere else QTextOption.WrapMode.WrapAnywhere)
        self.layouts: list[tuple[float, QTextLayout]] = []
        self.height = self.widest = 0.0
        for text in (part for line in lines for part in line.split("\n")):  # a QTextLayout runs lines together
            layout = QTextLayout(text, font)
            layout.setTextOption(option)
            layout.setCacheEnabled(True)
            layout.beginLayout()
            inner = 0.0
            while (line := layout.createLine()).isValid():
                line.setLineWidth(max(width, 16.0))
                line.setPosition(QPointF(0.0, inner))
                inner += line.height()
                self.widest = max(self.widest, line.naturalTextWidth())
            layout.endLayout()
            self.layouts.append((self.height, layout))
            self.height += inner

    def paint(self, painter: QPainter, x: float, y: float) -> None:
        """Draw with the painter's pen."""
        for top, layout in self.layouts:
            layout.draw(painter, QPointF(x, y + top))


class MonoBox(QWidget):
    """Lines one can copy (context menu, or Ctrl+C with the focus)."""

    def __init__(self, lines: tuple[str, ...] = (), *, framed: bool = True, name: str = "") -> None:
        super().__init__()
        self._lines: tuple[str, ...] = ()
        self._framed = framed
        self._name = name
        self._laid: tuple[int, Wrapped] | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme_holder().changed.connect(self.update)
        self.set_lines(lines)

    def set_lines(self, lines: tuple[str, ...]) -> None:
        """Show these lines; nothing at all when there are none."""
        if lines == self._lines and self._laid is not None:
            return
        self._lines, self._laid = lines, None
        self.setAccessibleName(self._name)
        self.setAccessibleDescription("\n".join(lines))
        self.setVisible(bool(lines))
        self.updateGeometry()
        self.update()

    def lines(self) -> tuple[str, ...]:
        """Return what is shown."""
        return self._lines

    def copy(self) -> None:
        """Put all lines on the clipboard."""
        QGuiApplication.clipboard().setText("\n".join(self._lines))

    def _wrapped(self, width: int) -> Wrapped:
        if self._laid is None or self._laid[0] != width:
            pad = 2 * PAD_X if self._framed else 0.0
            self._laid = (width, Wrapped(self._lines, mono_font(), width - pad))
        return self._laid[1]

    def hasHeightForWidth(self) -> bool:
        """Return True: lines break."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height that shows every line at `width`."""
        return int(self._wrapped(width).height + (2 * PAD_Y if self._framed else 0)) + 1

    def sizeHint(self) -> QSize:
        """Return a size for the present width."""
        width = max(self.width(), 200)
        return QSize(200, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Return a narrow size: lines break."""
        return QSize(80, 24)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ground and the lines."""
        del event
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        laid = self._wrapped(self.width())
        if self._framed:
            painter.setPen(theme.accent if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(theme.canvas)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(theme.second)
        pad = (PAD_X, PAD_Y) if self._framed else (0.0, 0.0)
        laid.paint(painter, *pad)
        painter.end()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy."""
        menu = QMenu(self)
        menu.addAction(tr("Copy"), self.copy)
        menu.exec(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy with the platform's key."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

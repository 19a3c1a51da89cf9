"""Words in a window: labels that never overflow their place, and values one can copy."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QWidget

from services.i18n import tr
from services.visible import visible
from widgets.common.controls.plain import set_tip


class ElidedLabel(QLabel):
    """One line that is cut (in the middle unless told otherwise) when there is no room; the tooltip has the whole."""

    def __init__(self, text: str = "", kind: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle) -> None:
        super().__init__(visible(text))
        self._mode = mode
        self._hint = ""
        self.setProperty("kind", kind)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def setText(self, text: str) -> None:
        """Show `text`; does nothing when it is there already."""
        text = visible(text)
        if text != self.text():
            super().setText(text)
            self.setAccessibleName(text)

    def set_hint(self, hint: str) -> None:
        """Set what the tooltip says besides the whole text."""
        self._hint = hint

    def shown_text(self) -> str:
        """Return the text as cut for the present width."""
        return self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())

    def minimumSizeHint(self) -> QSize:
        """Let layouts make it as narrow as they need."""
        return QSize(16, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cut text with the label's own font and colour."""
        del event
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), self.alignment() | Qt.TextFlag.TextSingleLine, self.shown_text())
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Offer the whole text as tooltip, only where it does not fit (or a hint was given)."""
        if event.type() is QEvent.Type.ToolTip:
            cut = self.shown_text() != self.text()
            set_tip(self, "\n".join(p for p in (self.text() if cut else "", self._hint) if p))
        return super().event(event)


class ValueLabel(ElidedLabel):
    """A value that can be copied: by its context menu, or with the keyboard when it has the focus."""

    def __init__(self, text: str = "", kind: str = "") -> None:
        super().__init__(text, kind)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)

    def copy(self) -> None:
        """Put the whole value on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

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

    def paintEvent(self, event: QPaintEvent) -> None:
        """Underline the value that has the focus."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(self.palette().accent().color())
            bottom = self.rect().bottom()
            painter.drawLine(0, bottom, min(self.width(), self.fontMetrics().horizontalAdvance(self.text())), bottom)
            painter.end()


class PlainLabel(QLabel):
    """A label that shows its text as it is."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(visible(text), parent)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def setText(self, text: str) -> None:
        """Show `text`, what no font draws made visible."""
        super().setText(visible(text))


def label(text: str, kind: str = "", *, wrap: bool = False) -> QLabel:
    """Return a plain text label of the style sheet's `kind`."""
    made = PlainLabel(text)
    made.setProperty("kind", kind)
    made.setWordWrap(wrap)
    return made


def set_kind(widget: QWidget, kind: str) -> None:
    """Change a widget's look to another `kind` of the style sheet."""
    if widget.property("kind") != kind:
        widget.setProperty("kind", kind)
        widget.style().unpolish(widget)
        widget.style().polish(widget)

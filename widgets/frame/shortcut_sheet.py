"""The sheet of shortcuts (F1): every key of the table, over the window; Escape, F1 or a click beside it closes it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from services.i18n import tr
from widgets.common.commands.shortcuts import PLACES, Place, written
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import label
from widgets.common.controls.wrap_row import turn_box
from widgets.common.look.fonts import px
from widgets.common.look.styling import wear

_WIDTH, _MARGIN = 980, 32
_COLUMNS = 2
_BESIDE = 560
"""Two columns in less room would break their words."""


class ShortcutSheet(QFrame):
    """Lies over the middle of its window; what had the focus gets it back."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._before: QWidget | None = None
        self.setProperty("kind", "card")
        self.setAccessibleName(tr("Keyboard shortcuts"))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 8, 12)
        column.setSpacing(12)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 16, 0)
        head.addWidget(label(tr("Keyboard shortcuts"), "title"), 1)
        head.addWidget(button(tr("Close"), hint=tr("Close this sheet (Esc)"), on=self.leave))
        column.addLayout(head)
        self._inner = QWidget()
        self._scroll = self._make_scroll()
        column.addWidget(self._scroll, 1)
        window.installEventFilter(self)
        self.hide()
        wear(self)

    def _make_scroll(self) -> QScrollArea:
        inner = self._inner
        row = self._columns = QHBoxLayout(inner)
        row.setContentsMargins(0, 0, 16, 8)
        row.setSpacing(40)
        for places in _columns():
            column = QVBoxLayout()
            column.setSpacing(8)
            for place in places:
                column.addWidget(label(tr(place.title), "section"))
                column.addLayout(_table(place))
                column.addSpacing(8)
            column.addStretch(1)
            row.addLayout(column, 1)
        scroll = QScrollArea()
        scroll.setProperty("kind", "ring")
        scroll.setWidget(inner)
        scroll.setWidgetResizable(True)
        scroll.setAccessibleName(tr("Keyboard shortcuts"))
        scroll.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        return scroll

    def toggle(self) -> None:
        """Show the sheet, or take it away."""
        if self.isVisible():
            self.leave()
            return
        self._before = self._window.focusWidget()
        self._stand()
        self.show()
        self.raise_()
        self._scroll.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        """Go away."""
        self.hide()
        if self._before is not None:
            self._before.setFocus()
        self._before = None

    def _stand(self) -> None:
        room = self._window.rect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        beside = room.width() >= px(_BESIDE)
        turn_box(self._columns, beside=beside)
        wanted = self._inner.sizeHint()
        width = min(room.width(), max(px(_WIDTH), wanted.width() + 48))
        height = min(room.height(), wanted.height() + 96)
        self.setGeometry(room.center().x() - width // 2, room.center().y() - height // 2, width, height)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; no other key of the sheet does anything behind it."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep its place in a window that changes its size; go when something else is clicked."""
        if isinstance(event, QResizeEvent) and self.isVisible():
            self._stand()
        elif event.type() is QEvent.Type.MouseButtonPress and self.isVisible():
            self.leave()
        return super().eventFilter(watched, event)


def _columns() -> tuple[tuple[Place, ...], ...]:
    """Share the places out so that the columns are about equally long."""
    lengths = [len(place.shortcuts) + 2 for place in PLACES]
    left = next(n for n in range(len(PLACES)) if sum(lengths[: n + 1]) * _COLUMNS >= sum(lengths) - lengths[n])
    return PLACES[: left + 1], PLACES[left + 1 :]


def _table(place: Place) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(3)
    grid.setColumnStretch(0, 1)
    for row, shortcut in enumerate(place.shortcuts):
        words = label(tr(shortcut.words), "second", wrap=True)
        words.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        keys = label("  ".join(written(key) for key in shortcut.keys), "key")
        keys.setAccessibleName(f"{tr(shortcut.words)}: {', '.join(written(key) for key in shortcut.keys)}")
        grid.addWidget(words, row, 0)
        grid.addWidget(keys, row, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return grid

"""The command palette: everything that one can go to or do, by a few letters of its words, without the mouse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from services.i18n import mark, tr
from services.types import Health
from widgets.common.commands.find import ranked
from widgets.common.controls.boxes import hairline
from widgets.common.controls.labels import label
from widgets.common.look.fonts import SMALL, TITLE, mono_font, px, ui_font
from widgets.common.look.glyphs import glyph
from widgets.common.look.styling import wear
from widgets.common.look.theme import current_theme, theme_holder

_ROW = 32
_LEAST_ROWS, _MOST_ROWS = 3, 10
_TOP = 56
_AROUND = 24
"""Lines, gaps and what is left below the palette."""
_WIDTH = 560
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
EntryKind = Literal[
    "node", "cluster", "page", "action", "procedure", "run", "chart", "metric", "setting", "moment", "event"
]
_KINDS: dict[EntryKind, tuple[str, str]] = {
    "node": (mark("node"), mark("select this node on every page")),
    "cluster": (mark("cluster"), mark("show this cluster")),
    "page": (mark("page"), mark("open this page")),
    "action": (mark("action"), mark("do this")),
    "procedure": (mark("procedure"), mark("open this procedure; nothing is changed yet")),
    "run": (mark("run"), mark("show this run")),
    "chart": (mark("chart"), mark("show this chart")),
    "metric": (mark("metric"), mark("show the chart of this metric")),
    "setting": (mark("setting"), mark("open the settings at this one")),
    "moment": (mark("moment"), mark("show this moment on every page")),
    "event": (mark("event"), mark("show its moment on every page")),
}
"""The kind as shown, and what Enter does."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """Something one can go to or do.

    `keys` is its shortcut as shown; `health` draws a node's shape. One that is `searched` stands in the list only where
    words were typed: there are many of its kind. `also` holds further words by which it is found.
    """

    entry_id: str
    kind: EntryKind
    title: str
    detail: str = ""
    keys: str = ""
    health: Health | None = None
    searched: bool = False
    also: str = ""

    @property
    def kind_word(self) -> str:
        """Return the kind as shown."""
        return tr(_KINDS[self.kind][0])

    @property
    def enter_words(self) -> str:
        """Return what Enter does."""
        return tr("Enter: {act}", act=tr(_KINDS[self.kind][1]))


class CommandPalette(QFrame):
    """A frame over the window's upper middle. `chosen(PaletteEntry)`; `closed()` when it goes without a choice."""

    chosen = Signal(object)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._entries: tuple[PaletteEntry, ...] = ()
        self._typed: Callable[[str], Sequence[PaletteEntry]] = lambda _: ()
        self._before: QWidget | None = None
        self._field = QLineEdit()
        self._field.setPlaceholderText(tr("Go to, run, find…"))
        self._field.setAccessibleName(tr("Command palette"))
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self._field.textChanged.connect(self._filter)
        self._field.installEventFilter(self)
        self._model = _Entries(self)
        self._list = QListView()
        self._list.setModel(self._model)
        self._list.setItemDelegate(_Delegate(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setMouseTracking(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.clicked.connect(self._take)
        self._nothing = label(tr("No match. Press Esc to close."), "second")
        self._nothing.setContentsMargins(16, 10, 16, 12)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addWidget(self._field)
        column.addWidget(hairline())
        column.addSpacing(4)
        column.addWidget(self._list)
        column.addWidget(self._nothing)
        column.addWidget(hairline())
        self._enter = label("", "third")
        self._enter.setContentsMargins(16, 5, 16, 5)
        column.addWidget(self._enter)
        self.hide()
        wear(self)

    def _fit_text(self) -> None:
        sheet = f"border: none; padding: 10px 16px; font-size: {px(TITLE)}px; background: transparent;"
        self._field.setStyleSheet(sheet)

    def open_with(
        self,
        entries: Sequence[PaletteEntry],
        typed: Callable[[str], Sequence[PaletteEntry]] = lambda _: (),
    ) -> None:
        """Show the palette over its parent, empty, with these entries (most useful first).

        `typed` is asked at each letter for entries that the text itself names, a moment for example.
        """
        self._entries, self._typed = tuple(entries), typed
        if not self._field.hasFocus():
            self._before = self.window().focusWidget()
        self._field.clear()
        self._filter("")
        self._stand()
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_palette(self) -> None:
        """Go away without a choice."""
        if self.isVisible():
            self._leave()
            self.closed.emit()

    def _leave(self) -> None:
        """Go away, and give the keys back to who had them: Qt would give them to the window's first button."""
        before, self._before = self._before, None
        self._field.removeEventFilter(self)  # the keys that it gives back are not taken from it
        if self._field.hasFocus() and before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()
        self._field.installEventFilter(self)

    def shown(self) -> tuple[PaletteEntry, ...]:
        """Return the entries in the list now, best first."""
        return self._model.entries

    def current(self) -> PaletteEntry | None:
        """Return the marked entry."""
        row = self._list.currentIndex().row()
        return self._model.entries[row] if 0 <= row < len(self._model.entries) else None

    def type_text(self, text: str) -> None:
        """Fill the field as if typed."""
        self._field.setText(text)

    def _filter(self, text: str) -> None:
        entries = [e for e in self._entries if text.strip() or not e.searched]
        entries += self._typed(text) if text.strip() else ()
        fit = ranked(text, [(e.title, f"{e.detail} {e.kind_word} {e.also}") for e in entries])
        self._model.replace(tuple(entries[i] for i in fit))
        found = len(self._model.entries)
        self._nothing.setVisible(found == 0)
        self._list.setVisible(found > 0)
        self._list.setFixedHeight(min(self._rows_in_sight(), found) * px(_ROW))
        if found:
            self._list.setCurrentIndex(self._model.index(0))
        self._say_current()
        self.adjustSize()
        self._stand()

    def _rows_in_sight(self) -> int:
        """In a low window with large text fewer rows have room than are shown else."""
        parent = self.parentWidget()
        if parent is None:
            return _MOST_ROWS
        around = self._field.sizeHint().height() + self._enter.sizeHint().height() + _AROUND
        return max(_LEAST_ROWS, min(_MOST_ROWS, (parent.height() - px(_TOP) - around) // px(_ROW)))

    def _stand(self) -> None:
        parent = self.parentWidget()
        if parent is not None:
            width = min(px(_WIDTH), parent.width() - 32)
            self.setGeometry((parent.width() - width) // 2, px(_TOP), width, self.sizeHint().height())

    def _take(self, index: QModelIndex) -> None:
        if index.isValid():
            entry = self._model.entries[index.row()]
            self._leave()
            self.chosen.emit(entry)

    def _move(self, by: int) -> None:
        count = len(self._model.entries)
        if count:
            row = (self._list.currentIndex().row() + by) % count
            self._list.setCurrentIndex(self._model.index(row))
            self._say_current()

    def _say_current(self) -> None:
        """The field keeps the focus, so it is what a screen reader reads the marked entry from."""
        entry = self.current()
        self._enter.setText("" if entry is None else entry.enter_words)
        self._field.setAccessibleDescription("" if entry is None else f"{entry.kind_word} {entry.title} {entry.detail}")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Walk with the arrows, take with Enter, leave with Escape or when the focus goes elsewhere."""
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            moves = {
                Qt.Key.Key_Down: 1,
                Qt.Key.Key_Up: -1,
                Qt.Key.Key_PageDown: _MOST_ROWS,
                Qt.Key.Key_PageUp: -_MOST_ROWS,
            }
            key = event.key()
            if key in moves:
                self._move(moves[Qt.Key(key)])
                return True
            if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                self._take(self._list.currentIndex())
                return True
            if key == Qt.Key.Key_Escape:
                self.close_palette()
                return True
        if watched is self._field and event.type() is QEvent.Type.FocusOut:
            self.close_palette()
        return super().eventFilter(watched, event)


class _Entries(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.entries: tuple[PaletteEntry, ...] = ()

    def replace(self, entries: tuple[PaletteEntry, ...]) -> None:
        self.beginResetModel()
        self.entries = entries
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        if not index.isValid():
            return None
        entry = self.entries[index.row()]
        if role == int(Qt.ItemDataRole.DisplayRole):
            return entry.title
        if role == int(Qt.ItemDataRole.AccessibleTextRole):
            return f"{entry.kind_word} {entry.title} {entry.detail}"
        return None


class _Delegate(QStyledItemDelegate):
    def __init__(self, view: QListView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        del option, index
        return QSize(0, px(_ROW))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        model = index.model()
        if not isinstance(model, _Entries):
            return
        entry, theme, row = model.entries[index.row()], current_theme(), QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.accent_tint)
            painter.drawRoundedRect(row.adjusted(4, 0, -4, 0), 6, 6)
        if entry.health is not None:
            side = px(11)
            glyph(painter, QRectF(16, row.center().y() - side / 2, side, side), entry.health, theme)
        right = entry.keys or entry.kind_word
        font = mono_font() if entry.keys else ui_font(SMALL)
        painter.setFont(font)
        painter.setPen(theme.second if selected else theme.third)
        painter.drawText(row.adjusted(0, 0, -16, 0), _RIGHT, right)
        room = row.right() - 16 - QFontMetricsF(font).horizontalAdvance(right) - 16
        self._paint_words(painter, row, room, entry)
        painter.restore()

    @staticmethod
    def _paint_words(painter: QPainter, row: QRectF, right: float, entry: PaletteEntry) -> None:
        theme, font = current_theme(), ui_font()
        metrics = QFontMetricsF(font)
        left = 25.0 + px(11)
        title = metrics.elidedText(entry.title, Qt.TextElideMode.ElideMiddle, right - left)
        painter.setFont(font)
        painter.setPen(theme.text)
        painter.drawText(QRectF(left, row.y(), right - left, row.height()), _LEFT, title)
        left += metrics.horizontalAdvance(title) + 12
        detail = metrics.elidedText(entry.detail, Qt.TextElideMode.ElideRight, max(0.0, right - left))
        painter.setPen(theme.second)
        painter.drawText(QRectF(left, row.y(), max(0.0, right - left), row.height()), _LEFT, detail)

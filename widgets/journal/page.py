"""The journal page: what happened, when, how serious, for how long; to filter, to export, to travel to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QSizePolicy,
    QStackedLayout,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from services.errors import BadInput
from services.events import Event
from services.i18n import mark, tr, tr_n
from services.types import Health
from services.workstation.files import write_whole
from widgets.common.commands.shortcuts import JOURNAL, bind, keys_of
from widgets.common.controls.boxes import button
from widgets.common.controls.fields import choice, line
from widgets.common.controls.labels import label
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.empty import EmptyState
from widgets.common.look.fonts import px
from widgets.common.look.glyphs import glyph
from widgets.common.look.styling import wear
from widgets.common.look.text import format_count, plural
from widgets.common.look.theme import current_theme, theme_holder
from widgets.common.messages import MessageBar
from widgets.journal.events_model import (
    KIND,
    KINDS,
    LASTED,
    SHAPE,
    TIME,
    WHAT,
    EventFilter,
    EventsModel,
    as_csv,
    run_of,
)

_LEAST = (
    (Health.GOOD, mark("everything")),
    (Health.UNKNOWN, mark("unknown and worse")),
    (Health.WARN, mark("warnings and worse")),
)


_WIDTHS = {TIME: 176, SHAPE: 28, KIND: 152, LASTED: 116}
_NARROW = {KIND: 60, LASTED: 76, TIME: 92}
"""Where the sentences need the room the others give theirs, in this order: what they say stands in their tooltips.
A moment is never cut: its date stands above its time of day, and the rows are of two lines."""
_LEAST_WHAT, _MOST_WHAT, _STILL_READ = 340, 880, 120
_ROW, _TWO_LINES = 28, 44
_BESIDE = 16
"""What a cell leaves empty beside its words."""
_LEFT, _RIGHT, _SCROLL = 20, 16, 16


class JournalPage(QFrame):
    """Events in; out, when a row is activated: `moment_chosen(float)` (epoch seconds), or `run_chosen(str)` (its
    number) for an event of a run."""

    moment_chosen = Signal(float)
    run_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        self._model = EventsModel(self)
        self._words = line(tr("Filter"), tr("Filter by text  ({keys})", keys=keys_of(JOURNAL, "filter")))
        self._words.setClearButtonEnabled(True)
        self._kind = choice(tr("Kind"), (("", mark("all kinds")), *KINDS.items()))
        self._least = choice(tr("Severity"), tuple((h.value, words) for h, words in _LEAST))
        self._count = label("", "second")
        self._bar = MessageBar()
        self._whole = label("", "second", wrap=True)
        self._whole.setContentsMargins(12, 4, 12, 4)
        self._whole.hide()
        self._table = self._make_table()
        self._table.selectionModel().currentRowChanged.connect(self._tell_whole)
        self._empty = EmptyState()
        self._stack = QStackedLayout()
        card = QFrame()
        card.setProperty("kind", "card")
        inner = QVBoxLayout(card)
        inner.setContentsMargins(1, 4, 1, 4)
        inner.addWidget(self._table)
        inner.addWidget(self._whole)
        page = QVBoxLayout(self)
        page.setContentsMargins(_LEFT, 12, _RIGHT, 16)
        page.setSpacing(8)
        page.addWidget(self._header())
        page.addWidget(self._bar)
        page.addWidget(self._others_line())
        page.addLayout(self._stack, 1)
        for part in (card, self._empty):  # once the stack has a parent: it shows its first part at once
            self._stack.addWidget(part)
        self._words.textChanged.connect(self._refilter)
        self._kind.currentIndexChanged.connect(self._refilter)
        self._least.currentIndexChanged.connect(self._refilter)
        bind(self, JOURNAL, "filter", self._words.setFocus)
        theme_holder().changed.connect(self._table.viewport().update)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self._tell()
        wear(self)

    def _header(self) -> WrapRow:
        gap = QWidget()
        gap.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        export = button(tr("Export CSV…"), on=self._ask_and_export, hint=tr("Save the rows shown"))
        title = label(tr("Journal"), "title")
        return WrapRow(title, self._count, gap, self._words, self._kind, self._least, export)

    def _others_line(self) -> QFrame:
        """Return the line that says what is left out because it is of other inventories; hidden while nothing is."""
        self._others: tuple[Event, ...] = ()
        self._others_shown = False
        self._others_said = label("", "second")
        self._others_button = button("", "link", on=self._turn_others)
        self._others_row = QFrame()
        row = QHBoxLayout(self._others_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._others_said)
        row.addWidget(self._others_button)
        row.addStretch(1)
        self._others_row.hide()
        return self._others_row

    def _make_table(self) -> QTableView:
        table = _Table()
        table.setModel(self._model)
        table.setItemDelegateForColumn(SHAPE, _ShapeDelegate(table))
        table.setItemDelegateForColumn(TIME, _TimeDelegate(table))
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setMouseTracking(True)
        table.verticalHeader().hide()
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setTabKeyNavigation(False)
        table.setAccessibleName(tr("Events"))
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setMinimumSectionSize(28)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.activated.connect(self._travel)
        return table

    def _fit_text(self) -> None:
        self._words.setMinimumWidth(px(112))
        self._words.setMaximumWidth(px(240))
        self._fit_sentences()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the sentences the room there is, but not so much that the eye loses the row on the way to its kind."""
        super().resizeEvent(event)
        self._fit_sentences()

    def _fit_sentences(self) -> None:
        room = self.width() - _LEFT - _RIGHT - _SCROLL
        widths = {column: px(width) for column, width in _WIDTHS.items()}
        missing = px(_LEAST_WHAT) + sum(widths.values()) - room
        for column, narrow in _NARROW.items():
            given = max(0, min(missing, widths[column] - px(narrow)))
            widths[column] -= given
            missing -= given
        widths[WHAT] = max(px(_STILL_READ), min(px(_MOST_WHAT), room - sum(widths.values())))
        two_lines = widths[TIME] < px(_WIDTHS[TIME])
        self._table.setWordWrap(two_lines)
        self._table.verticalHeader().setDefaultSectionSize(px(_TWO_LINES if two_lines else _ROW))
        header = self._table.horizontalHeader()
        header.setStretchLastSection(False)  # it would take the room of a section that is about to grow
        for column, width in widths.items():
            header.resizeSection(column, width)
        header.setStretchLastSection(missing <= 0)
        self._tell_whole()

    def _tell_whole(self) -> None:
        """Say the whole sentence of the row in hand where its column cuts it: a tooltip is nothing for the keyboard."""
        row = self._table.currentIndex()
        said = self._model.sentence(self._model.rows[row.row()]) if row.isValid() else ""
        room = self._table.columnWidth(WHAT) - px(_BESIDE)
        cut = self._table.fontMetrics().horizontalAdvance(said) > room * (2 if self._table.wordWrap() else 1)
        self._whole.setText(said if cut else "")
        self._whole.setVisible(cut)

    # -- content -------------------------------------------------------------------------------------------------
    def show_events(self, events: Sequence[Event]) -> None:
        """Show these events (oldest first, as the source gives them); the filter stays."""
        self._model.show_events(events)
        self._tell()

    def know_others(self, events: Sequence[Event]) -> None:
        """Take what the same history holds of other inventories: it is left out, and said to be, until it is wanted."""
        self._others, self._others_shown = tuple(events), False
        self._tell_others()

    def _turn_others(self) -> None:
        self._others_shown = not self._others_shown
        self._tell_others()

    def _tell_others(self) -> None:
        count = len(self._others)
        self._others_row.setVisible(bool(count))
        self._others_said.setText(
            plural(count, "{n} event of the last day belongs to another inventory",
                   "{n} events of the last day belong to other inventories")
        )  # fmt: skip
        self._others_button.setText(tr("Hide") if self._others_shown else tr("Show"))
        self._model.show_others(self._others if self._others_shown else ())
        self._tell()

    def shown(self) -> tuple[Event, ...]:
        """Return the events that pass the filter, newest first."""
        return self._model.rows

    def empty_title(self) -> str:
        """Return what the page says while no row is shown."""
        return self._empty.texts()[0]

    def set_filter(self, *, words: str = "", kind: str = "", least: Health = Health.GOOD) -> None:
        """Fill the filter's fields."""
        self._words.setText(words)
        self._kind.setCurrentIndex(max(0, self._kind.findData(kind)))
        self._least.setCurrentIndex(max(0, self._least.findData(least.value)))

    def _refilter(self) -> None:
        least = Health(self._least.currentData())
        self._model.set_filter(EventFilter(self._words.text(), self._kind.currentData(), least))
        self._tell()

    def _tell(self) -> None:
        shown, known = len(self._model.rows), self._model.known
        self._count.setText(
            plural(known, "{n} event", "{n} events")
            if shown == known
            else tr_n(
                "{shown} of {n} event",
                "{shown} of {n} events",
                known,
                n=format_count(known),
                shown=format_count(shown),
            )
        )
        self._stack.setCurrentIndex(0 if shown else 1)
        if known and not shown:
            self._empty.say(tr("No event matches the filter"), tr("Clear the filter text or choose all kinds."))
        elif not known:
            self._empty.say(
                tr("Nothing has happened yet"),
                tr("State changes, transfers, restarts, gaps and changed settings are listed here when they are seen."),
            )

    def _travel(self, index: QModelIndex) -> None:
        event = index.data(int(Qt.ItemDataRole.UserRole))
        if not isinstance(event, Event):
            return
        if run := run_of(event):
            self.run_chosen.emit(run)
        else:
            self.moment_chosen.emit(event.at)

    # -- export --------------------------------------------------------------------------------------------------
    def export(self, path: Path) -> None:
        """Write the rows shown as CSV; raise BadInput when the file can't be written."""
        try:
            write_whole(path, as_csv(self._model.rows, self._model.sentence))
        except OSError as problem:
            sentence = tr(
                "The journal could not be written to {path} ({strerror}).", path=path, strerror=problem.strerror
            )
            raise BadInput(sentence, try_=(tr("Choose a folder you may write to."),)) from problem

    def _ask_and_export(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Export the journal"), "journal.csv", "*.csv")
        if not chosen:
            return
        try:
            self.export(Path(chosen))
        except BadInput as problem:
            self._bar.say_error(problem)


class _Table(QTableView):
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space would mark the marked row again: the window has a better use for it."""
        if event.key() == Qt.Key.Key_Space:
            event.ignore()
        else:
            super().keyPressEvent(event)


_NEW_LINE = "\N{LINE SEPARATOR}"
"""What Qt's own delegate makes of a new line (QStyledItemDelegate::displayText)."""


class _TimeDelegate(QStyledItemDelegate):
    """Lets the date of a moment stand above its time of day where both have no room in one line."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        if option.features & QStyleOptionViewItem.ViewItemFeature.WrapText:
            option.text = option.text.replace(" ", _NEW_LINE, 1)


class _ShapeDelegate(QStyledItemDelegate):
    """Paints an event's seriousness."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        event = index.data(int(Qt.ItemDataRole.UserRole))
        if isinstance(event, Event):
            middle = option.rect.center()
            side = px(11)
            place = QRectF(middle.x() - side // 2, middle.y() - side // 2, side, side)
            glyph(painter, place, event.health, current_theme())

"""The journal's rows: events, newest first, filtered by words, kind and seriousness; and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from services.events import Event
from services.i18n import english, mark, tr
from services.moments import utc_time
from services.types import Health
from widgets.common.controls.plain import plain_text
from widgets.common.event_words import lasted, sentence
from widgets.common.look.glyphs import WORDS
from widgets.common.look.text import format_moment, one_line

Index = QModelIndex | QPersistentModelIndex
COLUMNS = (mark("Time"), "", mark("What"), mark("Kind"), mark("Duration"))
TIME, SHAPE, WHAT, KIND, LASTED = range(5)
KINDS = {
    "state": mark("state"),
    "view": mark("membership"),
    "restart": mark("restart"),
    "gap": mark("gap in the samples"),
    "transfer": mark("state transfer"),
    "variable": mark("setting changed"),
    "disk": mark("disk"),
    "connection": mark("connection"),
    "clock": mark("clock"),
    "console": mark("console"),
    "note": mark("note"),
    "run": mark("run"),
    "step": mark("step of a run"),
}


@dataclass(frozen=True, slots=True)
class EventFilter:
    """What is shown. Empty values let everything through."""

    words: str = ""
    kind: str = ""
    least: Health = Health.GOOD
    cluster_id: str = ""

    def lets(self, event: Event) -> bool:
        """Return whether an event passes."""
        return (
            (not self.kind or event.kind == self.kind)
            and (not self.cluster_id or event.cluster_id in {"", self.cluster_id})
            and event.health.severity >= self.least.severity
            and all(word in sentence(event).casefold() for word in self.words.casefold().split())
        )


_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
"""What a cell of a formula begins with, full width too (a Japanese Excel takes it), also behind spaces."""
_SPACE = frozenset("\t\r\n")
_MOST_NEW = 32
"""More new events than that are shown as another list: each row that is put in costs the view a layout."""


def run_of(event: Event) -> str:
    """Return the number of the run that an event tells of, '' for any other event."""
    return event.key.split(":")[1] if event.kind in {"run", "step"} and ":" in event.key else ""


def as_csv(events: Sequence[Event], told: Callable[[Event], str] = sentence) -> str:
    """Return events as CSV (RFC 4180, UTC times in ISO 8601), one header line; `told` gives their sentences."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("at", "until", "kind", "health", "cluster", "node", "text"))
    for event in events:
        until = "" if event.until is None or event.unseen_end else _iso(event.until)
        row = (
            _iso(event.at),
            until,
            event.kind,
            event.health.value,
            event.cluster_id,
            event.node_id,
            english(told(event)),
        )
        writer.writerow([_harmless(cell) for cell in row])
    return out.getvalue()


def _iso(at: float) -> str:
    return utc_time(at).isoformat(timespec="milliseconds")


def _harmless(cell: str) -> str:
    """Keep a spreadsheet from taking a server's text for a formula (OWASP: CSV injection)."""
    return f"'{cell}" if cell[:1] in _SPACE or cell.lstrip()[:1] in _FORMULA else cell


def _new_places(before: Sequence[Event], now: Sequence[Event]) -> list[tuple[int, int]] | None:
    """Return which rows of `now`, first and last of each run, came between those of `before`; None: another list."""
    if not before or not 0 < len(now) - len(before) <= _MOST_NEW:
        return None
    places: list[tuple[int, int]] = []
    known = 0
    for place, event in enumerate(now):
        if known < len(before) and event == before[known]:
            known += 1
        elif places and places[-1][1] == place - 1:
            places[-1] = (places[-1][0], place)
        else:
            places.append((place, place))
    return places if known == len(before) else None


class EventsModel(QAbstractTableModel):
    """Events that pass the filter, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._own: tuple[Event, ...] = ()
        self._others: frozenset[Event] = frozenset()
        self._all: tuple[Event, ...] = ()
        self._filter = EventFilter()
        self.rows: tuple[Event, ...] = ()

    def show_events(self, events: Sequence[Event]) -> None:
        """Take the events known now, in the order they were seen; new ones appear without disturbing the rest."""
        self._own = tuple(events)
        self._join()

    def show_others(self, events: Sequence[Event]) -> None:
        """Show events of other inventories too, each said to be of one; none takes them away again."""
        self._others = frozenset(events)
        self._join()

    def _join(self) -> None:
        # What is told late (a gap, the beginning of a silence) happened before what was told before it.
        self._all = tuple(sorted((*self._own, *self._others), key=lambda event: event.at))
        self._refresh()

    def sentence(self, event: Event) -> str:
        """Return what a row says."""
        text = sentence(event)
        return tr("another inventory: {sentence}", sentence=text) if event in self._others else text

    def set_filter(self, chosen: EventFilter) -> None:
        """Show only what passes."""
        if chosen != self._filter:
            self._filter = chosen
            self._refresh()

    @property
    def known(self) -> int:
        """Return how many events there are, filtered or not."""
        return len(self._all)

    def _refresh(self) -> None:
        wanted = tuple(e for e in reversed(self._all) if self._filter.lets(e))
        if wanted == self.rows:
            return
        places = _new_places(self.rows, wanted)
        if places is None:
            self.beginResetModel()
            self.rows = wanted
            self.endResetModel()
            return
        for first, last in places:
            self.beginInsertRows(QModelIndex(), first, last)
            self.rows = (*self.rows[:first], *wanted[first : last + 1], *self.rows[first:])
            self.endInsertRows()

    # -- Qt's side -----------------------------------------------------------------------------------------------
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Return the number of events that pass."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> object:
        """Return a column's title."""
        shown = orientation is Qt.Orientation.Horizontal and role == int(Qt.ItemDataRole.DisplayRole)
        return tr(COLUMNS[section]) if shown else None

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Return a cell's text; the first column carries the whole event as user data."""
        if not index.isValid():
            return None
        event = self.rows[index.row()]
        if role == int(Qt.ItemDataRole.UserRole):
            return event
        if role == int(Qt.ItemDataRole.ToolTipRole):
            return plain_text(self.sentence(event) if index.column() == WHAT else self._cell(event, index.column()))
        if role == int(Qt.ItemDataRole.AccessibleTextRole) and index.column() == SHAPE:
            return tr(WORDS[event.health])
        if role != int(Qt.ItemDataRole.DisplayRole):
            return None
        return self._cell(event, index.column())

    def _cell(self, event: Event, column: int) -> str:
        if column == WHAT:
            return one_line(self.sentence(event))
        return {TIME: format_moment(event.at), KIND: tr(KINDS[event.kind]), LASTED: lasted(event)}.get(column, "")

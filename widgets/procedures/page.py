"""The procedures page: what is still on, where runs stand, and the procedures by the need they answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from services.i18n import mark, tr
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import OpenObligation, RunView
from widgets.common.controls.boxes import button, hairline
from widgets.common.controls.labels import label
from widgets.common.look.fonts import px
from widgets.common.look.styling import wear
from widgets.common.look.theme import theme_holder
from widgets.common.messages import MessageBar
from widgets.procedures.blocks import emptied, put, text_label
from widgets.procedures.run.confirm_strip import ConfirmStrip
from widgets.procedures.run.consequences import leave_sentences, undo_sentences
from widgets.procedures.run_cards import CARD_WIDTH, ObligationRow, ProcedureCard, RunRow
from widgets.procedures.words import OVER

_MOST_COLUMNS = 5
_PROMISE = mark(
    "Each procedure first reads and checks the cluster, shows its exact plan, and acts only after your approval."
)
_GAP = 12


class ProceduresPage(QFrame):
    """Signals are named for what a person wants."""

    procedure_chosen = Signal(str)
    resume_wanted = Signal(str)
    undo_wanted = Signal(str)
    leave_wanted = Signal(str, str)
    """Run id, reason."""
    report_wanted = Signal(str)
    release_wanted = Signal(str, str)
    """Run id, obligation key."""
    run_chosen = Signal(str)
    chunks_wanted = Signal()
    """The calculator of backup chunks."""

    def __init__(self, clock: Callable[[], float] = time.time, why_not: str = "") -> None:
        """Make the page.

        Args:
            why_not: why nothing can begin here (a recording): cards say so, and there are no runs to show.
        """
        super().__init__()
        self._why_not = why_not
        self._refused: Mapping[str, str] = {}
        self.setProperty("kind", "canvas")
        self._clock = clock
        self._abouts: tuple[About, ...] = ()
        self._columns = 0
        self.cards: list[ProcedureCard] = []
        self.runs: list[RunRow] = []
        self._places: list[tuple[str, bool]] = []
        """Of each row its run, and whether it stands among those that are not over."""
        self.duties: list[ObligationRow] = []
        self.messages, self.confirm = MessageBar(), ConfirmStrip()
        self._groups, self._duties = QVBoxLayout(), QVBoxLayout()
        self._open_runs, self._runs = QVBoxLayout(), QVBoxLayout()
        self._duties_card, self._open_card, self._runs_card = map(_card, (self._duties, self._open_runs, self._runs))
        self.chunks = button(
            tr("Chunks of a backup for xbcloud…"),
            on=self.chunks_wanted.emit,
            hint=tr("The best object size for a backup, its cost, and errors in the backup command"),
        )
        self._no_chunks = text_label("", "third")
        self._waiting = text_label(tr("Reading the procedures and the stored runs…"), "second")
        self._no_runs = text_label(
            tr("No runs yet. Every run is kept here with its report, whatever its result."), "second"
        )
        self._open_title = label(tr("Unfinished runs"), "section")
        self._runs_title = label(tr("Runs"), "section")
        self._duties_title = label(tr("Obligations: still switched on"), "section")
        self._build()
        theme_holder().sized.connect(self._place_cards)
        self.set_obligations(())
        self.set_runs(())
        for part in (self._no_runs, self._runs_title):
            part.hide()  # until they are read nobody knows that there is none
        wear(self)

    def _build(self) -> None:
        self._groups.setSpacing(_GAP)
        self._groups.setContentsMargins(0, 8, 0, 0)  # a caption belongs to the cards below it
        inner = QFrame()
        inner.setProperty("kind", "canvas")
        column = QVBoxLayout(inner)
        column.setContentsMargins(20, 16, 16, 24)
        column.setSpacing(8)
        column.addWidget(label(tr("Procedures"), "title"))
        column.addWidget(text_label(tr(_PROMISE), "second"))
        column.addWidget(self._waiting)
        column.addWidget(self.messages)
        column.addWidget(self.confirm)
        # What is still on and what is not over comes before what could be begun.
        column.addWidget(self._duties_title)
        column.addWidget(self._duties_card)
        column.addWidget(self._open_title)
        column.addWidget(self._open_card)
        column.addLayout(self._groups)
        column.addSpacing(8)
        column.addWidget(label(tr("Calculators"), "section"))
        column.addWidget(self.chunks, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._no_chunks)
        column.addSpacing(8)
        column.addWidget(self._runs_title)
        column.addWidget(self._runs_card)
        column.addWidget(self._no_runs)
        column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setProperty("kind", "ring")
        self._scroll.setWidget(inner)
        self._scroll.setWidgetResizable(True)
        # Where no card takes the keys the page itself does: it can still be walked through.
        self._scroll.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self._why_not else Qt.FocusPolicy.NoFocus)
        self._scroll.setAccessibleName(tr("Procedures"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._scroll)

    # -- content -------------------------------------------------------------------------------------------------
    def set_procedures(self, abouts: Iterable[About]) -> None:
        """Show a card for each, grouped by the need they answer, in the order given."""
        wanted = tuple(abouts)
        if wanted == self._abouts:
            return
        self._abouts, self._columns = wanted, 0
        self._waiting.hide()
        self._place_cards()

    def not_read(self) -> None:
        """Say that what stands here could not be read, and how it is tried again."""
        self._waiting.setText(tr("The procedures could not be read. Open this page again to retry."))

    def set_runs(self, views: Iterable[RunView]) -> None:
        """Show the runs: unfinished ones first of all, newest first within (as they come)."""
        ordered = sorted(views, key=lambda view: view.state in OVER)
        now = self._clock()
        unfinished = sum(view.state not in OVER for view in ordered)
        places = [(view.run_id, number < unfinished) for number, view in enumerate(ordered)]
        if places == self._places:
            for row, view in zip(self.runs, ordered, strict=True):
                row.show_run(view, now)
        else:
            self._places = places
            emptied(self._open_runs)
            emptied(self._runs)
            self.runs = [RunRow(view, now) for view in ordered]
            _fill(self._open_runs, self.runs[:unfinished])
            _fill(self._runs, self.runs[unfinished:])
            for row in self.runs:
                row.chosen.connect(self.run_chosen)
                row.resume_pressed.connect(self.resume_wanted)
                row.report_pressed.connect(self.report_wanted)
                row.undo_pressed.connect(self.ask_undo)
                row.leave_pressed.connect(self._ask_leave)
        for part in (self._open_card, self._open_title):
            part.setVisible(unfinished > 0)
        over, none_yet = len(ordered) > unfinished, not ordered and not self._why_not
        self._runs_card.setVisible(over)
        self._no_runs.setVisible(none_yet)
        self._runs_title.setVisible(over or none_yet)

    def set_obligations(self, duties: Iterable[OpenObligation], clusters: Mapping[str, str] | None = None) -> None:
        """Show what is still switched on; `clusters`: run id -> the name of its cluster."""
        wanted, now = tuple(duties), self._clock()
        if [_key(d) for d in wanted] == [_key(row.duty) for row in self.duties]:
            for row, duty in zip(self.duties, wanted, strict=True):
                row.show_duty(duty, now)
        else:
            emptied(self._duties)
            self.duties = [ObligationRow(duty, now, (clusters or {}).get(duty.run_id, "")) for duty in wanted]
            _fill(self._duties, self.duties)
            for row in self.duties:
                row.release_pressed.connect(self.release_wanted)
        for part in (self._duties_card, self._duties_title):
            part.setVisible(bool(self.duties))

    def refuse(self, whys: Mapping[str, str]) -> None:
        """Say on each card, by its procedure's name, why it can't begin on what is in sight; '' where it can."""
        if whys == self._refused:
            return
        self._refused = dict(whys)
        for card in self.cards:
            card.refuse(whys.get(card.about.name, ""))

    def refuse_chunks(self, why: str) -> None:
        """Say why backup chunks are no matter of the servers in sight; '' where they may be."""
        self.chunks.setVisible(not why)
        put(self._no_chunks, why)

    def focus_first(self) -> None:
        """Give the keys to the first card that can begin."""
        first = next((card for card in self.cards if card.can_begin()), None)
        if first is not None:
            first.setFocus()
        elif self._why_not or self.cards:
            self._scroll.setFocus()

    # -- asking --------------------------------------------------------------------------------------------------
    def ask_undo(self, run_id: str) -> None:
        """Ask before a run is undone, with what that means."""
        view = self._view(run_id)
        hosts = ", ".join(view.plan.hosts)
        title = tr("Undo run {number} on {hosts}?", number=run_id, hosts=hosts)
        agreed = tr("Undo the &run")
        self.confirm.ask(title, undo_sentences(view), agreed, lambda _reason: self.undo_wanted.emit(run_id))
        self._scroll.ensureWidgetVisible(self.confirm)

    def _ask_leave(self, run_id: str) -> None:
        sentences = leave_sentences(self._view(run_id))
        title = tr("Leave run {number} in its current state?", number=run_id)
        agreed = tr("Lea&ve it")
        self.confirm.ask(title, sentences, agreed, lambda why: self.leave_wanted.emit(run_id, why), reason=True)
        self._scroll.ensureWidgetVisible(self.confirm)

    def _view(self, run_id: str) -> RunView:
        return next(row.view for row in self.runs if row.view.run_id == run_id)

    # -- place ---------------------------------------------------------------------------------------------------
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put as many cards side by side as there is room for."""
        super().resizeEvent(event)
        self._place_cards()

    def _place_cards(self) -> None:
        columns = max(1, min(_MOST_COLUMNS, (self.width() - 36 + _GAP) // (px(CARD_WIDTH) + _GAP)))
        if columns == self._columns or not self._abouts:
            return
        self._columns = columns
        focused = next((c.about.name for c in self.cards if c.open_button is not None and c.open_button.hasFocus()), "")
        emptied(self._groups)
        self.cards = []
        grid = QGridLayout()
        grid.setSpacing(_GAP)
        grid.setVerticalSpacing(8)
        for column in range(columns):
            grid.setColumnStretch(column, 1)
        band = used = 0
        for need in dict.fromkeys(about.need for about in self._abouts):
            group = [about for about in self._abouts if about.need == need]
            if used and used + len(group) > columns:
                band, used = band + 2, 0  # needs stand side by side as long as there is room
            grid.addWidget(label(tr(need), "caps"), band, used)
            for about in group:
                if used == columns:
                    band, used = band + 2, 0
                self._add_card(grid, about, band + 1, used)
                used += 1
        self._groups.addLayout(grid)
        for card in self.cards:
            card.show()  # Qt would show it one event later: Tab pressed meanwhile would pass it by
            if card.about.name == focused:
                card.setFocus()

    def _add_card(self, grid: QGridLayout, about: About, row: int, column: int) -> None:
        card = ProcedureCard(about, self._why_not)
        card.chosen.connect(self.procedure_chosen)
        card.refuse(self._refused.get(about.name, ""))
        self.cards.append(card)
        grid.addWidget(card, row, column)


def _card(layout: QVBoxLayout) -> QFrame:
    card = QFrame()
    card.setProperty("kind", "card")
    layout.setContentsMargins(1, 1, 1, 1)
    layout.setSpacing(0)
    card.setLayout(layout)
    return card


def _fill(layout: QVBoxLayout, rows: Iterable[QWidget]) -> None:
    for number, row in enumerate(rows):
        if number:
            layout.addWidget(hairline())
        layout.addWidget(row)


def _key(duty: OpenObligation) -> tuple[str, str]:
    return duty.run_id, duty.obligation.key

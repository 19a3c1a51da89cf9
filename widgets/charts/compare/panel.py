"""The panel over the charts in which a change is measured: what is marked, whose numbers, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from services.i18n import mark, tr
from widgets.charts.compare.kept import KeptRow
from widgets.charts.compare.marks import MarkedSpan, Marks, Side, Span
from widgets.charts.compare.table import CompareTable, Result
from widgets.common.commands.shortcuts import CHARTS, keys_of
from widgets.common.controls.boxes import button
from widgets.common.controls.combo import Combo
from widgets.common.controls.labels import label
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.look.text import format_clock, format_duration, format_moment

USUAL, CHARTED, ALL = "usual", "charted", "all"
_CHOICES = ((USUAL, mark("the usual numbers")), (CHARTED, mark("numbers of these charts")), (ALL, mark("all numbers")))
_RUN_CHARACTERS = 24
_NAMES: dict[Side, str] = {"before": mark("Before"), "after": mark("After")}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What shall be compared: two stretches, `everyone` or the chosen node, which numbers, what to look past."""

    before: Span
    after: Span
    everyone: bool
    numbers: str
    despite: frozenset[str]


class ComparePanel(QFrame):
    """Closed at first. `kept` is the row in which marks get a name, and are chosen again and removed.

    Signals: opened(); marked(): the stretches are others; wanted(Wanted): compare these; chosen(float, float): what is
    marked now was chosen by name, and begins and ends here.
    """

    opened = Signal()
    marked = Signal()
    wanted = Signal(object)
    chosen = Signal(float, float)

    def __init__(self) -> None:
        super().__init__()
        self._marks = self._aside = Marks()
        self._runs: tuple[tuple[str, Span, Span], ...] = ()
        self.setProperty("kind", "panel")
        self.setAccessibleName(tr("Measure a change"))
        self.sides = {side: self._side_button(side) for side in _NAMES}
        self.run = self._combo(tr("Windows around a run"), self._take_run)
        self.run.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.run.setMinimumContentsLength(_RUN_CHARACTERS)
        self.whom = self._combo(tr("Server or cluster"), self._ask)
        self.numbers = self._combo(tr("Metrics to compare"), self._ask)
        for code, words in _CHOICES:
            self.numbers.addItem(tr(words), code)
        self.restart = self._tick(
            tr("despite a restart"), tr("Compare even if there was a restart in or between the windows")
        )
        self.load = self._tick(tr("despite the load"), tr("Compare even if the load changed or may have changed"))
        self.kept = KeptRow()
        self.kept.chosen.connect(lambda mark: self._take_both(mark.before, mark.after))
        self.hint = label("", "third", wrap=True)
        self.table = CompareTable()
        self.row = label("", "second", wrap=True)
        self.table.row_told.connect(self._tell_row)
        self.summary = label("", "second", wrap=True)
        self._lay_out()
        self.set_runs(())
        self.clear()
        self.setVisible(False)

    def _lay_out(self) -> None:
        close = button(
            tr("Close"), on=self.close_panel, hint=tr("Hide the panel and the marks until you open it again")
        )
        gap = QWidget()
        gap.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        head = WrapRow(label(tr("Measure a change"), "section"), gap, self.kept.box, self.run, close)
        choices = WrapRow(*self.sides.values(), self.whom, self.numbers, self.restart, self.load)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 8, 14, 8)
        column.setSpacing(6)
        for part in (head, choices, self.kept, self.hint, self.table, self.row, self.summary):
            column.addWidget(part)

    def _side_button(self, side: Side) -> QPushButton:
        made = button("", on=lambda: self._choose(side), hint=tr("The next range you drag becomes this window"))
        made.setCheckable(True)
        return made

    def _combo(self, name: str, then: Callable[[], None]) -> Combo:
        made = Combo()
        made.setAccessibleName(name)
        made.activated.connect(lambda _=0: then())
        return made

    def _tick(self, words: str, hint: str) -> QCheckBox:
        made = QCheckBox(words)
        made.setAccessibleDescription(hint)
        made.toggled.connect(lambda _=False: self._ask())
        return made

    # -- what the owner tells

    def set_subject(self, node: str) -> None:
        """Name the node whose numbers are compared when not everybody's are."""
        chosen = max(0, self.whom.currentIndex())
        self.whom.clear()
        self.whom.addItems([node, tr("all nodes")])
        self.whom.setCurrentIndex(chosen)
        self._ask()

    def set_runs(self, runs: Sequence[tuple[str, Span, Span]]) -> None:
        """Offer the stretches around these runs: what each is called, before, after."""
        self._runs = tuple(runs)
        self.run.clear()
        self.run.addItems([tr("around a run…"), *(words for words, _, _ in self._runs)])
        self.run.setVisible(bool(self._runs))

    def show_result(self, result: Result) -> None:
        """Show what differs; an answer for marks that are gone is dropped."""
        if self._marks.both is None:
            return
        self.table.show_rows(result.headers, result.rows)
        self.table.setVisible(bool(result.rows))
        self._say(result.summary)

    def show_problem(self, words: str) -> None:
        """Say why nothing can be compared."""
        if self._marks.both is None:
            return
        self.table.setVisible(False)
        self._say(words)

    # -- what a person does

    @property
    def marks(self) -> tuple[MarkedSpan, ...]:
        """Return what the charts shade."""
        return self._marks.spans()

    def open_panel(self) -> None:
        """Show the panel, with what was marked when it was closed."""
        if self.isHidden():
            self.setVisible(True)
            aside, self._aside = self._aside, Marks()
            self._set(aside)
            self.opened.emit()

    def close_panel(self) -> None:
        """Take panel and marks away; they are there again when it is opened: a slip of one key loses no work."""
        self._aside = self._marks
        self.setVisible(False)
        self.clear()

    def clear(self) -> None:
        """Forget what was marked."""
        self.table.setVisible(False)
        self._say("")
        self._set(Marks())

    def toggle(self) -> None:
        """Open or close."""
        if self.isHidden():
            self.open_panel()
        else:
            self.close_panel()

    def take(self, first: float, last: float) -> bool:
        """Take a stretch that was dragged out; False where the panel is closed and it means something else."""
        if self.isHidden():
            return False
        self._set(self._marks.taking(first, last))
        return True

    def mark(self, side: Side, at: float) -> None:
        """Begin or end a stretch at the cursor."""
        self.open_panel()
        self._set(self._marks.marking(side, at))

    def _tell_row(self, words: str) -> None:
        self.row.setText(words)
        self.row.setVisible(bool(words) and not self.table.isHidden())

    def _choose(self, side: Side) -> None:
        self._set(replace(self._marks, next_side=side, begun=None))

    def _take_run(self) -> None:
        chosen = self.run.currentIndex() - 1
        if chosen >= 0:
            self._take_both(*self._runs[chosen][1:])

    def _take_both(self, before: Span, after: Span) -> None:
        self._set(Marks().taking(*before).taking(*after))
        self.chosen.emit(before[0], after[1])

    def _set(self, marks: Marks) -> None:
        moved = marks.both != self._marks.both
        self._marks = marks
        for side, made in self.sides.items():
            span = marks.span(side)
            made.setText(tr(_NAMES[side]) if span is None else f"{tr(_NAMES[side])}  {_words(span)}")
            made.setChecked(marks.next_side == side)
        self.kept.show_for(marks.both)
        told = self._hint_words()
        self.hint.setText(told)
        self.hint.setVisible(bool(told))
        self.marked.emit()
        if moved:
            self._ask()

    def _hint_words(self) -> str:
        marks = self._marks
        if marks.begun is not None:
            side, at = marks.begun
            key = keys_of(CHARTS, f"mark-{side}")
            return tr("Starts at {at}: move the cursor to the other end and press {key}.", at=format_clock(at), key=key)
        if marks.both is not None:
            return ""
        left, right = keys_of(CHARTS, "left"), keys_of(CHARTS, "right")
        key = keys_of(CHARTS, f"mark-{marks.next_side}")
        how = tr("drag over a chart, or move to each end with {left} {right} and press {key}", left=left, right=right,
                 key=key)  # fmt: skip
        if marks.next_side == "before":
            return tr("Mark the time before the change: {how}. Ten minutes show more than two.", how=how)
        return tr("Mark the time after the change: {how}.", how=how)

    def _ask(self) -> None:
        """Have both stretches compared, once there are both."""
        both = self._marks.both
        if both is None or self.isHidden():
            return
        ticks = (("restart", self.restart), ("load", self.load))
        despite = frozenset(name for name, tick in ticks if tick.isChecked())
        self._say(tr("Comparing…"))
        self.wanted.emit(Wanted(*both, self.whom.currentIndex() == 1, self.numbers.currentData(), despite))

    def _say(self, words: str) -> None:
        self._tell_row("")
        self.summary.setText(words)
        self.summary.setVisible(bool(words))


def _words(span: Span) -> str:
    same_day = format_moment(span[0])[:10] == format_moment(span[1])[:10]
    first, last = (format_clock(at) if same_day else format_moment(at) for at in span)
    length = format_duration(round(span[1] - span[0]))
    return tr("{first} to {last}, {span}", first=first, last=last, span=length)

"""The preflight: what blocks, warns or is not known stands open at the top; what passed is a line a check below."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.checks import Check, Override, Remedy, Verdict, standing_blocks
from services.types import Health
from widgets.common.controls.boxes import HealthMark, button, hairline
from widgets.common.controls.fields import line
from widgets.common.controls.labels import label, set_kind
from widgets.common.controls.plain import set_tip
from widgets.common.controls.wrap_row import WrapRow, turn_box
from widgets.common.look.fonts import px
from widgets.common.look.text import MIDDLE, plural
from widgets.common.look.theme import theme_holder
from widgets.procedures.blocks import emptied, put, text_label
from widgets.procedures.forms.passed_line import PassedLine, folds, passed_once
from widgets.procedures.run.next_bar import Foot
from widgets.procedures.words import check_health, check_word

_ORDER = {Verdict.BLOCK: 0, Verdict.WARN: 1, Verdict.PASS: 3}
_NOT_KNOWN = 2
_LEAST_ROW, _LEAST_TITLE = 180, 160
_BESIDE = 24  # the shape before the words and what lies between


class CheckRow(QFrame):
    """One check. `reason` is the override's line, None where none exists (a pass, a warning, an absolute block).

    An override names a code, not a host: of several blocks of one code only the first asks for the reason.

    Signals: `reason_typed`, `answer_wanted(name of a question)`.

    Args:
        title_of: gives the words of a question by its name.
    """

    reason_typed = Signal()
    answer_wanted = Signal(str)

    def __init__(
        self,
        check: Check,
        reason: str = "",
        *,
        fixed: bool = False,
        asks: bool = True,
        title_of: Callable[[str], str] = str,
    ) -> None:
        super().__init__()
        self.check = check
        self._title_of = title_of
        self._asks = asks
        self.reason: QLineEdit | None = None
        shape = HealthMark(check_health(check), 11)
        shape.setAccessibleName(", ".join(filter(None, (check_word(check), tr(check.title), check.host))))
        column = QVBoxLayout()
        column.setSpacing(2)
        self._head = self._title()
        column.addLayout(self._head)
        for text, kind in ((tr(check.evidence), "second"), *self._advice()):
            if text:
                column.addWidget(text_label(text, kind))
        if check.verdict is not Verdict.PASS:
            for answer in check.answers:
                column.addLayout(self._answer(answer, fixed=fixed))
        if check.verdict is Verdict.BLOCK:
            column.addLayout(self._override(reason, fixed=fixed))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 6, 0, 6)
        row.setSpacing(12)
        row.addWidget(shape, 0, Qt.AlignmentFlag.AlignTop)
        shape.setContentsMargins(0, 3, 0, 0)
        row.addLayout(column, 1)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)

    def _title(self) -> QHBoxLayout:
        check = self.check
        row = QHBoxLayout()
        row.setSpacing(12)
        calm = check.verdict is Verdict.PASS
        row.addWidget(text_label(tr(check.title), "" if calm else "section"), 1)
        tag = f"{check.host} {MIDDLE} {check.code}" if check.host else check.code
        kind = {Health.BAD: "bad", Health.WARN: "warn"}.get(check_health(check), "second")
        word = label(check_word(check), kind)
        word.setMinimumWidth(60)
        word.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._tags = WrapRow(label(tag, "third"), word, spacing=12)
        row.addWidget(self._tags, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _fit_text(self) -> None:
        """The row may be narrower than title, code and verdict side by side: they then stand one below the other.

        A word is not broken: one of 36 letters (a state UUID) has its room, and the page is scrolled to its end.
        """
        shown = self.findChildren(QLabel)
        longest = (part.fontMetrics().horizontalAdvance(word) for part in shown for word in part.text().split())
        self.setMinimumWidth(max([px(_LEAST_ROW), *(px(_BESIDE) + width for width in longest)]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put code and verdict beside the title where there is room for all."""
        super().resizeEvent(event)
        turn_box(self._head, beside=self.width() >= px(_LEAST_TITLE) + self._tags.sizeHint().width())

    def _advice(self) -> tuple[tuple[str, str], ...]:
        if self.check.verdict is Verdict.PASS:
            return ()
        tries = tuple((tr("Try: {advice}", advice=tr(advice)), "second") for advice in self.check.try_)
        why = tr("Why: {reason}", reason=tr(self.check.why)) if self.check.why else ""
        return ((why, "second"), *tries)

    def _answer(self, answer: Remedy, *, fixed: bool) -> QHBoxLayout:
        """What to answer, by the question's own words, and the way there while answers can be given."""
        given, title = tr(" or ").join(answer.values), self._title_of(answer.field)
        if given:
            words = tr("{advice}: {answer} under “{question}”", advice=tr(answer.advice), answer=given, question=title)
        else:
            words = tr("{advice}: “{question}”", advice=tr(answer.advice), question=title)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(text_label(tr("Try: {advice}", advice=words), "second"), 1)
        if not fixed:
            way = button(tr("Answer"), "link", on=partial(self.answer_wanted.emit, answer.field))
            way.setAccessibleName(tr("Answer {question}", question=title))
            row.addWidget(way, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _override(self, reason: str, *, fixed: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        if self.check.absolute:
            row.addWidget(text_label(tr("There is no override: continuing would certainly lose data."), "bad"), 1)
            return row
        if fixed:
            row.addWidget(text_label(tr("Overridden: {reason}", reason=reason) if reason else "", "warn"), 1)
            return row
        if not self._asks:
            row.addWidget(
                text_label(tr("The reason above applies to every {code}.", code=self.check.code), "second"), 1
            )
            return row
        asked = tr("Continue anyway, because:")
        name = label(asked, "second")
        self.reason = line(
            tr("Reason to override {code}", code=self.check.code),
            tr("your reason; it is kept in the journal and report"),
        )
        self.reason.setText(reason)
        self.reason.textChanged.connect(lambda _text: self.reason_typed.emit())
        name.setBuddy(self.reason)
        row.addWidget(WrapRow(name, self.reason), 1)
        return row


class Checklist(QWidget):
    """Signals: `overrides_changed`, `check_wanted`, `plan_wanted`, `answer_wanted(name of a question)`.

    `shown_wanted(QWidget)` wants it scrolled into sight. `rows` stand open, `lines` are what passed; `foot` has the
    buttons and stands where the page puts it.
    """

    overrides_changed = Signal()
    answer_wanted = Signal(str)
    check_wanted = Signal()
    plan_wanted = Signal()
    shown_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[CheckRow] = []
        self.lines: list[PassedLine] = []
        self.title_of: Callable[[str], str] = str
        self._checks: tuple[Check, ...] = ()
        self._fixed = False
        self._waiting = False
        self._hindrance = ""
        self.again = button(tr("C&heck again"), on=self.check_wanted.emit)
        self.go_on = button(tr("Show &plan"), "primary", on=self.plan_wanted.emit)
        self.standing = text_label("", "bad")
        self.foot = Foot(self.go_on, self.again, self.standing)
        self._open, self._passed = QVBoxLayout(), QVBoxLayout()
        self._title = label("", "caps")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for layout in (self._open, self._passed):
            layout.setSpacing(0)
        column.addLayout(self._open)
        column.addWidget(self._title)
        column.addLayout(self._passed)

    def set_checks(self, checks: tuple[Check, ...], *, waiting: bool) -> None:
        """Show these checks, blocks first; `waiting`: they are being read anew."""
        self._waiting = waiting
        if checks != self._checks or self._fixed:
            self._fixed = False
            self._rebuild(checks, {o.code: o.reason for o in self.overrides()})
        self._judge()

    def set_hindrance(self, sentence: str) -> None:
        """Say why no plan can be shown whatever the checks say, '' for nothing."""
        if sentence != self._hindrance:
            self._hindrance = sentence
            self._judge()

    def show_decided(self, checks: tuple[Check, ...], overrides: tuple[Override, ...]) -> None:
        """Show the checks as a run was approved with: nothing to type any more."""
        if self._fixed and checks == self._checks:
            return
        self._fixed = True
        self._rebuild(checks, {o.code: o.reason for o in overrides})

    def checks(self) -> tuple[Check, ...]:
        """Return the checks shown."""
        return self._checks

    def overrides(self) -> tuple[Override, ...]:
        """Return the overrides with a reason; never one of an absolute block."""
        typed = [(row.check.code, row.reason.text().strip()) for row in self.rows if row.reason is not None]
        return tuple(Override(code, reason) for code, reason in typed if reason)

    def standing_blocks(self) -> tuple[Check, ...]:
        """Return the blocks that still stand."""
        return standing_blocks(self._checks, self.overrides())

    def _rebuild(self, checks: tuple[Check, ...], reasons: dict[str, str]) -> None:
        opened = {line.head.passed.title for line in self.lines if line.head.opened}
        emptied(self._open)
        emptied(self._passed)
        self._checks, self.rows, self.lines = checks, [], []
        asked: set[str] = set()
        for number, check in enumerate(sorted((c for c in checks if not folds(c)), key=_place)):
            row = CheckRow(
                check,
                reasons.get(check.code, ""),
                fixed=self._fixed,
                asks=check.code not in asked,
                title_of=self.title_of,
            )
            row.answer_wanted.connect(self.answer_wanted)
            if row.reason is not None:
                asked.add(check.code)
            row.reason_typed.connect(self._typed)
            self.rows.append(row)
            if number:
                self._open.addWidget(hairline())
            self._open.addWidget(row)
        self._fill_passed(tuple(check for check in checks if folds(check)), opened)

    def _fill_passed(self, passed: tuple[Check, ...], opened: set[str]) -> None:
        for one in passed_once(passed):
            line = PassedLine(one)
            line.head.moved.connect(partial(self._go_on_from, line))
            self._passed.addWidget(line)
            self.lines.append(line)
            if one.title in opened:
                line.head.click()
            line.head.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        for line in self.lines[:1]:
            line.head.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._title.setText(plural(len(passed), "{n} passed", "{n} passed"))
        self._title.setContentsMargins(0, 12 if self.rows else 4, 0, 2)
        self._title.setVisible(bool(passed))

    def _go_on_from(self, line: PassedLine, by: int) -> None:
        """Give the keys to a neighbour: what passed is one stop of the Tab key."""
        at = self.lines.index(line) + by
        if 0 <= at < len(self.lines):
            for other in self.lines:
                stop = Qt.FocusPolicy.StrongFocus if other is self.lines[at] else Qt.FocusPolicy.ClickFocus
                other.head.setFocusPolicy(stop)
            self.lines[at].head.setFocus(Qt.FocusReason.TabFocusReason)
            self.shown_wanted.emit(self.lines[at])

    def _typed(self) -> None:
        self._judge()
        self.overrides_changed.emit()

    def _judge(self) -> None:
        """Say what bars the plan, else what bars the run."""
        barred = tr("Reading the hosts…") if self._waiting else self._hindrance
        self.again.setEnabled(not barred)
        self.go_on.setEnabled(not barred and bool(self._checks))
        names = ", ".join(dict.fromkeys(check.code for check in self.standing_blocks()))
        blocked = tr("A run cannot start while these checks block: {codes}.", codes=names) if names else ""
        set_kind(self.standing, "second" if self._waiting else "bad")
        put(self.standing, barred or blocked)
        set_tip(self.go_on, barred)
        self.go_on.setAccessibleDescription(barred)


def _place(check: Check) -> int:
    return _NOT_KNOWN if check.unknown else _ORDER[check.verdict]

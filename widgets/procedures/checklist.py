"""The preflight: each check with its evidence, why it matters, what to do; blocks accepted by a reason."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from services.procedures.checks import Check, Override, Remedy, Verdict, standing_blocks
from services.words import tr
from widgets.common.boxes import HealthMark, button, hairline
from widgets.common.fields import line
from widgets.common.labels import label
from widgets.common.text import MIDDLE
from widgets.procedures.blocks import emptied, words
from widgets.procedures.words import VERDICT_HEALTH, VERDICT_WORDS

_ORDER = {Verdict.BLOCK: 0, Verdict.WARN: 1, Verdict.PASS: 2}


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
        shape = HealthMark(VERDICT_HEALTH[check.verdict], 11)
        whose = (tr(VERDICT_WORDS[check.verdict]), tr(check.title), check.host)
        shape.setAccessibleName(", ".join(filter(None, whose)))
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addLayout(self._title())
        for text, kind in ((tr(check.evidence), "second"), *self._advice()):
            if text:
                column.addWidget(words(text, kind))
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

    def _title(self) -> QHBoxLayout:
        check = self.check
        row = QHBoxLayout()
        row.setSpacing(12)
        calm = check.verdict is Verdict.PASS
        row.addWidget(words(tr(check.title), "" if calm else "section"), 1)
        tag = f"{check.host} {MIDDLE} {check.code}" if check.host else check.code
        row.addWidget(label(tag, "third"), 0, Qt.AlignmentFlag.AlignTop)
        kind = {Verdict.BLOCK: "bad", Verdict.WARN: "warn"}.get(check.verdict, "second")
        word = label(tr(VERDICT_WORDS[check.verdict]), kind)
        word.setMinimumWidth(56)
        word.setAlignment(Qt.AlignmentFlag.AlignRight)
        row.addWidget(word, 0, Qt.AlignmentFlag.AlignTop)
        return row

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
            told = tr("{advice}: {answer} under “{question}”", advice=tr(answer.advice), answer=given, question=title)
        else:
            told = tr("{advice}: “{question}”", advice=tr(answer.advice), question=title)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(words(tr("Try: {advice}", advice=told), "second"), 1)
        if not fixed:
            way = button(tr("Answer"), "link", on=partial(self.answer_wanted.emit, answer.field))
            way.setAccessibleName(tr("Answer {question}", question=title))
            row.addWidget(way, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _override(self, reason: str, *, fixed: bool) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        if self.check.absolute:
            row.addWidget(words(tr("No override exists: going on would lose data for certain."), "bad"), 1)
            return row
        if fixed:
            row.addWidget(words(tr("Overridden: {reason}", reason=reason) if reason else "", "warn"), 1)
            return row
        if not self._asks:
            row.addWidget(words(tr("The reason above holds for every {code}.", code=self.check.code), "second"), 1)
            return row
        asked = tr("Go on all the same, because:")
        name = label(asked, "second")
        self.reason = line(
            tr("Reason to override {code}", code=self.check.code), tr("your reason; it stays in journal and report")
        )
        self.reason.setText(reason)
        self.reason.textChanged.connect(lambda _text: self.reason_typed.emit())
        name.setBuddy(self.reason)
        row.addWidget(name)
        row.addWidget(self.reason, 1)
        return row


class Checklist(QWidget):
    """Signals: `overrides_changed`, `check_wanted`, `plan_wanted`, `answer_wanted(name of a question)`."""

    overrides_changed = Signal()
    answer_wanted = Signal(str)
    check_wanted = Signal()
    plan_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[CheckRow] = []
        self.title_of: Callable[[str], str] = str
        self._lines: list[QFrame] = []
        self._checks: tuple[Check, ...] = ()
        self._fixed = False
        self._show_all = False
        self._column = QVBoxLayout()
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.waiting_words = words("", "second")
        self.again = button(tr("C&heck again"), on=self.check_wanted.emit)
        self.go_on = button(tr("Show &plan"), "primary", on=self.plan_wanted.emit)
        self.passes = button("", "link", on=self._turn_passes)
        self.standing = words("", "bad")
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.go_on)
        foot.addWidget(self.again)
        foot.addWidget(self.standing, 1)
        foot.addStretch(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.waiting_words)
        column.addLayout(self._column)
        column.addWidget(self.passes)
        column.addLayout(foot)

    def set_checks(self, checks: tuple[Check, ...], *, waiting: bool) -> None:
        """Show these checks, blocks first; `waiting`: they are being read anew."""
        self.waiting_words.setText(tr("Reading the hosts…"))
        self.waiting_words.setVisible(waiting)
        self.again.setEnabled(not waiting)
        for part in (self.again, self.go_on):
            part.show()  # a run that was shown before had taken them away
        if checks != self._checks or self._fixed:
            self._fixed = False
            self._rebuild(checks, {o.code: o.reason for o in self.overrides()})
        self.go_on.setEnabled(not waiting and bool(checks))
        self._judge()

    def show_decided(self, checks: tuple[Check, ...], overrides: tuple[Override, ...]) -> None:
        """Show the checks as a run was approved with: nothing to type any more."""
        if self._fixed and checks == self._checks:
            return
        self._fixed = True
        self._rebuild(checks, {o.code: o.reason for o in overrides})
        for part in (self.waiting_words, self.again, self.go_on, self.standing):
            part.hide()

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
        emptied(self._column)
        self._checks, self.rows, self._lines = checks, [], []
        asked: set[str] = set()
        for number, check in enumerate(sorted(checks, key=lambda check: _ORDER[check.verdict])):
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
            self._lines.append(hairline())
            self._column.addWidget(self._lines[-1])
            self._lines[-1].setVisible(bool(number))  # once it has a parent: it would be a window of its own before
            self._column.addWidget(row)
        self._show_all = all(check.verdict is Verdict.PASS for check in checks)
        self._fold_passes()

    def _typed(self) -> None:
        self._judge()
        self.overrides_changed.emit()

    def _judge(self) -> None:
        standing = self.standing_blocks()
        names = ", ".join(dict.fromkeys(check.code for check in standing))
        self.standing.setText(tr("A run can't start while these stand: {codes}.", codes=names) if standing else "")
        self.standing.setVisible(bool(standing))

    def _turn_passes(self) -> None:
        self._show_all = not self._show_all
        self._fold_passes()

    def _fold_passes(self) -> None:
        """Passed checks fold to one line where something needs to be read first."""
        folded = [row.check.verdict is Verdict.PASS and not row.check.to_read for row in self.rows]
        passed = sum(folded)
        for number, (row, above, calm) in enumerate(zip(self.rows, self._lines, folded, strict=True)):
            shown = self._show_all or not calm
            row.setVisible(shown)
            above.setVisible(shown and number > 0)
        text = tr("Hide what passed") if self._show_all else tr("Show the {n} that passed", n=passed)
        self.passes.setText(text)
        self.passes.setVisible(0 < passed < len(self.rows))

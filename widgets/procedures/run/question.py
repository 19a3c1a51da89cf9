"""What the run asks a person, as a banner with its answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout

from services.i18n import mark, tr
from services.procedures.plan.run_model import BY_WORD, PUT_OFF, UNKNOWN, Broken, Question
from services.types import Health
from widgets.common.controls.boxes import HealthMark, button
from widgets.common.controls.fields import line
from widgets.common.controls.labels import label
from widgets.procedures.blocks import TintedFrame, emptied, put, text_label
from widgets.procedures.words import broken_words, since_words

STOP, UNDO, LEAVE = "stop", "undo", "leave"
_TITLES = {
    "step": mark("The run waits for you"),
    "doubt": mark("Started; result unknown"),
    "continued": mark("The rest of the plan is ready for your approval"),
    "breach": mark("A watch rule broke: the run pauses"),
    "failed": mark("A step failed"),
    UNKNOWN: mark("Result not known: no action is taken"),
}
_ANSWERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "doubt": (
        ("done", mark("It &happened, continue"), "primary"),
        ("again", mark("Do it &again"), ""),
        (STOP, mark("&Stop here"), ""),
    ),
    "continued": (("approve", mark("&Approve and continue"), "primary"), (STOP, mark("&Stop here"), "")),
    "breach": (
        ("go on", mark("&Continue anyway"), ""),
        (UNDO, mark("Und&o…"), "danger"),
        (STOP, mark("&Leave as it is…"), ""),
    ),
    "failed": (
        ("again", mark("Try &again"), "primary"),
        (PUT_OFF, mark("&Postpone"), ""),
        (UNDO, mark("Und&o…"), "danger"),
        (LEAVE, mark("&Leave as it is…"), ""),
    ),
    UNKNOWN: (
        ("again", mark("Check &again"), "primary"),
        (BY_WORD, mark("It &is true, I confirm: continue"), ""),
        (PUT_OFF, mark("&Postpone"), ""),
        (UNDO, mark("Und&o…"), "danger"),
        (LEAVE, mark("&Leave as it is…"), ""),
    ),
}
_BAD = frozenset({"failed", "doubt"})


class QuestionBanner(TintedFrame):
    """`answered(str)` gives the answer word for word as the run expects it."""

    answered = Signal(str)

    def __init__(self) -> None:
        super().__init__(Health.WARN)
        self._question: Question | None = None
        self._stands = False
        self.buttons: list[QPushButton] = []
        self.typed: QLineEdit | None = None
        self._shape = HealthMark(Health.WARN, 13)
        self._title, self._since = text_label("", "section"), label("", "third")
        self._text, self._broken, self._wrong = text_label(""), text_label("", "warn"), text_label("", "warn")
        self._over = text_label("", "second")
        self._answers = QVBoxLayout()
        self._answers.setSpacing(6)
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._since, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self._broken)
        column.addWidget(self._over)
        column.addWidget(self._text)
        column.addWidget(self._wrong)
        column.addSpacing(2)
        column.addLayout(self._answers)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(12)
        row.addWidget(self._shape, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.hide()

    def show_question(
        self, question: Question | None, now: float, broken: tuple[Broken, ...] = (), over: str = "", idle: str = ""
    ) -> None:
        """Show a question, or nothing; the same question keeps what was typed.

        Args:
            broken: watch rules that are broken now: told above it at once, and without any question too, wherever the
                plan is scrolled to. over: what broke and holds again, in a line.
            idle: that nobody drives the run: what is asked is as old as the console that asked it.
        """
        put(self._broken, "\n".join((*([idle] if idle else ()), *(broken_words(one) for one in broken))))
        put(self._over, over)
        self._stands = bool(broken or idle)
        self.setVisible(question is not None or self._stands)
        if question == self._question and question is not None:
            self._nothing_urged()
            return
        if question is not None and self._question is not None and _newer(question, self._question):
            self._question = question  # what is read now; what was typed stays, and so does the focus
            self._say(question)
            self._nothing_urged()
            return
        self._question = question
        put(self._wrong, "")
        if question is None:
            self._show_broken()
            return
        health = Health.BAD if question.topic in _BAD else Health.WARN
        self.set_health(health)
        self._shape.set_health(health)
        put(self._title, tr(_TITLES.get(question.topic, _TITLES["step"])))
        self._say(question)
        self._since.setText(since_words(question.since, now) if question.since else "")
        self._fill(question)
        self._nothing_urged()

    def _show_broken(self) -> None:
        """Show a broken rule while nothing is asked: the run goes on with what it does, or waits for it."""
        emptied(self._answers)
        self.buttons, self.typed = [], None
        self.set_health(Health.WARN)
        self._shape.set_health(Health.WARN)
        put(self._title, tr("A watch rule is broken"))
        put(self._text, "")
        self._since.setText("")
        self.setAccessibleName(f"{self._title.text()}: {self._broken.text()}")

    def _say(self, question: Question) -> None:
        put(self._text, tr(question.ask.question))
        self.setAccessibleName(f"{self._title.text()}: {self._text.text()}")

    def question(self) -> Question | None:
        """Return the question shown."""
        return self._question

    def _fill(self, question: Question) -> None:
        emptied(self._answers)
        self.buttons, self.typed = [], None
        if question.topic in _ANSWERS:
            offered, known = dict(question.ask.choices), _ANSWERS[question.topic]
            fit = [one for one in known if (one[0] in offered if offered else one[0] != PUT_OFF)]
            self._row([(answer, tr(text), kind) for answer, text, kind in fit])
            if PUT_OFF in offered:
                self._answers.addWidget(text_label(tr("Postponed: {meaning}", meaning=tr(offered[PUT_OFF])), "second"))
        elif question.ask.kind == "choice":
            for answer, meaning in question.ask.choices:
                self._choice(answer, meaning)
            self._row([(STOP, tr("&Stop here"), "")])
        elif question.ask.kind == "typed":
            self._typed(question.ask.expect)
        else:
            yes = question.ask.unattended or "yes"
            self._row([(yes, tr("&Yes, continue"), "primary"), (STOP, tr("&Stop here"), "")])

    def _nothing_urged(self) -> None:
        """While a watch rule is broken no answer stands out: to go on is then a person's own choice."""
        broken = self._stands
        for made in self.buttons:
            kind = "" if broken else made.property("asked") or ""
            if made.property("kind") not in {"danger", kind}:
                made.setProperty("kind", kind)
                made.style().unpolish(made)
                made.style().polish(made)

    def _judge_typed(self, text: str, expect: str) -> None:
        """Say of a text that is no answer what would be one."""
        wrong = tr("'{text}' is not the answer: type {word}, or stop here.", text=text, word=expect)
        put(self._wrong, "" if text == expect else wrong)

    def _row(self, answers: list[tuple[str, str, str]]) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        for answer, text, kind in answers:
            made = button(text, kind, on=partial(self.answered.emit, answer))
            made.setProperty("asked", kind)
            self.buttons.append(made)
            row.addWidget(made)
        row.addStretch(1)
        self._answers.addLayout(row)
        return row

    def _choice(self, answer: str, meaning: str) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        made = button(answer, on=partial(self.answered.emit, answer), hint=tr(meaning) if meaning else "")
        made.setMinimumWidth(120)
        self.buttons.append(made)
        row.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(text_label(tr(meaning), "second"), 1)
        self._answers.addLayout(row)

    def _typed(self, expect: str) -> None:
        field = line(tr("Type {word} to continue", word=expect), tr("Type {word} to continue", word=expect))
        field.setMaximumWidth(320)
        self._answers.addWidget(field)
        self._row([(expect, tr("&Continue"), "danger"), (STOP, tr("&Stop here"), "")])
        go_on = self.buttons[0]
        go_on.setEnabled(False)
        field.textChanged.connect(lambda text: go_on.setEnabled(text.strip() == expect))
        field.returnPressed.connect(go_on.click)
        field.returnPressed.connect(lambda: self._judge_typed(field.text().strip(), expect))
        field.textChanged.connect(lambda _text: put(self._wrong, ""))
        self.typed = field


def _newer(question: Question, shown: Question) -> bool:
    """Return whether it is the question that is shown, with other words."""
    words = question.ask.question
    return replace(shown, ask=replace(shown.ask, question=words)) == question

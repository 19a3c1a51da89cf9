"""The calculator of backup chunks: answers in, the advice and every number with its formula out, a command judged.

It needs no server, runs nothing and keeps nothing: what is typed is gone with the window.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from services.backup_chunks.advice import Advice, advise
from services.backup_chunks.asked import QUESTIONS, faults_of, given_by, parsed_answers
from services.backup_chunks.checks import check_jobs
from services.backup_chunks.command_line import Job, parse_job
from services.backup_chunks.model import Backup, Outcome
from services.backup_chunks.telling import chunk_words, lines_of, options_of, size_words
from services.errors import BadInput
from services.i18n import mark, tr
from services.procedures.plan.checks import Check
from widgets.common.controls.boxes import button
from widgets.common.controls.fields import line, mark_wrong
from widgets.common.controls.labels import label
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.look.fonts import px
from widgets.common.look.styling import wear
from widgets.common.look.theme import theme_holder
from widgets.procedures.blocks import emptied, put, text_label
from widgets.procedures.forms.checklist import CheckRow
from widgets.procedures.mono import MonoBox

BETWEEN = "---"
"""A line of these alone stands between two jobs."""
_SETTLED_MS = 150
_WIDTH, _NAMES, _FIELDS, _COMMANDS = 900, 360, 180, 96
_BESIDE = 150
_PROMISE = mark(
    "For Percona XtraBackup with xbcloud; MariaDB has no xbcloud. Nothing is run, and your input is not stored."
)
_NO_SIZE = mark("Enter the size of the data, for example 8 TB, to see the advice and its numbers here.")
_NOT_YET = mark("Correct the marked answer to see the advice and its numbers here.")


class ChunksPage(QFrame):
    """Signals: closed(): back to the procedures (Esc)."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        self.fields: dict[str, QLineEdit] = {}
        self.faults: dict[str, QLabel] = {}
        self._names: list[QLabel] = []
        self.rows: list[CheckRow] = []
        self.advice, self.options = text_label("", "section"), MonoBox(name=tr("Options"))
        self.reasons = text_label("", "second")
        self.now_title, self.then_title = label("", "section"), label("", "section")
        self.now, self.then = MonoBox(name=tr("Current numbers")), MonoBox(name=tr("Recommended numbers"))
        self.command = self._command_field()
        self.wrong = text_label("", "bad")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self.reckon)
        self._build()
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self.reckon()
        wear(self)

    # -- parts --------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self._inner = QFrame()
        self._inner.setProperty("kind", "canvas")
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(20, 16, 16, 24)
        column.setSpacing(8)
        close = button(tr("Close"), hint=tr("Back to the procedures (Esc)"), on=self.closed.emit)
        gap = QWidget()
        gap.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        column.addWidget(WrapRow(label(tr("Chunks of a backup for xbcloud"), "title"), gap, close))
        for part in (text_label(tr(_PROMISE), "second"), self.advice, self.options, self.reasons):
            column.addWidget(part)
        column.addWidget(_card(self._form()))
        for part in (self.now_title, self.now, self.then_title, self.then):
            column.addWidget(part)
        column.addSpacing(8)
        column.addWidget(label(tr("The backup command"), "section"))
        column.addWidget(self.command)
        column.addWidget(self.wrong)
        column.addLayout(self._rows)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(self._inner)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setAccessibleName(tr("Chunks of a backup for xbcloud"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

    def _form(self) -> QGridLayout:
        grid = self._grid = QGridLayout()
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(2, 1)  # a field stands beside its name, not at the other end of the card
        for question in QUESTIONS:
            title, row = tr(question.title), grid.rowCount()
            name = label(title, "second", wrap=True)
            field, fault = line(title, question.usual), label("", "bad", wrap=True)
            name.setBuddy(field)
            fault.hide()
            field.textChanged.connect(lambda _text: self._soon())
            self.fields[question.name], self.faults[question.name] = field, fault
            self._names.append(name)
            grid.addWidget(name, row, 0)
            grid.addWidget(field, row, 1)
            grid.addWidget(fault, row + 1, 0, 1, 3)
        return grid

    def _command_field(self) -> QPlainTextEdit:
        field = QPlainTextEdit()
        field.setTabChangesFocus(True)
        field.setAccessibleName(tr("The backup command"))
        words = tr(
            "set -o pipefail; xtrabackup --backup … | xbcloud put …   Separate several jobs with a line of {sign}.",
            sign=BETWEEN,
        )
        field.setPlaceholderText(words)
        field.textChanged.connect(self._soon)
        return field

    # -- what is shown ------------------------------------------------------------------------------------------------

    def focus_first(self) -> None:
        """Give the keys to the first question."""
        self.fields["size"].setFocus()

    def _soon(self) -> None:
        """Wait until a person rests for a moment."""
        self._settled.start()

    def reckon(self) -> None:
        """Show what the answers and commands of this moment mean."""
        self._settled.stop()
        jobs, wrong = self._jobs()
        put(self.wrong, wrong)
        given = given_by(jobs, None)
        typed = {name: field.text().strip() for name, field in self.fields.items()}
        faults = faults_of(typed)
        for name, field in self.fields.items():
            put(self.faults[name], faults.get(name, ""))
            mark_wrong(field, name in faults)
        answers = given | {name: text for name, text in typed.items() if text}
        advice, backup = None, None
        if answers.get("size") and not faults:
            backup, chunk = parsed_answers(answers)
            advice = advise(backup, chunk)
        self._show_advice(advice, backup, tr(_NOT_YET) if faults else tr(_NO_SIZE))
        memory = None if faults else parsed_answers({**answers, "size": "1 B"})[0].free_memory
        self._show_checks(check_jobs(jobs, memory) if jobs else ())

    def _jobs(self) -> tuple[tuple[Job, ...], str]:
        """Return the jobs of the field, and what is wrong with it."""
        parts: list[list[str]] = [[]]
        for row in self.command.toPlainText().split("\n"):
            if row.strip() == BETWEEN:
                parts.append([])
            else:
                parts[-1].append(row)
        texts = [text for part in parts if (text := "\n".join(part)).strip()]
        try:
            found = tuple(parse_job(tr("command {number}", number=n), text) for n, text in enumerate(texts, 1))
        except BadInput as problem:
            return (), " ".join((str(problem), *problem.try_))
        return found, ""

    def _show_advice(self, advice: Advice | None, backup: Backup | None, otherwise: str) -> None:
        if advice is None or backup is None:
            put(self.advice, otherwise)
            put(self.reasons, "")
            for box in (self.options, self.now, self.then):
                box.set_lines(())
            for title in (self.now_title, self.then_title):
                put(title, "")
            return
        put(self.advice, advice.sentence)
        put(self.reasons, "\n".join(advice.reasons))
        self.options.set_lines((options_of(backup, advice.chunk),) if advice.changes else ())
        put(self.now_title, tr("current: chunks of {size}", size=size_words(advice.now.chunk)))
        self.now.set_lines(_numbers(backup, advice.now))
        words = tr("recommended: chunks of {size}", size=chunk_words(advice.then.chunk))
        put(self.then_title, words if advice.changes else "")
        self.then.set_lines(_numbers(backup, advice.then) if advice.changes else ())

    def _show_checks(self, checks: tuple[Check, ...]) -> None:
        if [row.check for row in self.rows] == list(checks):
            return
        emptied(self._rows)
        self.rows = [CheckRow(check, fixed=True) for check in checks]
        for row in self.rows:
            self._rows.addWidget(row)

    # -- keys and places ----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let names and fields stand side by side in a narrow window too."""
        super().resizeEvent(event)
        self._share_room()

    def _fit_text(self) -> None:
        self._inner.setMaximumWidth(px(_WIDTH))
        self.command.setFixedHeight(px(_COMMANDS))
        self._share_room()

    def _share_room(self) -> None:
        room = max(240, self.width() - _BESIDE)
        for field in self.fields.values():
            field.setFixedWidth(min(px(_FIELDS), room * 4 // 10))
        for name in self._names:
            name.setFixedWidth(min(px(_NAMES), room * 6 // 10))


def _numbers(backup: Backup, outcome: Outcome) -> tuple[str, ...]:
    """Return the lines of one chunk size: each result, and below it the formula."""
    return tuple(
        part for one in lines_of(backup, outcome) for part in (f"{one.name}: {one.value}", f"    {one.formula}")
    )


def _card(grid: QGridLayout) -> QFrame:
    card = QFrame()
    card.setProperty("kind", "card")
    card.setLayout(grid)
    return card

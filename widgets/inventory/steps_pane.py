"""What a connection test found, step by step: shape, what was tried, what happened, what to try."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from services.i18n import mark, tr
from services.types import Health
from widgets.common.controls.boxes import HealthMark
from widgets.common.controls.labels import PlainLabel, label, set_kind
from widgets.inventory.draft import StepLike, StepLine

_SHAPES = {
    "passed": Health.GOOD,
    "failed": Health.BAD,
    "warned": Health.WARN,
    "running": Health.TRANSFER,
}
_WORDS = {
    "passed": mark("passed"),
    "failed": mark("failed"),
    "warned": mark("warned"),
    "running": mark("running"),
    "skipped": mark("skipped"),
    "waiting": mark("waiting"),
}
_BEFORE = mark(
    "Test tries every step once and changes nothing: name, port, host key, login, sudo, then the database, "
    "TLS, the account's privileges, and the operator's account if there is one."
)
_MARK = 12
_SETTLE_MS = 50


class StepsPane(QFrame):
    """The right half of the connection dialog.

    Every step of a test stands in its place from the beginning, with room for two lines: a result fills its place and
    moves none of those that are there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        self._rows: dict[str, _Row] = {}
        self._told = label("", "second", wrap=True)
        self._hint = label(tr(_BEFORE), "second", wrap=True)
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(label(tr("Test of the connection"), "section"))
        column.addWidget(self._told)
        column.addWidget(self._hint)
        column.addLayout(self._column)
        column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setProperty("kind", "ring")
        self._scroll.setAccessibleName(tr("Result of the test"))
        self._scroll.setWidget(inner)
        self._scroll.setWidgetResizable(True)
        self._scroll.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._scroll)
        self.setAccessibleName(tr("Result of the test"))
        self.clear()

    def clear(self, told: str = "") -> None:
        """Take every result away and show what a test would do; `told`: why they are gone."""
        self._take_rows()
        self._tell(told, "second")
        self._hint.show()

    def begin(self, steps: Sequence[StepLike], told: str) -> None:
        """Show what will be tried, in its order; `told` says what is under way."""
        self._take_rows()
        self._tell(told, "second")
        self._hint.hide()
        for step in steps:
            self._row(step)
        self._next_runs()

    def show_steps(self, steps: Sequence[StepLike], *, done: bool = True) -> None:
        """Fill in the results so far; `done`: nothing more comes, what was not come to is told so."""
        self._hint.setVisible(not steps and not self._rows)
        for step in steps:
            self._row(step).show_step(step)
        if not done:
            self._next_runs()
            return
        for row in self._rows.values():
            if row.state in {"waiting", "running"}:
                row.show_step(StepLine(row.title, "skipped", tr("Not reached.")))
        self._conclude()

    def words(self) -> tuple[str, ...]:
        """Return the lines of the steps as shown."""
        return tuple(line for row in self._rows.values() for line in row.words())

    def told(self) -> str:
        """Return what is said of the whole test."""
        return self._told.text()

    def place_of(self, name: str) -> int:
        """Return where the step of this name begins, in pixels below the first one."""
        return self._rows[name].y() - next(iter(self._rows.values())).y()

    def _take_rows(self) -> None:
        for row in self._rows.values():
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = {}

    def _row(self, step: StepLike) -> _Row:
        key = step.name or step.title
        if key not in self._rows:
            self._rows[key] = _Row(step)
            self._column.addWidget(self._rows[key])
        return self._rows[key]

    def _next_runs(self) -> None:
        """The first step without a result is the one under way."""
        row = next((row for row in self._rows.values() if row.state in {"waiting", "running"}), None)
        if row is not None:
            row.show_step(StepLine(row.title, "running"))

    def _conclude(self) -> None:
        failed = [row for row in self._rows.values() if row.state == "failed"]
        if failed:
            self._tell(tr("Failed: {steps}.", steps=", ".join(row.title for row in failed)), "bad")
            # Once the places have their sizes; nothing else ever moves what a person reads.
            QTimer.singleShot(_SETTLE_MS, self, lambda: self._show_row(failed[0]))
        elif any(row.state == "warned" for row in self._rows.values()):
            self._tell(tr("Every step passed, some with a note."), "warn")
        elif self._rows:
            self._tell(tr("Every step passed."), "second")

    def _show_row(self, row: _Row) -> None:
        if row in self._rows.values():
            self._scroll.ensureWidgetVisible(row, 0, 8)

    def _tell(self, sentence: str, kind: str) -> None:
        self._told.setText(sentence)
        self._told.setVisible(bool(sentence))
        set_kind(self._told, kind)
        self.setAccessibleDescription(sentence)


class _Row(QWidget):
    """One step: its shape and title, and room for two lines of what happened."""

    def __init__(self, step: StepLike) -> None:
        super().__init__()
        self.title = step.title
        self.state = "waiting"
        self._shape = HealthMark(Health.UNKNOWN, _MARK)
        self._title = label(step.title, "section")
        self._sentence = _TwoLines()
        self._advice = _Selectable()
        self._advice.hide()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self._shape, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        for line, words in enumerate((self._title, self._sentence, self._advice)):
            grid.addWidget(words, line, 1)
        self.show_step(step)

    def show_step(self, step: StepLike) -> None:
        """Show the step's state, what happened and what to try."""
        self.state = step.state
        self._shape.set_health(_SHAPES.get(step.state, Health.UNKNOWN))
        self._shape.setAccessibleName(f"{tr(_WORDS.get(step.state, step.state))}, {self.title}")
        set_kind(self._title, "second" if step.state in {"waiting", "skipped"} else "section")
        set_kind(self._sentence, {"failed": "bad", "warned": "warn"}.get(step.state, "second"))
        self._sentence.setText(step.sentence)
        self._advice.setText("\n".join(tr("Try: {advice}", advice=advice) for advice in step.try_))
        self._advice.setVisible(bool(step.try_))
        self.setAccessibleName(f"{self.title}: {tr(_WORDS.get(step.state, step.state))}. {step.sentence}")

    def words(self) -> tuple[str, ...]:
        """Return what the row says, line by line."""
        lines = (self._title.text(), self._sentence.text(), *self._advice.text().splitlines())
        return tuple(line for line in lines if line)


class _Selectable(PlainLabel):
    """Words that wrap, and that the mouse can mark."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "second")
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)


class _TwoLines(_Selectable):
    """Words that have room for two lines before there is one: what stands below waits for no answer."""

    def heightForWidth(self, width: int) -> int:
        """Return the height of the words, of two lines at least."""
        return max(super().heightForWidth(width), self._room())

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size, of two lines at least."""
        return super().minimumSizeHint().expandedTo(QSize(0, self._room()))

    def _room(self) -> int:
        return 2 * self.fontMetrics().lineSpacing()

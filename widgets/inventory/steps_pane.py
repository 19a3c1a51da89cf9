"""What a connection test found, step by step: shape, what was tried, what happened, what to try."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from services.types import Health
from services.words import mark, tr
from widgets.common.boxes import HealthMark
from widgets.common.labels import label
from widgets.inventory.draft import StepLike

_SHAPES = {
    "passed": Health.GOOD,
    "failed": Health.BAD,
    "warned": Health.WARN,
    "running": Health.TRANSFER,
    "skipped": Health.UNKNOWN,
}
_WORDS = {
    "passed": mark("passed"),
    "failed": mark("failed"),
    "warned": mark("warned"),
    "running": mark("running"),
    "skipped": mark("skipped"),
}
_BEFORE = mark(
    "Test tries every step of the way once and changes nothing: the name, the port, the host's key, the login, "
    "sudo, then the database, TLS and the rights of the account, and the operator's account where there is one."
)


class StepsPane(QFrame):
    """The right half of the connection dialog."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        self._words: list[str] = []
        self._hint = label(tr(_BEFORE), "second", wrap=True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(label(tr("Test of the connection"), "section"))
        column.addWidget(self._hint)
        column.addLayout(self._grid)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(inner)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        self.setAccessibleName(tr("Result of the test"))

    def show_steps(self, steps: Sequence[StepLike]) -> None:
        """Show these steps in order; none shows what a test would do."""
        while (item := self._grid.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        self._words = []
        self._hint.setVisible(not steps)
        for step in steps:
            self._add(step)

    def words(self) -> tuple[str, ...]:
        """Return the lines as shown."""
        return tuple(self._words)

    def _add(self, step: StepLike) -> None:
        row = self._grid.rowCount()
        health = _SHAPES.get(step.state, Health.UNKNOWN)
        shape = HealthMark(health)
        shape.setAccessibleName(f"{tr(_WORDS.get(step.state, step.state))}, {step.title}")
        self._grid.addWidget(shape, row, 0, Qt.AlignmentFlag.AlignTop)
        self._put(row, step.title, "section")
        if step.sentence:
            kind = {"failed": "bad", "warned": "warn"}.get(step.state, "second")
            self._put(row + 1, step.sentence, kind)
        for i, advice in enumerate(step.try_):
            self._put(row + 2 + i, tr("Try: {advice}", advice=advice), "second")
        self._grid.setRowMinimumHeight(row + 2 + len(step.try_), 8)

    def _put(self, row: int, text: str, kind: str) -> QLabel:
        words = label(text, kind, wrap=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._grid.addWidget(words, row, 1)
        self._words.append(text)
        return words

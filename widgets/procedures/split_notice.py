"""Two Primary Components of one cluster that nobody has settled: what it means, and a person's word that ends it.

It stands on every page and can't be put off: what is not settled holds procedures up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.i18n import tr
from services.types import Health
from widgets.common.controls.boxes import HealthMark, button
from widgets.common.controls.fields import line
from widgets.procedures.blocks import TintedFrame, emptied, put, text_label


@dataclass(frozen=True, slots=True)
class SplitWords:
    """One story: the cluster's state UUID, the name to type, and what is told of it."""

    cluster_uuid: str
    name: str
    sentence: str


class SplitNotice(TintedFrame):
    """Signal: `settle_wanted(cluster UUID, reason)`, once the name was typed. Hidden while nothing is open."""

    settle_wanted = Signal(str, str)

    def __init__(self) -> None:
        super().__init__(Health.BAD)
        self._stories: tuple[SplitWords, ...] = ()
        self._asked: SplitWords | None = None
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        self.question = text_label("", "section")
        self.reason = line(tr("Reason"), tr("what was done about it; kept in the history with your name"))
        self.typed = line(tr("Name of the cluster"), "")
        for field in (self.reason, self.typed):
            field.textChanged.connect(lambda _text: self._judge())
            field.returnPressed.connect(self._agree)
        self.yes = button(tr("&Settle it"), "danger", on=self._agree)
        self.no = button(tr("&Back"), on=self.dismiss)
        self._form = self._make_form()
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addLayout(self._column)
        column.addWidget(self._form)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 10, 12, 10)
        row.setSpacing(12)
        row.addWidget(HealthMark(Health.BAD, 13), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.hide()

    def _make_form(self) -> QWidget:
        form = QWidget()
        column = QVBoxLayout(form)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.yes)
        foot.addWidget(self.no)
        foot.addStretch(1)
        for part in (self.question, self.reason, self.typed):
            column.addWidget(part)
        column.addLayout(foot)
        form.hide()
        return form

    def show_splits(self, stories: Sequence[SplitWords]) -> None:
        """Show what is not settled; nothing hides the notice."""
        wanted = tuple(stories)
        if wanted == self._stories:
            return
        self._stories = wanted
        if self._asked not in wanted:
            self.dismiss()
        emptied(self._column)
        for story in wanted:
            self._column.addWidget(self._row(story))
        self.setVisible(bool(wanted))
        self.setAccessibleName(self.text())

    def text(self) -> str:
        """Return the sentences shown, '' while hidden."""
        return "\n".join(story.sentence for story in self._stories)

    def ask(self, story: SplitWords) -> None:
        """Ask for the reason and the cluster's name, in the notice."""
        self._asked = story
        put(self.question, tr("Settle the two Primary Components of {name}?", name=story.name))
        hint = tr("Type {name} to confirm", name=story.name)
        self.typed.setPlaceholderText(hint)
        self.typed.setAccessibleName(hint)
        self.reason.clear()
        self.typed.clear()
        self._judge()
        self._form.show()
        self.reason.setFocus()

    def dismiss(self) -> None:
        """Forget the question."""
        self._asked = None
        self._form.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc is No."""
        if event.key() == Qt.Key.Key_Escape and self._asked is not None:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def _row(self, story: SplitWords) -> QWidget:
        """Sentence and way out side by side: the notice stands above every page, and a run needs the height."""
        place = QWidget()
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(text_label(story.sentence), 1)
        made = button(tr("Settle…"), on=lambda: self.ask(story))
        made.setAccessibleName(tr("Settle {name}", name=story.name))
        row.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
        return place

    def _judge(self) -> None:
        named = self._asked is not None and self.typed.text().strip() == self._asked.name
        self.yes.setEnabled(named and bool(self.reason.text().strip()))

    def _agree(self) -> None:
        if self._asked is None or not self.yes.isEnabled():
            return
        asked, reason = self._asked, self.reason.text().strip()
        self.dismiss()
        self.settle_wanted.emit(asked.cluster_uuid, reason)

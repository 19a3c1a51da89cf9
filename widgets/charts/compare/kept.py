"""The row in which the two stretches get a name and are kept, and those that were kept are chosen again or removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from services.i18n import tr
from services.visible import visible
from widgets.charts.compare.marks import Span
from widgets.common.controls.boxes import button
from widgets.common.controls.combo import Combo
from widgets.common.controls.fields import line
from widgets.common.controls.labels import label
from widgets.common.controls.plain import set_tip
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.look.fonts import px
from widgets.common.look.theme import theme_holder

_LONGEST = 60
_CHARACTERS, _NAME_WIDTH = 24, 380


@dataclass(frozen=True, slots=True)
class KeptMark:
    """A change that was marked and kept.

    Attributes:
        number: 0: it came with the recording, and is not removed.
        told: who marked it, and when.
    """

    number: int
    name: str
    before: Span
    after: Span
    told: str


class KeptRow(QFrame):
    """Shows of its parts those that mean something now; `box`, the choice of kept ones, stands where its owner puts it.

    Signals:
        chosen(KeptMark): mark its stretches. keep_wanted(str, Span, Span): keep these under a name.
        remove_wanted(KeptMark): remove it.
    """

    chosen = Signal(object)
    keep_wanted = Signal(str, object, object)
    remove_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._marks: tuple[KeptMark, ...] = ()
        self._both: tuple[Span, Span] | None = None
        self._words = ""
        self.box = Combo()
        self.box.setAccessibleName(tr("Kept marked changes"))
        self.box.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(_CHARACTERS)
        self.box.activated.connect(self._take)
        self.name = line(tr("Name of this change"), tr("Name of the change, to keep these marks"))
        self.name.setMaxLength(_LONGEST)
        self.name.returnPressed.connect(self._keep)
        self.name.textChanged.connect(lambda _="": self._show())
        self.keep = button(tr("Keep"), on=self._keep, hint=tr("Keep both windows under this name"))
        self.remove = button(tr("Remove"), on=self._remove)
        self.said = label("", "third", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(WrapRow(self.name, self.keep))
        told = QHBoxLayout()
        told.setSpacing(8)
        told.addWidget(self.remove)
        told.addWidget(self.said, 1)
        column.addLayout(told)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self._show()

    def _fit_text(self) -> None:
        self.name.setMaximumWidth(px(_NAME_WIDTH))

    def offer(self, marks: Sequence[KeptMark]) -> None:
        """Offer these marks, in this order."""
        self._marks = tuple(marks)
        self.box.clear()
        self.box.addItems([tr("kept marks…"), *(visible(mark.name) for mark in self._marks)])
        self._show()

    def show_for(self, both: tuple[Span, Span] | None) -> None:
        """Take what is marked now; None while it is not both stretches."""
        if both != self._both:
            self._both = both
            self._words = ""
        self._show()

    def say(self, words: str) -> None:
        """Say what became of what was wanted."""
        self._words = words
        self._show()

    def current(self) -> KeptMark | None:
        """Return the kept mark whose stretches are the marked ones."""
        return next((mark for mark in self._marks if (mark.before, mark.after) == self._both), None)

    def _show(self) -> None:
        mark = self.current()
        self.box.setCurrentIndex(0 if mark is None else 1 + self._marks.index(mark))
        self.box.setVisible(bool(self._marks))
        free = self._both is not None and mark is None
        self.name.setVisible(free)
        self.keep.setVisible(free)
        self.keep.setEnabled(bool(self.name.text().strip()))
        self.remove.setVisible(mark is not None and mark.number > 0)
        if mark is not None:
            set_tip(self.remove, tr("Remove {name}; the samples are kept", name=mark.name))
            self.remove.setAccessibleDescription(tr("Remove {name}; the samples are kept", name=mark.name))
        told = self._words or ("" if mark is None else mark.told)
        self.said.setText(visible(told))
        self.said.setVisible(bool(told))
        self.setVisible(free or mark is not None or bool(told))

    def _take(self, row: int) -> None:
        if row > 0:
            self.chosen.emit(self._marks[row - 1])

    def _keep(self) -> None:
        if self._both is not None and self.current() is None and self.name.text().strip():
            self.keep_wanted.emit(self.name.text(), *self._both)

    def _remove(self) -> None:
        """Have it removed; its name stays in the field, so that Keep brings it back."""
        mark = self.current()
        if mark is not None and mark.number:
            self.name.setText(mark.name)
            self.remove_wanted.emit(mark)

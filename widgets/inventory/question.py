"""What the questions that may stop everything have in common: one dialog, refused by Enter, Escape and closing."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from services.words import tr
from widgets.common.boxes import button
from widgets.common.fonts import mono_font
from widgets.common.labels import ValueLabel, label


class Question(QDialog):
    """Modal by design. `answered(what was asked about, accepted)` once; closing it or Escape refuses."""

    answered = Signal(object, bool)

    def __init__(self, asked: object, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked = asked
        self._told = False
        self.setWindowTitle(heading)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setFixedWidth(520)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(20, 20, 20, 16)
        self.column.setSpacing(12)
        self.finished.connect(self._tell)

    def add_answers(self, accept: str) -> None:
        """Add the two answers at the end; `accept`: the words of the one that goes on."""
        refuse = button(tr("Refuse"), on=self.reject)
        accepting = button(accept, "primary", on=self.accept)
        refuse.setDefault(True)  # Enter must not accept what nobody compared
        refuse.setFocus()
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(refuse)
        row.addWidget(accepting)
        self.column.addSpacing(4)
        self.column.addLayout(row)

    def words(self) -> tuple[str, ...]:
        """Return every sentence and value shown."""
        return tuple(w.text() for w in self.findChildren(QLabel))

    def _tell(self, result: int) -> None:
        if not self._told:
            self._told = True
            self.answered.emit(self._asked, result == int(QDialog.DialogCode.Accepted.value))


def mono(text: str, kind: str, size: int) -> ValueLabel:
    """Return a value or a command in the font whose letters can't be mistaken."""
    made = ValueLabel(text, kind)
    made.setFont(mono_font(size))
    made.setAccessibleName(text)
    return made


def mono_lines(lines: tuple[str, ...], kind: str, size: int) -> QLabel:
    """Return what is too long for one line, to be selected as a whole."""
    made = label("\n".join(lines), kind)
    made.setFont(mono_font(size))
    made.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return made

"""What the questions that may stop everything have in common: one dialog, refused by Enter, Escape and closing."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from services.i18n import tr
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import ValueLabel, label
from widgets.common.look.fonts import mono_font, px
from widgets.common.look.styling import wear

_WIDTH, _BESIDE = 520, 32


class ScrolledQuestion(QDialog):
    """Sentences that scroll where they have no room, answers below them that are always in sight."""

    def __init__(self, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(heading)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        inner = self._inner = QWidget()
        self.column = QVBoxLayout(inner)
        self.column.setContentsMargins(20, 20, 20, 8)
        self.column.setSpacing(12)
        self._scroll = QScrollArea()
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(inner)
        self._scroll.setWidgetResizable(True)
        self._scroll.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        self.answers = QHBoxLayout()
        self.answers.setContentsMargins(20, 8, 20, 16)
        self.answers.setSpacing(8)
        self.answers.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self._scroll, 1)
        whole.addLayout(self.answers)
        wear(self)

    def showEvent(self, event: QShowEvent) -> None:
        """Take the room that the words need, within the window that asks."""
        super().showEvent(event)
        asking = self.parentWidget()
        room = (asking.window().size() if asking is not None else self.screen().size()) - QSize(_BESIDE, _BESIDE)
        least = max(px(_WIDTH), self.column.minimumSize().width(), self.answers.minimumSize().width())
        width = min(least, room.width())
        high = self.column.heightForWidth(width) + self.answers.sizeHint().height()
        if least > width:
            high += self._scroll.horizontalScrollBar().sizeHint().height()
        self.setFixedWidth(width)
        self.resize(width, min(high, room.height()))


class Question(ScrolledQuestion):
    """Modal by design. `answered(what was asked about, accepted)` once; closing it or Escape refuses."""

    answered = Signal(object, bool)

    def __init__(self, asked: object, heading: str, parent: QWidget | None = None) -> None:
        super().__init__(heading, parent)
        self._asked = asked
        self._told = False
        self.finished.connect(self._tell)

    def add_answers(self, accept: str) -> None:
        """Add the two answers at the end; `accept`: the words of the one that goes on."""
        refuse = button(tr("Refuse"), on=self.reject)
        accepting = button(accept, "primary", on=self.accept)
        refuse.setDefault(True)  # Enter must not accept what nobody compared
        refuse.setFocus()
        self.answers.addWidget(refuse)
        self.answers.addWidget(accepting)

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

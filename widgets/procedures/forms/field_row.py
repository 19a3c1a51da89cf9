"""One question of a form: its title, a field of its kind, what it means, and its fault as one types."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from services.i18n import mark, tr
from services.procedures.plan.forms.fields import Field
from widgets.common.controls.combo import Combo
from widgets.common.controls.fields import line, mark_wrong
from widgets.common.controls.labels import label
from widgets.common.controls.wrap_row import turn_box
from widgets.common.look.fonts import px
from widgets.procedures.blocks import put, text_label

TITLE_WIDTH = 220
_YES = frozenset({"yes", "y", "true", "on", "1"})
_EXAMPLES = {
    "duration": mark("for example 30 min or 1 h 20 min"),
    "bytes": mark("for example 20 GB"),
    "number": mark("a whole number"),
}
_FIELD_WIDTH, _WIDE, _LEAST = 440, 720, 168
"""Commands, paths and choices with their words are long: what is typed shall be read whole before it is approved."""


class FieldRow(QWidget):
    """Signals: `changed(str name, str text)` when a person changes it, `entered` for Enter in a text."""

    changed = Signal(str, str)
    entered = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self.touched = False
        self._boxes: dict[str, QCheckBox] = {}
        self._title = label(tr(field.title), "second", wrap=True)
        self._title.setFixedWidth(px(TITLE_WIDTH))
        self._input = self._make()
        self._input.setMaximumWidth(px(_WIDE if field.kind in {"text", "choice"} else _FIELD_WIDTH))
        self._title.setBuddy(self.focus_target())
        self._help = text_label(tr(field.help) if field.help else "", "third")
        self.fault_words = text_label("", "bad")
        column = QVBoxLayout()
        column.setSpacing(2)
        short = QHBoxLayout()
        short.addWidget(self._input, 1)
        if field.unit:
            short.addWidget(label(tr(field.unit), "second"))
        short.addStretch(0)
        column.addLayout(short)
        column.addWidget(self._help)
        column.addWidget(self.fault_words)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._title, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._title.setContentsMargins(0, 6, 0, 0)
        row.addLayout(column, 1)
        self.update_field(field)

    def minimumSizeHint(self) -> QSize:
        """Return what the field needs below its title; beside it it stands where there is room."""
        return QSize(self._least(), super().minimumSizeHint().height())

    def _least(self) -> int:
        return max(px(_LEAST), self._input.minimumSizeHint().width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the field below its title where there is no room beside it."""
        beside = self.width() >= px(TITLE_WIDTH) + self._row.spacing() + self._least()
        self._title.setFixedWidth(min(px(TITLE_WIDTH), self.width()))
        turn_box(self._row, beside=beside)
        super().resizeEvent(event)

    # -- making --------------------------------------------------------------------------------------------------
    def _make(self) -> QWidget:
        if self.field.kind == "flag":
            return self._make_flag()
        if self.field.kind == "hosts" and self.field.choices:
            return self._make_checks()
        if self.field.kind in {"host", "choice"} and self.field.choices:
            return self._make_combo()
        text = line(tr(self.field.title), tr(_EXAMPLES.get(self.field.kind, "")))
        text.textEdited.connect(self._tell)
        text.returnPressed.connect(self.entered)
        return text

    def _make_flag(self) -> QWidget:
        box = QCheckBox(tr("yes"))
        box.setAccessibleName(tr(self.field.title))
        box.clicked.connect(lambda checked: self._tell("yes" if checked else "no"))
        box.setMinimumHeight(28)
        return box

    def _make_combo(self) -> QWidget:
        box = Combo()
        box.setAccessibleName(tr(self.field.title))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(16)
        box.activated.connect(lambda index: self._tell(str(box.itemData(index))))
        return box

    def _make_checks(self) -> QWidget:
        place = QWidget()
        place.setAccessibleName(tr(self.field.title))
        grid = QGridLayout(place)
        grid.setContentsMargins(0, 4, 0, 4)
        grid.setSpacing(6)
        self._fill_checks(grid)
        return place

    def _fill_checks(self, grid: QGridLayout) -> None:
        for number, (value, meaning) in enumerate(_in_order(self.field)):
            box = QCheckBox(_option(value, meaning))
            box.clicked.connect(self._tell_checks)
            self._boxes[value] = box
            grid.addWidget(box, number, 0)

    # -- content -------------------------------------------------------------------------------------------------
    def update_field(self, field: Field) -> None:
        """Take the question anew: other choices, another default (shown until a person answers)."""
        before, self.field = self.field, field
        if isinstance(self._input, QComboBox) and (before.choices != field.choices or not self._input.count()):
            with QSignalBlocker(self._input):
                chosen = self._input.currentData()
                self._input.clear()
                for value, meaning in field.choices:
                    self._input.addItem(_option(value, meaning), value)
                self._input.setCurrentIndex(self._input.findData(chosen))
        if not self.touched:
            self.show_text(field.default)
        put(self._help, tr(field.help) if field.help else "")

    def show_text(self, text: str) -> None:
        """Show an answer; the cursor of a text that is typed stays where it is."""
        if text == self.text():
            return
        if isinstance(self._input, QLineEdit):
            self._input.setText(text)
        elif isinstance(self._input, QCheckBox):
            self._input.setChecked(text.strip().lower() in _YES)
        elif isinstance(self._input, QComboBox):
            self._input.setCurrentIndex(self._input.findData(text))
        else:
            wanted = {name.strip() for name in text.split(",")}
            for value, box in self._boxes.items():
                box.setChecked(value in wanted)

    def text(self) -> str:
        """Return the answer as it would be typed on the command line."""
        if isinstance(self._input, QLineEdit):
            return self._input.text()
        if isinstance(self._input, QCheckBox):
            return "yes" if self._input.isChecked() else "no"
        if isinstance(self._input, QComboBox):
            return str(self._input.currentData() or "")
        return ", ".join(value for value, box in self._boxes.items() if box.isChecked())

    def show_fault(self, sentence: str) -> None:
        """Show what is wrong under the field, or nothing."""
        put(self.fault_words, sentence)
        mark_wrong(self._input, bool(sentence))
        self.focus_target().setAccessibleDescription(sentence or tr(self.field.help))

    def fault(self) -> str:
        """Return the fault shown."""
        return self.fault_words.text()

    def focus_target(self) -> QWidget:
        """Return what takes the keys."""
        return next(iter(self._boxes.values()), self._input)

    def key_stops(self) -> tuple[QWidget, ...]:
        """Return everything that takes the keys, in the order of the Tab key."""
        return tuple(self._boxes.values()) or (self._input,)

    def title_label(self) -> QLabel:
        """Return the words beside the field."""
        return self._title

    def _tell(self, text: str) -> None:
        self.touched = True
        self.changed.emit(self.field.name, text)

    def _tell_checks(self) -> None:
        self._tell(self.text())

    def same_shape(self, field: Field) -> bool:
        """Return whether this row can go on asking `field`; check lists are made anew when choices or order change."""
        mine = self.field
        if mine.kind == "hosts" and _in_order(mine) != _in_order(field):
            return False
        return (mine.name, mine.kind, bool(mine.choices)) == (field.name, field.kind, bool(field.choices))


def _in_order(field: Field) -> tuple[tuple[str, str], ...]:
    """Return the choices with the default's first, in its order: it may matter (the writer goes last)."""
    default = [name.strip() for name in field.default.split(",")]
    place = {name: number for number, name in enumerate(default)}
    return tuple(sorted(field.choices, key=lambda choice: place.get(choice[0], len(place))))


def _option(value: str, meaning: str) -> str:
    return f"{value}  –  {tr(meaning)}" if meaning and meaning != value else value

"""Fields of forms: one that yields secrets and never text, one for a file, and rows that carry their own fault."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QFormLayout, QHBoxLayout, QLineEdit, QPushButton, QWidget

from services.i18n import tr
from services.secrets import Secret
from widgets.common.controls.boxes import button
from widgets.common.controls.combo import Combo
from widgets.common.controls.labels import label

_NAME_WIDTH = 96


class SecretField(QLineEdit):
    """A password field. The text leaves it only as a `Secret`, so that no log or message can hold it by accident."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setAccessibleName(name)
        self.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData | Qt.InputMethodHint.ImhNoPredictiveText)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)

    def secret(self) -> Secret | None:
        """Return what was typed, None when nothing was."""
        typed = super().text()
        return Secret(typed) if typed else None

    def text(self) -> str:
        """Return '' always: use `secret`."""
        return ""


class FileField(QWidget):
    """A path with a button that opens the system's file choice."""

    def __init__(self, name: str, placeholder: str = "") -> None:
        super().__init__()
        self._name = name
        self.line = QLineEdit()
        self.line.setAccessibleName(name)
        self.line.setPlaceholderText(placeholder)
        browse = button("…", on=self._browse, hint=tr("Choose a file: {what}", what=name))
        browse.setFixedWidth(36)
        browse.setStyleSheet("padding: 4px 0;")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.line, 1)
        row.addWidget(browse)
        self.setFocusProxy(self.line)

    def path(self) -> str | None:
        """Return the path, None when the field is empty."""
        return self.line.text().strip() or None

    def set_path(self, path: str | None) -> None:
        """Show a path."""
        self.line.setText(path or "")

    def _browse(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self, self._name, self.line.text())
        if chosen:
            self.line.setText(chosen)


def choice(name: str, options: Sequence[tuple[str, str]]) -> QComboBox:
    """Return a choice of (value, marked words); `currentData()` is the value."""
    box = Combo()
    box.setAccessibleName(name)
    # Long words are cut in the box and whole in its list: they must not push a form out of its dialog.
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(12)
    offer(box, options)
    return box


def offer(box: QComboBox, options: Sequence[tuple[str, str]]) -> None:
    """Offer these (value, marked words) from now on; the value that was chosen stays chosen where it is among them."""
    chosen = box.currentData()
    box.clear()
    for value, words in options:
        box.addItem(tr(words), value)
    choose(box, chosen)


def choose(box: QComboBox, value: str) -> None:
    """Select the option with this value."""
    box.setCurrentIndex(max(0, box.findData(value)))


def line(name: str, placeholder: str = "") -> QLineEdit:
    """Return a text field."""
    field = QLineEdit()
    field.setAccessibleName(name)
    field.setPlaceholderText(placeholder)
    return field


def form() -> QFormLayout:
    """Return a form's layout: labels left, 28 px rows, fields as wide as the form."""
    layout = QFormLayout()
    layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    layout.setHorizontalSpacing(12)
    layout.setVerticalSpacing(8)
    layout.setContentsMargins(0, 0, 0, 0)
    return layout


def add_row(layout: QFormLayout, words: str, field: QWidget) -> None:
    """Add a labelled field; the label names it for screen readers and Alt keys."""
    name = label(words, "second")
    name.setBuddy(field)
    name.setMinimumWidth(_NAME_WIDTH)
    layout.addRow(name, field)


def align_names(*layouts: QFormLayout) -> None:
    """Let the fields of several forms, one below the other, begin at one edge: at that of the widest name."""
    names = [
        words
        for layout in layouts
        for row in range(layout.rowCount())
        if (place := layout.itemAt(row, QFormLayout.ItemRole.LabelRole)) is not None
        and (words := place.widget()) is not None
    ]
    widest = max((words.sizeHint().width() for words in names), default=0)
    for words in names:
        words.setMinimumWidth(max(_NAME_WIDTH, widest))


def mark_wrong(field: QWidget, wrong: bool) -> None:
    """Frame a field in red, or take the frame off."""
    if bool(field.property("wrong")) != wrong:
        field.setProperty("wrong", wrong)
        field.style().unpolish(field)
        field.style().polish(field)


def default_button(made: QPushButton) -> QPushButton:
    """Make Enter press this button while its dialog has the focus."""
    made.setAutoDefault(True)
    made.setDefault(True)
    return made

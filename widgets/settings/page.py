"""The page of settings: what can be set, from when on it counts, and what the program says of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from services.i18n import mark, tr, tr_n
from widgets.common.controls.boxes import button
from widgets.common.controls.fields import choice, choose, line, mark_wrong
from widgets.common.controls.labels import ElidedLabel, ValueLabel, label
from widgets.common.controls.spin import Spin
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.look.fonts import px
from widgets.common.look.styling import wear
from widgets.common.look.theme import theme_holder
from widgets.settings import names
from widgets.settings.values import Limit, Shown

_WIDTH = 760
_BESIDE = 120
"""What margins, gaps and the scroll bar take."""
_NAMES, _FIELDS = 220, 220
_THEMES = (("system", mark("Same as the desktop")), ("light", mark("Light")), ("dark", mark("Dark")))


class SettingsPage(QFrame):
    """Frozen values in, signals out.

    Signals:
        changed(str, object): name of a setting, its new value. limit_changed(str, str): of a procedure's question.
        estate_forgotten(): the next start opens the usual inventory. closed(): back to the page before.
    """

    changed = Signal(str, object)
    limit_changed = Signal(str, str)
    estate_forgotten = Signal()
    closed = Signal()

    def __init__(self, shown: Shown, limit_fault: Callable[[str], str]) -> None:
        """Make the page.

        Args:
            limit_fault: what is wrong with the text of a limit, '' for nothing.
        """
        super().__init__()
        self._shown = shown
        self._limit_fault = limit_fault
        self._sized: list[QWidget] = []
        self._alone: list[QWidget] = []
        """Fields without a note beside them: they have its room too."""
        self._names: list[QWidget] = []
        self._places: dict[str, QWidget] = {}
        """Where each setting is, by its name as shown."""
        self.setProperty("kind", "canvas")
        self._keyring = label("", wrap=True)
        self._inner = QFrame()
        self._inner.setProperty("kind", "canvas")
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(20, 16, 16, 24)
        column.setSpacing(8)
        column.addWidget(self._head())
        for title, grid in (
            (tr("Look"), self._look()),
            (tr("Sampling and history"), self._sampling()),
            (tr("Passwords"), self._secrets()),
            (tr(names.LIMITS), self._limits()),
            (tr("About Pilothouse"), self._about()),
        ):
            column.addSpacing(8)
            column.addWidget(label(title, "section"))
            column.addWidget(_card(grid))
        column.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidget(self._inner)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setAccessibleName(tr("Settings"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._scroll)
        self.setAccessibleName(tr("Settings"))
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        wear(self)

    # -- what is shown ------------------------------------------------------------------------------------------------

    def show_keyring(self, name: str, usable: bool) -> None:
        """Say where passwords can be kept."""
        if usable:
            self._keyring.setText(tr("{name}: passwords can be stored there if you ask for it.", name=name))
        else:
            self._keyring.setText(
                tr(
                    "No usable desktop keyring was found. A password that you type is forgotten when the "
                    "window closes. To store passwords, start a keyring (GNOME Keyring, KWallet), or write "
                    "env:VARIABLE in the inventory instead."
                )
            )

    def show_theme(self, name: str) -> None:
        """Show which theme is set."""
        choose(self.theme, name)

    def show_text(self, percent: int) -> None:
        """Show how large text is."""
        self.text.setCurrentIndex(self.text.findData(percent))

    def place_of(self, name: str) -> QWidget | None:
        """Return the field of a setting, or the words that tell it; None where this window has none of it."""
        return self._places.get(tr(name))

    def show_setting(self, name: str) -> None:
        """Bring a setting into sight and give it the keys; `name` is one of names.SETTINGS."""
        place = self.place_of(name)
        if place is not None:
            self._scroll.ensureWidgetVisible(place)
            place.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # -- parts --------------------------------------------------------------------------------------------------------

    def _head(self) -> WrapRow:
        said = (
            tr("stored in {path}", path=self._shown.kept)
            if self._shown.kept
            else tr("Settings are not stored: changes made here end with this window, as always in the demo.")
        )
        where = ElidedLabel(said, "third", Qt.TextElideMode.ElideRight)
        close = button(tr("Close"), hint=tr("Back to the previous page (Esc)"), on=self.closed.emit)
        return WrapRow(label(tr("Settings"), "title"), where, close)

    def _look(self) -> QGridLayout:
        shown, grid = self._shown, _grid()
        self.theme = choice(tr(names.THEME), _THEMES)
        choose(self.theme, shown.theme)
        self.theme.activated.connect(lambda: self.changed.emit("theme", self.theme.currentData()))
        self._add(grid, tr(names.THEME), self.theme)
        self.text = _numbers(tr(names.TEXT), shown.sizes, lambda n: f"{n} %", shown.text_percent)
        self.text.activated.connect(lambda: self.changed.emit("text_percent", self.text.currentData()))
        self._add(grid, tr(names.TEXT), self.text)
        if len(shown.languages) > 1:
            options = (("", mark("The system's")), *((tag, tag) for tag in shown.languages))
            self.language = choice(tr(names.LANGUAGE), options)
            choose(self.language, shown.language)
            self.language.activated.connect(lambda: self.changed.emit("language", self.language.currentData()))
            self._add(grid, tr(names.LANGUAGE), self.language, tr("Takes effect at the next start."))
        else:
            self._say(grid, tr(names.LANGUAGE), tr("English; there is no translation yet."))
        return grid

    def _sampling(self) -> QGridLayout:
        shown, grid = self._shown, _grid()
        self.interval = _numbers(
            tr(names.INTERVAL), shown.intervals, lambda n: tr_n("{n} s", "{n} s", n), shown.interval_s
        )
        self.interval.activated.connect(lambda: self.changed.emit("interval_s", self.interval.currentData()))
        why = tr(
            "Takes effect at the next start. Above 2 s, rates would have gaps and silence would be reported too late."
        )
        self._add(grid, tr(names.INTERVAL), self.interval, why)
        self.days = self._spin(tr(names.KEPT), shown.days, shown.keep_days, "keep_days")
        self.days.setSuffix(tr(" days"))
        said = tr(
            "Takes effect at the next start, when older samples are deleted. Values per minute are kept for 400 days."
        )
        self._add(grid, tr(names.KEPT), self.days, said)
        self.gib = self._spin(tr(names.MOST), shown.gib, shown.most_gib, "most_gib")
        self.gib.setSuffix(" GiB")
        self._add(
            grid,
            tr(names.MOST),
            self.gib,
            tr("Takes effect at the next start; the oldest samples are deleted first."),
        )
        if shown.estate:
            self._estate(grid)
        return grid

    def _estate(self, grid: QGridLayout) -> None:
        value = ValueLabel(self._shown.estate)
        value.setAccessibleName(tr("Inventory: {path}", path=self._shown.estate))
        self._add(grid, tr(names.INVENTORY), value, tr("Opened last; the next start opens it again."))
        if not self._shown.usual_estate:
            forget = button(tr("Open the default one next time"), on=self._forget)
            grid.addWidget(forget, grid.rowCount(), 1, 1, 2, Qt.AlignmentFlag.AlignLeft)
            self.forget = forget

    def _secrets(self) -> QGridLayout:
        grid = _grid()
        self._keyring.setText(tr("Looking for the system's keyring…"))
        self._places[tr(names.KEYRING)] = self._keyring
        grid.addWidget(label(tr(names.KEYRING), "second"), 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._keyring, 0, 1, 1, 2)
        return grid

    def _limits(self) -> QGridLayout:
        grid = _grid()
        self.limit_fields: dict[str, QLineEdit] = {}
        for question in self._shown.questions:
            field = line(tr(question.title), question.usual)
            field.setText(self._shown.limits.get(question.name, ""))
            fault = label("", "bad")
            fault.hide()
            field.editingFinished.connect(lambda q=question, f=field, w=fault: self._limit_typed(q, f, w))
            self.limit_fields[question.name] = field
            self._places.setdefault(tr(names.LIMITS), field)
            self._add(grid, tr(question.title), field, tr("Default: {usual}.", usual=question.usual))
            grid.addWidget(fault, grid.rowCount(), 1, 1, 2)
        return grid

    def _about(self) -> QGridLayout:
        grid = _grid()
        for name, value in self._shown.about:
            words = ValueLabel(value)
            words.setAccessibleName(f"{tr(name)}: {value}")
            row = grid.rowCount()
            grid.addWidget(label(tr(name), "second"), row, 0)
            grid.addWidget(words, row, 1, 1, 2)
        self.copy = button(tr("Copy all"), hint=tr("Copy these lines, for a report"), on=self._copy)
        grid.addWidget(self.copy, grid.rowCount(), 1, 1, 2, Qt.AlignmentFlag.AlignLeft)
        return grid

    # -- what a person does -------------------------------------------------------------------------------------------

    def _limit_typed(self, question: Limit, field: QLineEdit, fault: QLabel) -> None:
        text = field.text().strip()
        wrong = self._limit_fault(text) if text else ""
        fault.setText(wrong)
        fault.setVisible(bool(wrong))
        mark_wrong(field, bool(wrong))
        if not wrong:
            self.limit_changed.emit(question.name, text)

    def _forget(self) -> None:
        self.forget.setEnabled(False)
        self.forget.setText(tr("The next start opens the default one"))
        self.estate_forgotten.emit()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(f"{tr(name)}: {value}" for name, value in self._shown.about))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    # -- places -------------------------------------------------------------------------------------------------------

    def _spin(self, name: str, ends: tuple[int, int], value: int, setting: str) -> Spin:
        box = Spin()
        box.setAccessibleName(name)
        box.lineEdit().setTextMargins(7, 0, 0, 0)
        box.setRange(*ends)
        box.setValue(value)
        box.setKeyboardTracking(False)
        box.valueChanged.connect(lambda number: self.changed.emit(setting, number))
        return box

    def _add(self, grid: QGridLayout, name: str, field: QWidget, note: str = "") -> None:
        row = grid.rowCount()
        words = label(name, "second", wrap=True)
        words.setBuddy(field)
        (self._sized if note else self._alone).append(field)
        self._names.append(words)
        self._places.setdefault(name, field)
        grid.addWidget(words, row, 0)
        grid.addWidget(field, row, 1, 1, 1 if note else 2, Qt.AlignmentFlag.AlignLeft)
        if note:
            grid.addWidget(label(note, "third", wrap=True), row, 2)

    def _say(self, grid: QGridLayout, name: str, value: str) -> None:
        row = grid.rowCount()
        words = self._places[name] = label(value, wrap=True)
        grid.addWidget(label(name, "second"), row, 0)
        grid.addWidget(words, row, 1, 1, 2)

    def _fit_text(self) -> None:
        self._inner.setMaximumWidth(px(_WIDTH) + 200)
        self._share_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let names and fields stand side by side in a narrow window too."""
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self) -> None:
        room = max(300, self.width() - _BESIDE)
        names, fields = min(px(_NAMES), room * 3 // 10), min(px(_FIELDS), room * 4 // 10)
        for field in self._sized:
            field.setFixedWidth(fields)
        for field in self._alone:
            field.setFixedWidth(min(px(_FIELDS), room * 6 // 10))
        for name in self._names:
            name.setFixedWidth(names)
        for grid in self.findChildren(QGridLayout):
            grid.setColumnMinimumWidth(0, names)


def _numbers(name: str, values: Sequence[int], words: Callable[[int], str], value: int) -> QComboBox:
    box = choice(name, ())
    for number in values:
        box.addItem(words(number), number)
    box.setCurrentIndex(box.findData(value))
    return box


def _grid() -> QGridLayout:
    grid = QGridLayout()
    grid.setContentsMargins(16, 12, 16, 12)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(2, 1)
    return grid


def _card(grid: QGridLayout) -> QFrame:
    card = QFrame()
    card.setProperty("kind", "card")
    card.setLayout(grid)
    return card

"""The questions of a procedure, built from their types: defaults shown, faults as one types, rare ones last."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.forms.fields import Fault, Field
from services.types import Health
from widgets.common.controls.boxes import button
from widgets.common.controls.plain import set_tip
from widgets.common.look.text import MIDDLE
from widgets.common.messages import MessageBar
from widgets.procedures.blocks import put, text_label
from widgets.procedures.forms.field_row import FieldRow
from widgets.procedures.run.next_bar import Foot

DEBOUNCE_MS = 250


class InputsForm(QWidget):
    """Signals: `inputs_changed(dict)` 250 ms after the last key, `check_wanted` for the button and Enter."""

    inputs_changed = Signal(object)
    check_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, FieldRow] = {}
        self._typed: dict[str, str] = {}
        self._faults: tuple[Fault, ...] = ()
        self._plain, self._rare = QVBoxLayout(), QVBoxLayout()
        for layout in (self._plain, self._rare):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(10)
        self._rare_place = QWidget()
        self._rare_place.setLayout(self._rare)
        self._rare_place.hide()
        self.more = button(tr("&More"), "link", on=self._turn_more)
        self.bar = MessageBar()
        self.check = button(tr("&Check"), "primary", on=self.go_on, hint=tr("Reads the hosts; changes nothing"))
        self.why_not = text_label("", "second")
        self.foot = Foot(self.check, self.why_not)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addLayout(self._plain)
        column.addWidget(self.more)
        column.addWidget(self._rare_place)
        column.addWidget(self.bar)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(DEBOUNCE_MS)
        self._wait.timeout.connect(self._emit)

    def set_fields(self, fields: tuple[Field, ...], inputs: dict[str, str], faults: tuple[Fault, ...]) -> None:
        """Show these questions with these answers; what a person types meanwhile is not overwritten."""
        if not self._wait.isActive():
            self._typed = dict(inputs)
        keep = {f.name for f in fields if f.name in self.rows and self.rows[f.name].same_shape(f)}
        for name in [name for name in self.rows if name not in keep]:
            old = self.rows.pop(name)
            old.hide()
            old.setParent(None)
            old.deleteLater()
        places = {False: 0, True: 0}
        for field in fields:
            fresh = field.name not in self.rows
            row = self._add(field) if fresh else self.rows[field.name]
            layout = self._rare if field.advanced else self._plain
            if layout.indexOf(row) != places[field.advanced]:
                layout.insertWidget(places[field.advanced], row)
            places[field.advanced] += 1
            row.touched = bool(self._typed.get(field.name, "").strip()) or row.touched
            row.update_field(field)
            if field.name in self._typed and (fresh or not self._wait.isActive()):
                row.show_text(self._typed[field.name] or ("" if row.touched else field.default))
        self.rows = {field.name: self.rows[field.name] for field in fields}
        self._tab_order()
        self.more.setVisible(places[True] > 0)
        self.set_faults(faults)

    def set_faults(self, faults: tuple[Fault, ...]) -> None:
        """Show each fault under its field, those of the whole form below it."""
        self._faults = faults
        by_name: dict[str, str] = {}
        for fault in faults:
            by_name.setdefault(fault.field, tr(fault.sentence))
        for name, row in self.rows.items():
            row.show_fault(by_name.get(name, ""))
            if by_name.get(name) and row.field.advanced:
                self.show_more(True)
        loose = [tr(fault.sentence) for fault in faults if fault.field not in self.rows]
        self.bar.say(Health.BAD, loose)
        self._judge()

    def values(self) -> dict[str, str]:
        """Return the answers that a person gave; defaults are the procedure's to fill in."""
        return {name: row.text().strip() for name, row in self.rows.items() if row.touched}

    def _judge(self) -> None:
        """Say in the foot why nothing can be checked yet."""
        unread = tr("The hosts are read first.") if not self.rows else ""
        why = tr("Answer the marked questions first.") if self._faults else unread
        self.check.setEnabled(not why)
        put(self.why_not, why)
        set_tip(self.check, why or tr("Reads the hosts; changes nothing"))

    def summary(self) -> str:
        """Return the answers in one line ('Node that goes down n2 · Donor that keeps its cache n1')."""
        shown = [row for row in self.rows.values() if not row.field.advanced or row.touched]
        return f" {MIDDLE} ".join(f"{tr(r.field.title)}: {r.text()}" for r in shown if r.text())

    def has_faults(self) -> bool:
        """Return whether something has to be answered first."""
        return bool(self._faults)

    def show_more(self, shown: bool) -> None:
        """Show or fold the rare questions."""
        self._rare_place.setVisible(shown)
        self.more.setText(tr("&Less") if shown else tr("&More"))

    def go_on(self) -> None:
        """Hand over what was typed last, then ask for the checks."""
        if self._wait.isActive():
            self._wait.stop()
            self._emit()
        if not self._faults:
            self.check_wanted.emit()

    def title_of(self, name: str) -> str:
        """Return a question's words, its name where it is not asked."""
        row = self.rows.get(name)
        return tr(row.field.title) if row is not None else name

    def focus(self, name: str) -> None:
        """Give the keys to a question, unfolded where it is a rare one."""
        row = self.rows.get(name)
        if row is None:
            return
        if row.field.advanced:
            self.show_more(True)
        row.focus_target().setFocus()

    def focus_first(self) -> None:
        """Give the keys to the first question."""
        for row in self.rows.values():
            row.focus_target().setFocus()
            return

    def _add(self, field: Field) -> FieldRow:
        row = FieldRow(field)
        row.changed.connect(self._take)
        row.entered.connect(self.go_on)
        self.rows[field.name] = row
        return row

    def _take(self, name: str, text: str) -> None:
        self._typed[name] = text
        self._wait.start()

    def _emit(self) -> None:
        self.inputs_changed.emit(self.values())

    def _turn_more(self) -> None:
        self.show_more(not self._rare_place.isVisibleTo(self))

    def _tab_order(self) -> None:
        order: list[QWidget] = [w for r in self.rows.values() if not r.field.advanced for w in r.key_stops()]
        order += [self.more, *(w for r in self.rows.values() if r.field.advanced for w in r.key_stops()), self.check]
        for first, second in pairwise(order):
            QWidget.setTabOrder(first, second)

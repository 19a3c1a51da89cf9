"""The last look before a run: totals, typed confirmations; in the page's foot the buttons, and why they wait."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from services.i18n import tr, tr_n
from services.procedures.plan.model import Plan, Risk, Step, with_addresses
from services.types import Health
from widgets.common.controls.boxes import button
from widgets.common.controls.fields import line
from widgets.common.controls.plain import set_tip
from widgets.common.look.text import MIDDLE, format_count, plural
from widgets.common.messages import MessageBar
from widgets.procedures.blocks import emptied, put, text_label
from widgets.procedures.run.next_bar import Foot
from widgets.procedures.words import about_time

_MOST_NAMED = 4  # of the hosts in the head of the plan; the line above the approval names them all


class Approval(QWidget):
    """Signals: `rehearse_wanted`, `start_wanted`. `confirmations()` gives step id -> what was typed."""

    rehearse_wanted = Signal()
    start_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._plan: Plan | None = None
        self._standing: tuple[str, ...] = ()
        self._busy = ""
        self.lines: dict[str, QLineEdit] = {}
        self._expected: dict[str, str] = {}
        self.violations = MessageBar()
        self._facts = text_label("", "second")
        self._fields = QVBoxLayout()
        self._fields.setSpacing(6)
        self.rehearse = button(
            tr("&Rehearse"),
            on=self.rehearse_wanted.emit,
            hint=tr("Makes every read, prints every change, changes nothing"),
        )
        self.start = button(tr("&Approve and start"), "primary", on=self._start)
        self.reason, self._found = text_label("", "warn"), text_label("", "second")
        self.foot = Foot(self.start, self.rehearse, self.reason, self._found)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.violations)
        column.addWidget(self._facts)
        column.addLayout(self._fields)
        self._judge()

    def show_plan(self, plan: Plan, violations: tuple[str, ...], addresses: Mapping[str, str]) -> None:
        """Show what the plan asks of the person; what was typed stays for the same plan only."""
        self.violations.say(Health.BAD, violations)
        put(self._facts, plan_facts(plan, addresses, most=len(plan.hosts)))
        if plan != self._plan:
            self._plan = plan
            self.say_rehearsed("")
            self._ask_names([step for step in plan.steps if step.confirm])
        self._judge()

    def plan(self) -> Plan | None:
        """Return the plan that would be approved."""
        return self._plan

    def set_standing(self, codes: tuple[str, ...]) -> None:
        """Take the codes of the blocks that stand."""
        if codes != self._standing:
            self._standing = codes
            self._judge()

    def set_busy(self, sentence: str) -> None:
        """Say what has to end first ('Rehearsing…'), '' for nothing."""
        if sentence != self._busy:
            self._busy = sentence
            self._judge()

    def say_rehearsed(self, told: str) -> None:
        """Say beside the buttons what the rehearsal found."""
        put(self._found, told)

    def confirmations(self) -> dict[str, str]:
        """Return what was typed for each step that asks for it."""
        return {step_id: field.text().strip() for step_id, field in self.lines.items()}

    def waits_for(self) -> str:
        """Return why the run can't start yet, '' when it can."""
        if self._plan is None:
            return tr("There is no plan yet.")
        if self._plan.nothing_to_do:
            return tr("There is nothing to do: the cluster is already in this state.")
        if self.violations.text():
            return tr("The plan violates a rule that every plan must follow.")
        if self._standing:
            return tr("These checks block: {codes}.", codes=", ".join(self._standing))
        missing = [self._expected[key] for key, typed in self.confirmations().items() if typed != self._expected[key]]
        if missing:
            return tr("Type {names} at the end of the plan to confirm.", names=", ".join(dict.fromkeys(missing)))
        return self._busy

    def _ask_names(self, steps: list[Step]) -> None:
        emptied(self._fields)
        self.lines, self._expected = {}, {}
        for step in steps:
            text = tr("'{title}' cannot be undone. Type {name}:", title=tr(step.title), name=step.confirm)
            name = text_label(text, "bad")
            field = line(tr("Type {name} to confirm", name=step.confirm), step.confirm)
            field.setFixedWidth(200)
            field.textChanged.connect(lambda _text: self._judge())
            field.returnPressed.connect(self._start)
            name.setBuddy(field)
            row = QHBoxLayout()
            row.setSpacing(12)
            row.addWidget(name, 1)
            row.addWidget(field)
            self._fields.addLayout(row)
            self.lines[step.step_id], self._expected[step.step_id] = field, step.confirm

    def _start(self) -> None:
        if self.start.isEnabled():
            self.start_wanted.emit()

    def _judge(self) -> None:
        reason = self.waits_for()
        self.start.setEnabled(not reason)
        set_tip(self.start, reason)
        self.start.setAccessibleDescription(reason)
        put(self.reason, reason)


def plan_facts(plan: Plan, addresses: Mapping[str, str], most: int = _MOST_NAMED) -> str:
    """Return the totals ('11 steps on n1 (10.0.0.1) · 4 change something · 1 takes a node down · about 24 min').

    `most`: hosts that are named with their addresses; more of them are counted.
    """
    if plan.nothing_to_do:
        return tr("Nothing to do: the cluster is already as this procedure would leave it.")
    changes = sum(step.risk in {Risk.CHANGES, Risk.NODE_DOWN, Risk.IRREVERSIBLE} for step in plan.steps)
    downs = sum(step.risk is Risk.NODE_DOWN for step in plan.steps)
    final = sum(step.risk is Risk.IRREVERSIBLE for step in plan.steps)
    duties = sum(step.takes is not None for step in plan.steps)
    many = len(plan.hosts) > most
    named = with_addresses(plan.hosts, addresses)
    hosts = plural(len(plan.hosts), "{n} host", "{n} hosts") if many else named
    parts = [
        tr("{steps} on {hosts}", steps=plural(len(plan.steps), "{n} step", "{n} steps"), hosts=hosts),
        tr_n("{n} changes something", "{n} change something", changes, n=format_count(changes)),
    ]
    if downs:
        parts.append(tr_n("{n} takes a node down", "{n} take a node down", downs, n=format_count(downs)))
    if final:
        parts.append(tr_n("{n} cannot be undone", "{n} cannot be undone", final, n=format_count(final)))
    if duties:
        parts.append(tr_n("{n} obligation", "{n} obligations", duties, n=format_count(duties)))
    if estimate := about_time(plan.estimate_s):
        yours = tr("{time} without your own work", time=estimate)
        parts.append(yours if plan.yours else estimate)
    return "\n".join((f" {MIDDLE} ".join(parts), *(outage.words for outage in plan.outages)))

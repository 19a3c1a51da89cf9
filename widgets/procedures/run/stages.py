"""The sections of the wizard in their order, which is open, and what comes next: inputs, checks, plan, report."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field
from services.procedures.plan.model import Plan
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import RunView
from services.types import Health
from widgets.common.look.text import MIDDLE
from widgets.procedures.blocks import put, text_label
from widgets.procedures.forms.checklist import Checklist
from widgets.procedures.forms.inputs_form import InputsForm
from widgets.procedures.run.approval import Approval, plan_facts
from widgets.procedures.run.next_bar import NextBar, Stage
from widgets.procedures.run.report_box import ReportBox
from widgets.procedures.run.section import Section
from widgets.procedures.steps.list import StepList
from widgets.procedures.values import Rehearsed
from widgets.procedures.words import (
    OVER,
    asks_for_the_rest,
    checks_health,
    checks_words,
    current_step,
    newest_checks,
    past_words,
    plan_words,
    run_health,
    run_words,
    time_words,
)


class Stages(QWidget):
    """Owns the sections; the page connects their parts."""

    def __init__(self) -> None:
        super().__init__()
        self.form, self.checklist, self.steps = InputsForm(), Checklist(), StepList()
        self.approval, self.report = Approval(), ReportBox()
        self._given = text_label("", "second")  # the answers of a run: nothing to type any more
        self._broken = text_label("", "warn")
        self._run: RunView | None = None
        self._plan: Plan | None = None
        place = QWidget()
        inner = QVBoxLayout(place)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self.form)
        inner.addWidget(self._given)
        self.inputs = Section(tr("Inputs"), place)
        self.preflight = Section(tr("Preflight"), self.checklist, margins=(16, 6, 16, 14))
        self.plan = Section(tr("Plan"), self.steps, margins=(0, 0, 0, 1))
        self.go = Section(tr("Start"), self.approval)
        self.outcome = Section(tr("Report"), self.report)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        for part in (self._broken, *self._all()):
            column.addWidget(part)
        feet = {Stage.INPUTS: self.form.foot, Stage.CHECKS: self.checklist.foot, Stage.PLAN: self.approval.foot}
        self.next = NextBar(feet)
        self.checklist.overrides_changed.connect(self._judge)
        self.checklist.title_of = self.form.title_of
        self.checklist.answer_wanted.connect(self._go_to_answer)
        self.form.inputs_changed.connect(lambda _inputs: self._outdate())

    def _all(self) -> tuple[Section, ...]:
        return (self.inputs, self.preflight, self.plan, self.go, self.outcome)

    def begin(self, about: About) -> None:
        """Forget the last procedure."""
        self._run = self._plan = None
        self.form.setVisible(True)
        for section in (self.preflight, self.plan, self.go, self.outcome):
            section.hide()
        for text in (self._given, self._broken):
            put(text, "")
        self.form.set_fields((), {}, ())
        self.inputs.hide()  # there is nothing to answer before the hosts were read
        self.inputs.say(Health.UNKNOWN, tr(about.takes))
        self.inputs.set_open(True)
        self.checklist.set_checks((), waiting=False)
        self.steps.show_plan((), {})
        self._judge()

    def set_fields(self, fields: tuple[Field, ...], inputs: dict[str, str], faults: tuple[Fault, ...]) -> None:
        """Show the questions."""
        first = not self.form.rows
        self.inputs.show()
        self.form.set_fields(fields, inputs, faults)
        self._say_inputs()
        if first:
            self.form.focus_first()
        self._judge()

    def _say_inputs(self) -> None:
        wrong = self.form.has_faults()
        summary = tr("answer the marked questions first") if wrong else self.form.summary()
        self.inputs.say(Health.BAD if wrong else Health.GOOD, summary)

    def set_checks(self, checks: tuple[Check, ...], waiting: bool, *, live: bool = False) -> None:
        """Show the checklist and fold the inputs once it is there; `live`: as one types, nothing is folded."""
        if self._run is not None:
            return
        self.checklist.set_checks(checks, waiting=waiting)
        first = not self.preflight.isVisibleTo(self)
        self.preflight.show()
        if waiting:
            self.preflight.say(Health.TRANSFER, tr("reading the hosts…"))
        else:
            self.preflight.say(checks_health(checks), checks_words(checks, self.checklist.overrides()))
        self._judge()
        if checks and not waiting and not live and (first or self._plan is None):
            self.inputs.set_open(False)
            self.preflight.set_open(True)
            self.checklist.go_on.setFocus()

    def set_plan(
        self,
        plan: Plan,
        wording: Mapping[str, tuple[str, ...]],
        violations: tuple[str, ...],
        *,
        addresses: Mapping[str, str],
        live: bool = False,
    ) -> None:
        """Show the plan and what its approval needs; `live`: as one types, nothing is folded and no focus moved."""
        new = plan != self._plan
        self._plan = plan
        self.steps.show_plan(plan.steps, wording)
        self.approval.show_plan(plan, violations, addresses)
        self.plan.say(Health.BAD if violations else Health.UNKNOWN, plan_facts(plan, addresses))
        self.plan.setVisible(bool(plan.steps))
        self.go.setVisible(True)
        self.go.say(None, tr("read the plan, rehearse it, then approve it"))
        if new and not live:
            for section, shown in ((self.inputs, False), (self.preflight, bool(self._standing())), (self.plan, True)):
                section.set_open(shown)
            self.go.set_open(True)
            self._judge()
            if self.steps.rows:
                self.steps.focus_current()
            else:
                self.approval.rehearse.setFocus()
        self._judge()

    def set_rehearsal(self, results: tuple[Rehearsed, ...], running: bool) -> None:
        """Show what the rehearsal found."""
        self.steps.show_rehearsal(results)
        self.approval.set_busy(tr("The rehearsal is running.") if running else "")
        self.approval.rehearse.setEnabled(not running)
        stops = sum(found.holds is False for found in results)
        if running:
            words = tr("rehearsing: {done} of {total} steps", done=len(results), total=len(self.steps.rows))
        elif stops:
            words = tr("rehearsed: it would stop at {n} of the steps", n=stops)
        else:
            words = tr("rehearsed: nothing would stop it")
        self.go.say(Health.TRANSFER if running else Health.WARN if stops else Health.GOOD, words)
        self.approval.say_rehearsed("" if running else words)

    # -- a run ---------------------------------------------------------------------------------------------------
    def set_run(self, view: RunView, now: float, wording: Mapping[str, tuple[str, ...]] | None) -> int:
        """Show the run; return how many rows changed."""
        before, self._run = self._run, view
        if before is None or before.run_id != view.run_id:
            self._enter_run(view, wording or {})
        if wording is not None or view.plan.steps != (self._plan.steps if self._plan else ()):
            known = {**self.steps.wording, **(wording or {})}
            self.steps.show_plan(view.plan.steps, known, now)
        self._plan = view.plan
        if before is None or (before.checks, before.overrides) != (view.checks, view.overrides):
            # To be approved is what the newest plan rests on; a finished run keeps the last word on each check.
            checks = view.fresh_checks or newest_checks(view.checks)
            self.checklist.show_decided(checks, view.overrides)
            self.preflight.say(checks_health(checks), checks_words(checks, view.overrides))
            self.preflight.setVisible(bool(checks))
        if asks_for_the_rest(view) != (before is not None and asks_for_the_rest(before)):
            self.preflight.set_open(asks_for_the_rest(view))  # what was found out belongs to what is approved
        # While it lasts the banner tells it; what is over is read where the run's end is.
        put(self._broken, "\n".join(map(past_words, view.broken)) if view.state in OVER else "")
        at = current_step(view)
        asked = at if view.question is not None and view.question.step_id else -1
        changed = self.steps.show_views(view.steps, at, asked, now, to_read=asks_for_the_rest(view))
        if (before is None or before.run_id != view.run_id) and self.steps.rows:
            self.steps.focus_current()
        self.tick(view, now, rows=False)
        over = view.state in OVER
        if over and (before is None or before.state not in OVER):
            self.outcome.set_open(True)
        self.outcome.setVisible(over)
        if over:
            self.outcome.say(run_health(view.state), run_words(view))
            self.report.show_run(view)
        return changed

    def _enter_run(self, view: RunView, wording: Mapping[str, tuple[str, ...]]) -> None:
        called = {name: " ".join(wording.get(f"input:{name}", (name,))) for name, _ in view.plan.inputs}
        answers = tuple(f"{called[name]}: {value}" for name, value in view.plan.inputs if value)
        self.form.setVisible(False)
        self.inputs.show()
        self.steps.show_rehearsal(())  # what would happen is over: it happens
        put(self._given, "\n".join(answers))
        self.inputs.say(Health.GOOD, f" {MIDDLE} ".join(answers))
        for section, shown in ((self.inputs, False), (self.preflight, False), (self.plan, view.state not in OVER)):
            section.set_open(shown)
        self.plan.show()
        self.go.hide()
        self._judge()

    def tick(self, view: RunView, now: float, *, rows: bool = True) -> None:
        """Let what runs count on."""
        if rows:
            self.steps.tick(now)
        self.plan.say(run_health(view.state), plan_words(view), time_words(view, now))

    def _go_to_answer(self, name: str) -> None:
        self.inputs.set_open(True)
        self.form.focus(name)

    def focus_first(self) -> None:
        """Give the keys to the first question, or to the steps of a run."""
        if self._run is None:
            self.form.focus_first()
        elif self.steps.rows:
            self.steps.focus_current()

    # -- judging -------------------------------------------------------------------------------------------------
    def _standing(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(check.code for check in self.checklist.standing_blocks()))

    def _judge(self) -> None:
        self.approval.set_standing(self._standing())
        self.checklist.set_hindrance(tr("Answer the marked questions first.") if self.form.has_faults() else "")
        self.next.show_stage(self._stage())

    def _stage(self) -> Stage:
        if self._run is not None:
            return Stage.RUN
        if self._plan is not None:
            return Stage.PLAN
        return Stage.CHECKS if self.preflight.isVisibleTo(self) else Stage.INPUTS

    def _outdate(self) -> None:
        """Other answers need other checks and another plan."""
        self._say_inputs()
        if self._run is None and self._plan is not None:
            self._plan = None
            self.plan.hide()
            self.go.hide()
        self._judge()

"""From a procedure's card to its run: gathers, judges as one types, rehearses, starts. Joins wizard and service."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from services.errors import UserError
from services.i18n import tr
from services.procedures.plan.checks import Override
from services.procedures.plan.model import Plan
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import RunView
from services.procedures.plan.wording import wording
from services.types import Health
from widgets.bridge.runs import Runs
from widgets.common.look.text import format_clock, format_duration
from widgets.procedures.run.wizard import WizardPage
from widgets.procedures.values import Rehearsed

if TYPE_CHECKING:  # behind these stand drivers and SQLAlchemy: the service's opening imports them
    from services.procedures.engine.rehearsal import Rehearsal, RehearsedStep
    from services.procedures.plan.host_facts import Facts, HostFacts
    from services.procedures.service.service import Draft

FRESH_S = 600.0
"""Facts older than this are read anew before a run begins; its steps read their preconditions again in any case."""
_JUST_READ_S = 20.0


class WizardFlow(QObject):
    """What stands in the wizard before a run: a procedure, its facts, the answers, the newest draft."""

    def __init__(
        self,
        runs: Runs,
        wizard: WizardPage,
        show: Callable[[RunView], None],
        planned: Callable[[Plan], None],
        limits: Callable[[], Mapping[str, str]],
        parent: QObject,
    ) -> None:
        """Join.

        Args:
            show: shows a run that began; planned: hears of each plan that is shown.
            limits: gives name of a question -> the answer it begins with.
        """
        super().__init__(parent)
        self._runs = runs
        self._wizard = wizard
        self._show = show
        self._planned_now = planned
        self._limits = limits
        self.leave()
        wizard.inputs_changed.connect(self._typed)
        wizard.check_wanted.connect(self._check)
        wizard.plan_wanted.connect(self._plan_wanted)
        wizard.rehearse_wanted.connect(self._rehearse)
        wizard.start_wanted.connect(self._start)

    @property
    def active(self) -> bool:
        """Return whether a procedure is being prepared."""
        return self._about is not None

    @property
    def cluster(self) -> str:
        """Return the state UUID or name of the cluster that is asked, '' for none."""
        return self._facts.cluster_id if self._facts is not None else self._cluster

    def leave(self) -> None:
        """Forget what was being prepared; what is still read for it is dropped."""
        self._about: About | None = None
        self._facts: Facts | None = None
        self._draft: Draft | None = None
        self._inputs: dict[str, str] = {}
        self._cluster = self._host = ""
        self._checked = self._planned = self._asked_to_check = False
        self._limits_due = True
        self._token = object()

    def choose(self, about: About, cluster: str, host: str = "") -> None:
        """Begin with a procedure on a cluster, perhaps for one host."""
        self.leave()
        self._about, self._cluster, self._host = about, cluster, host
        self._wizard.set_about(about)
        self._wizard.stages.approval.set_busy("")
        self._gather()

    # -- reading ------------------------------------------------------------------------------------------------------

    def _gather(self) -> None:
        token = self._token
        since = format_clock(time.time())
        self._wizard.say_message(
            Health.TRANSFER,
            (
                tr("Since {at}, every host is being read for the facts that this procedure needs.", at=since),
                tr("Reads only: nothing is changed."),
            ),
        )
        if self._checked:
            self._wizard.set_checks(self._draft.checks if self._draft is not None else (), waiting=True)

        def gathered(facts: Facts) -> None:
            if token is self._token:
                self._gathered(facts)

        def failed(problem: UserError) -> None:
            if token is self._token:
                self._say(problem)
                if self._checked and self._draft is not None:
                    self._wizard.set_checks(self._draft.checks)

        assert self._about is not None
        self._runs.gather(self._cluster, self._about.name, gathered, failed)

    def _gathered(self, facts: Facts) -> None:
        about, first = self._about, self._facts is None
        assert about is not None
        self._facts = facts
        if first and self._host and about.node_field:
            self._inputs = {about.node_field: self._host}
        silent = [f"{p.part}: {p.sentence}" for p in facts.problems]
        hosts = [host for host in facts.hosts if host.node is None or host.node.reach.name == "NONE"]
        silent += [tr("Nothing could be read from {host}: {why}", host=h.host, why=_why(h)) for h in hosts]
        self._wizard.say_message(Health.WARN, tuple(silent))
        self._judge()

    # -- judging ------------------------------------------------------------------------------------------------------

    def _typed(self, inputs: dict[str, str]) -> None:
        self._inputs = dict(inputs)
        self._judge()

    def _judge(self) -> None:
        if self._about is None or self._facts is None:
            return
        token = self._token

        def judged(draft: Draft) -> None:
            if token is self._token:
                self._judged(draft)

        self._runs.draft(self._about.name, self._facts, self._inputs, judged)

    def _judged(self, draft: Draft) -> None:
        if draft.plan is None and self._draft is not None and self._draft.plan is not None:
            self._planned = False
        self._draft = draft
        if self._begin_with_limits(draft):
            return
        self._wizard.set_fields(draft.fields, self._inputs, draft.faults)
        if draft.faults or draft.plan is None:
            return
        asked, self._asked_to_check = self._asked_to_check, False
        if asked or self._checked:
            self._wizard.set_checks(draft.checks, live=not asked)
            self._checked = True
        if self._planned:
            self._show_plan(draft, live=not asked)

    def _begin_with_limits(self, draft: Draft) -> bool:
        """Answer the questions that the person has answers for in the settings, once; return whether any was."""
        own, self._limits_due = self._limits_due, False
        known = {field.name: self._limits().get(field.name, "") for field in draft.fields} if own else {}
        answers = {name: text for name, text in known.items() if text and name not in self._inputs}
        if answers:
            self._inputs |= answers
            self._judge()
        return bool(answers)

    def _check(self) -> None:
        """The first check shows what was just read; every other one reads again."""
        facts = self._facts
        if facts is None:
            return
        fresh = time.time() - facts.at < _JUST_READ_S or self._draft is None
        if not self._checked and fresh:
            self._checked = True
            if self._draft is not None and not self._draft.faults:
                self._wizard.set_checks(self._draft.checks)
            return
        self._checked = self._asked_to_check = True
        self._gather()

    def _plan_wanted(self) -> None:
        if self._draft is not None and self._draft.plan is not None:
            self._planned = True
            self._show_plan(self._draft, live=False)

    def _show_plan(self, draft: Draft, *, live: bool) -> None:
        assert draft.plan is not None
        where = draft.facts.addresses()
        self._wizard.set_plan(draft.plan, plan_wording(draft.plan), draft.violations, live=live, addresses=where)
        self._planned_now(draft.plan)

    # -- rehearsing and starting --------------------------------------------------------------------------------------

    def _rehearse(self) -> None:
        draft, token = self._draft, self._token
        if draft is None or draft.plan is None:
            return
        self._wizard.set_rehearsal((), running=True)

        def rehearsed(found: Rehearsal) -> None:
            if token is self._token and self._draft is draft:
                self._wizard.set_rehearsal(tuple(_rehearsed(step) for step in found.steps))

        def failed(problem: UserError) -> None:
            if token is self._token:
                self._wizard.stages.approval.set_busy("")
                self._wizard.stages.approval.rehearse.setEnabled(True)
                self._say(problem)

        self._runs.rehearse(draft, rehearsed, failed)

    def _start(self, overrides: tuple[Override, ...], confirmations: dict[str, str]) -> None:
        draft, token, facts = self._draft, self._token, self._facts
        if draft is None or draft.plan is None or facts is None:
            return
        age = time.time() - facts.at
        if age > FRESH_S:
            said = tr("The facts behind the plan are {age} old and are read again first.", age=format_duration(age))
            self._asked_to_check = True
            self._gather()
            self._wizard.say_message(Health.WARN, (said, tr("Then approve the plan.")))
            return
        self._wizard.stages.approval.set_busy(tr("The run is starting…"))

        def begun(view: RunView) -> None:
            if token is self._token:
                self.leave()
                self._wizard.stages.approval.set_busy("")
                self._show(view)

        def failed(problem: UserError) -> None:
            if token is self._token:
                self._wizard.stages.approval.set_busy("")
                self._say(problem)

        self._runs.begin(draft, overrides, tuple(confirmations.values()), begun, failed)

    def _say(self, problem: UserError) -> None:
        self._wizard.say_message(Health.BAD, tuple(s for s in (str(problem), problem.safe, *problem.try_) if s))


def plan_wording(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return step id -> exactly what runs, masked; 'input:' and an input's key -> what it is called."""
    from services.procedures.report.spoken_inputs import spoken_inputs  # the service that made the plan has imported it

    lines = {step.step_id: wording(step.action) for step in plan.steps}
    called = {f"input:{name}": (title,) for name, title in spoken_inputs(plan).items()}
    return lines | called | {f"undo:{s.step_id}": wording(s.undo.action) for s in plan.steps if s.undo is not None}


def _rehearsed(found: RehearsedStep) -> Rehearsed:
    already = found.would == "nothing"
    # The rehearsal knows what earlier steps change: a node that still runs is no hindrance to the start after its stop.
    holds = False if found.stops else None if found.later else True
    lines = tuple(answer.evidence for answer in (*found.already, *found.before, *found.proof) if answer.evidence)
    return Rehearsed(found.step.step_id, holds, tr(found.words), lines, already)


def _why(host: HostFacts) -> str:
    """Return why nothing was read of a host: what reading it for the plan met, else what looking at it did."""
    problems = (*host.problems, *(host.node.problems if host.node is not None else ()))
    return next((p.sentence for p in problems), tr("no reason is known"))

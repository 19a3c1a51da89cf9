"""What the journal says of a run, as the view that is shown: pure, and true after a kill behind any entry.

A step whose last word is ACTING or UNDOING may have happened or not: the view says so and only a proof decides. An
obligation is on from the entry before its act (see obligations.py). `entries.py` has the table of entries.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeVar

from services.errors import JournalDamaged, StoreError
from services.i18n import tr
from services.procedures.journal.codec import checks_in, decode, decode_all, plan_in
from services.procedures.journal.entries import problems_after
from services.procedures.journal.obligations import change_obligations
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.checks import Check, Override
from services.procedures.plan.invariants.plans import only_reads
from services.procedures.plan.model import Breach, Plan, Step
from services.procedures.plan.run_model import (
    PUT_OFF,
    RESTS_AT,
    RUN_WAYS,
    STEP_WAYS,
    TAKEN_BACK,
    Broken,
    Entry,
    OpenObligation,
    Question,
    RunState,
    RunView,
    StepState,
    StepView,
    UndoView,
)
from services.procedures.plan.sentences import OUTCOME_UNKNOWN

_S = TypeVar("_S", RunState, StepState)

UNFINISHED = frozenset({StepState.CHECKING, StepState.ACTING, StepState.PROVING, StepState.UNDOING})
"""States that no step rests in: the console was killed there, or an engine is at work."""
ENDED = frozenset({RunState.DONE, RunState.UNDONE, RunState.LEFT})
"""States that a run never leaves."""
_ACTS_ANEW = frozenset({StepState.CHECKING, StepState.ACTING})
_RESTS = frozenset(StepState) - UNFINISHED - {StepState.PENDING}
_ENDED_ILL = frozenset({StepState.FAILED, StepState.IN_DOUBT, StepState.CANCELLED})
_CLEARS_QUESTION = ENDED | {RunState.RUNNING, RunState.UNDOING}


@dataclass(slots=True)
class _Projection:
    """What is known after the entries so far."""

    run_id: str
    plan: Plan
    steps: dict[str, StepView]
    state: RunState = RunState.NOT_STARTED
    sentence: str = ""
    approved: float | None = None
    may_act: frozenset[str] = frozenset()  # steps that an approval has covered
    started: float | None = None
    ended: float | None = None
    at: float | None = None
    owner: str = ""
    checks: tuple[Check, ...] = ()
    overrides: tuple[Override, ...] = ()
    question: Question | None = None
    kept: dict[str, str] = field(default_factory=dict)
    obligations: dict[tuple[str, str], OpenObligation] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    fresh_checks: tuple[Check, ...] = ()
    locked: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    acted_before: set[str] = field(default_factory=set)  # steps whose act was announced a second time


def project(entries: Iterable[Entry]) -> RunView:
    """Return the run that these entries (of one run, in order) tell.

    Raises StoreError: no plan was written, an entry is missing, damaged or of a newer Pilothouse, a state that can't
    follow the one before (RUN_WAYS, STEP_WAYS), or an act of a plan that nobody approved.
    """
    rest = iter(entries)
    first = next(rest, None)
    if first is None:
        raise _no_plan()
    folding = Projecting(first)
    for entry in rest:
        folding.add(entry)
    return folding.view()


class Projecting:
    """`project` one entry at a time, for who writes the entries. Not thread-safe."""

    def __init__(self, first: Entry) -> None:
        """Begin with the entry 'planned'; raises StoreError like `project`."""
        if first.kind != "planned" or first.seq != 1:
            raise _no_plan(first.run_id)
        with _told_of(first):
            self._run = _begin(first)
        self._last = first.seq

    def add(self, entry: Entry) -> None:
        """Apply the next entry; raises StoreError like `project`, then nothing more can be added."""
        if entry.seq != self._last + 1:
            _illegal(entry, f"entry {self._last + 1} is missing")
        self._last, self._run.at = entry.seq, entry.at
        if entry.kind in _KINDS:
            with _told_of(entry):
                _KINDS[entry.kind](self._run, entry, entry.data or {})
        else:
            _illegal(entry, f"the kind {entry.kind!r} has no meaning here (a newer Pilothouse writes it, or damage)")

    def view(self) -> RunView:
        """Return the run as the entries so far tell it."""
        return _view(self._run)


def at_work_elsewhere(view: RunView) -> RunView:
    """Return the run as another program drives it now: what a killed console leaves in doubt is only under way."""
    steps = tuple(
        replace(s, said="") if s.state in UNFINISHED and s.said == _said(s.state, s.step) else s for s in view.steps
    )
    return replace(view, elsewhere=True, steps=steps)


def acts_began(entries: Iterable[Entry]) -> dict[str, float]:
    """Return when each step's latest act began (step id -> UTC epoch seconds), for `ports.Past`."""
    acting = StepState.ACTING.value
    return {e.step_id: e.at for e in entries if e.kind == "step" and (e.data or {}).get("state") == acting}


@contextlib.contextmanager
def _told_of(entry: Entry) -> Iterator[None]:
    """Let what can't be decoded name its run: others are listed all the same."""
    try:
        yield
    except JournalDamaged:
        raise
    except StoreError as problem:
        sentence = tr("The journal of run {run} cannot be read at entry {seq}. {why}", run=entry.run_id, seq=entry.seq,
                  why=problem.sentence)  # fmt: skip
        raise JournalDamaged(sentence, safe=problem.safe, try_=problem.try_) from problem


def _no_plan(run_id: str = "") -> StoreError:
    """Return what is said of a run that was only reserved (''), or whose first line is not its plan."""
    if run_id:
        return JournalDamaged(
            tr("The journal of run {run} is damaged: it does not begin with a plan.", run=run_id),
            safe=tr("The journal is unchanged; nothing was done."),
        )
    return StoreError(
        tr("This run has no plan in the journal: nothing was approved and nothing was done."),
        safe=tr("No host was touched by this run."),
    )


def _begin(entry: Entry) -> _Projection:
    data = entry.data or {}
    plan = plan_in(data.get("plan"))
    return _Projection(
        run_id=entry.run_id,
        plan=plan,
        sentence=tr("Nothing was done yet: the plan waits for its approval."),
        steps={step.step_id: StepView(step) for step in plan.steps},
        started=entry.at,
        at=entry.at,
        owner=str(data.get("owner", "")),
        checks=checks_in(data.get("checks")),
        overrides=decode_all(Override, data.get("overrides")),
        fresh_checks=checks_in(data.get("checks")),
    )


def _approved(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    del data
    run.approved, run.may_act = entry.at, frozenset(run.steps)
    if run.state is RunState.NOT_STARTED:
        run.sentence = tr("Approved; nothing was done yet.")


def _run(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    state = _word(RunState, data, entry)
    if state is not run.state:
        if state not in RUN_WAYS[run.state]:
            _illegal(entry, f"a run that is '{run.state.value}' cannot become '{state.value}'")
        # A plan that was continued runs on to its approval: what nobody approved can't act (`may_act`).
        if state is RunState.RUNNING and run.approved is None and not run.may_act:
            _illegal(entry, "it runs a plan that was not approved")
        if run.state is RunState.NOT_STARTED:
            run.started = entry.at
    run.state, run.sentence = state, str(data.get("sentence", ""))
    run.ended = entry.at if state in ENDED else None
    if state in _CLEARS_QUESTION:
        run.question = None


def _step(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    view, state = _shown(run, entry), _word(StepState, data, entry)
    run.problems = ()  # a picture is of the time at which the run rested
    if state is not view.state and state not in STEP_WAYS[view.state]:
        _illegal(entry, f"step '{entry.step_id}' is '{view.state.value}' and cannot become '{state.value}'")
    if state is StepState.ACTING and entry.step_id not in run.may_act:
        _illegal(entry, f"step '{entry.step_id}' acts without an approval")
    begins = state is StepState.CHECKING or view.started is None
    if state is StepState.ACTING and view.acted:
        run.acted_before.add(entry.step_id)
    untouched = data.get("untouched") is True and entry.step_id not in run.acted_before
    error, evidence, anew = str(data.get("error", "")), _texts(data.get("evidence")), state is StepState.CHECKING
    changes: dict[str, Any]  # beside what every state has: a view is made once for each entry
    if state in TAKEN_BACK:
        changes = {"undo": _undo(view, state, entry.at, evidence)}
    else:
        change_obligations(run.obligations, entry)
        changes = {
            "started": entry.at if begins and state is not StepState.PENDING else view.started,
            "ended": entry.at if state in _RESTS else None,
            "failed": error if state in _ENDED_ILL else "",
            "evidence": evidence or (() if anew else view.evidence),
            "output": () if anew else view.output,
        }
    run.steps[entry.step_id] = replace(
        view,
        state=state,
        said=str(data.get("said", "")) or _said(state, view.step),
        error=error,
        waits_for=view.step.action.reason if isinstance(view.step.action, WaitFor) and state in UNFINISHED else "",
        until=entry.at + view.step.limit_s if state in (StepState.ACTING, StepState.PROVING) else None,
        acted=(view.acted or state is StepState.ACTING) and not untouched,
        put_off=False,
        performed=state is StepState.PROVING or (view.performed and state not in _ACTS_ANEW),
        came_back=data.get("came_back") is True,
        **changes,
    )


def _undo(view: StepView, state: StepState, at: float, evidence: tuple[str, ...]) -> UndoView:
    """Return the undo after this entry; one that is tried once more has its times anew."""
    if view.undo is None or (state is StepState.UNDOING and view.state is not state):
        return UndoView(at)
    ended = None if state is StepState.UNDOING else at
    return replace(view.undo, ended=ended, evidence=evidence or view.undo.evidence)


def _said(state: StepState, step: Step) -> str:
    """Return what a killed console leaves true of a step in this state."""
    if state is StepState.ACTING:
        return tr("Started; it only reads.") if only_reads(step) else tr(OUTCOME_UNKNOWN)
    return tr("Its undo was started; outcome unknown.") if state is StepState.UNDOING else ""


def _output(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    shown, lines = _shown(run, entry), _texts(data.get("lines"))
    if shown.state is StepState.UNDOING and shown.undo is not None:
        run.steps[entry.step_id] = replace(shown, undo=replace(shown.undo, output=lines))
    else:
        run.steps[entry.step_id] = replace(shown, output=lines)


def _value(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    del entry
    run.kept[str(data.get("name"))] = str(data.get("value"))


def _asked(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    question = decode(Question, data.get("question"))
    run.question = replace(question, since=question.since or entry.at)


def _answered(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    run.question = None
    if data.get("topic") in RESTS_AT and data.get("answer") == PUT_OFF:
        run.steps[entry.step_id] = replace(_shown(run, entry), put_off=True)


def _continued(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    """A longer plan: what was there stays as it was, and the whole is to be approved again."""
    plan = plan_in(data.get("plan"))
    before = run.plan.steps
    if plan.steps[: len(before)] != before:
        _illegal(entry, "a continued plan changed steps that had been approved")
    fresh = {step.step_id: StepView(step) for step in plan.steps[len(before) :]}
    if len({*fresh, *run.steps}) != len(plan.steps):
        _illegal(entry, "a continued plan uses the id of an earlier step")
    run.plan, run.approved = plan, None
    run.steps.update(fresh)
    run.fresh_checks = checks_in(data.get("checks"))
    run.checks = (*run.checks, *run.fresh_checks)


def _breach(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    sentence, evidence, does = (str(data.get(name, "")) for name in ("sentence", "evidence", "does"))
    known = Breach(does) if does in {kind.value for kind in Breach} else Breach.PAUSE
    run.broken.append(Broken(entry.at, str(data.get("code", "")), sentence, evidence, known))


def _note(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    if data.get("about") == "mended":
        last = next((at for at in reversed(range(len(run.broken))) if run.broken[at].code == data.get("key")), None)
        if last is not None:
            run.broken[last] = replace(run.broken[last], over=entry.at, holds=str(data.get("text", "")))
    if (seen := problems_after(data)) is not None:
        run.problems = seen
    change_obligations(run.obligations, entry)


def _lock(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    del entry
    hosts = _texts(data.get("hosts"))
    if data.get("what") == "released":
        run.locked = tuple(host for host in run.locked if host not in hosts)
    elif data.get("what") == "take":
        run.locked = hosts


def _obligation(run: _Projection, entry: Entry, data: dict[str, object]) -> None:
    del data
    change_obligations(run.obligations, entry)


_KINDS: dict[str, Callable[[_Projection, Entry, dict[str, object]], None]] = {
    "approved": _approved,
    "run": _run,
    "step": _step,
    "output": _output,
    "value": _value,
    "asked": _asked,
    "answered": _answered,
    "continued": _continued,
    "breach": _breach,
    "obligation-taken": _obligation,
    "obligation-discharged": _obligation,
    "note": _note,
    "lock": _lock,
}


def _view(run: _Projection) -> RunView:
    obligations = sorted(run.obligations.values(), key=lambda o: (o.since, o.obligation.key))
    return RunView(
        run_id=run.run_id,
        plan=run.plan,
        state=run.state,
        steps=tuple(run.steps[step.step_id] for step in run.plan.steps),
        checks=run.checks,
        overrides=run.overrides,
        sentence=run.sentence,
        started=run.started,
        ended=run.ended,
        question=run.question,
        obligations=tuple(obligations),
        kept=tuple(run.kept.items()),
        journal_at=run.at,
        owner=run.owner,
        approved=run.approved,
        locked=run.locked,
        fresh_checks=run.fresh_checks,
        broken=tuple(run.broken),
        problems=run.problems,
    )


def _shown(run: _Projection, entry: Entry) -> StepView:
    if entry.step_id not in run.steps:
        _illegal(entry, f"the plan has no step '{entry.step_id}'")
    return run.steps[entry.step_id]


def _texts(data: object) -> tuple[str, ...]:
    return tuple(str(line) for line in data) if isinstance(data, list) else ()


def _word(kind: type[_S], data: dict[str, object], entry: Entry) -> _S:
    try:
        return kind(data.get("state"))
    except ValueError:
        _illegal(entry, f"the state {data.get('state')!r} is of a newer Pilothouse")


def _illegal(entry: Entry, what: str) -> NoReturn:
    raise JournalDamaged(
        tr(
            "The journal of run {run} cannot be read at entry {seq}: {what}.",
            run=entry.run_id,
            seq=entry.seq,
            what=what,
        ),
        safe=tr("The journal is unchanged; nothing was done."),
        try_=(tr("Check the hosts by hand, and report this with the journal."),),
    )

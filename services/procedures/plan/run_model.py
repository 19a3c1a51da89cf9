"""A run: its states, the legal ways between them as data, the journal's entries, and the view others are shown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from services.facts.logs.causes import telling
from services.procedures.plan.actions import Ask
from services.procedures.plan.checks import Check, Override
from services.procedures.plan.model import Breach, Obligation, Plan, Step
from services.procedures.plan.watches import active_rules


class RunState(Enum):
    """Where a run stands."""

    NOT_STARTED = "approved"  # the word that journals keep; a plan that nobody has approved yet is in it, too
    RUNNING = "running"
    PAUSED = "paused"  # by a person or a watch rule; nothing acts
    WAITING = "waiting for you"  # an Ask step, a proof in doubt, or a continued plan to approve
    FAILED = "failed"  # a step failed; what is switched on stays on, watched and shown, until the way is chosen
    UNDOING = "undoing"
    UNDO_FAILED = "undo failed"
    DONE = "done"
    UNDONE = "undone"
    LEFT = "left as it is"  # a person closed a failed run without undo, with a reason


RUN_WAYS: dict[RunState, frozenset[RunState]] = {
    RunState.NOT_STARTED: frozenset({RunState.RUNNING, RunState.LEFT}),
    RunState.RUNNING: frozenset({RunState.PAUSED, RunState.WAITING, RunState.FAILED, RunState.DONE, RunState.UNDOING}),
    RunState.PAUSED: frozenset({RunState.RUNNING, RunState.UNDOING, RunState.LEFT, RunState.FAILED}),
    RunState.WAITING: frozenset({RunState.RUNNING, RunState.PAUSED, RunState.UNDOING, RunState.FAILED, RunState.LEFT}),
    RunState.FAILED: frozenset({RunState.RUNNING, RunState.UNDOING, RunState.LEFT}),
    RunState.UNDOING: frozenset({RunState.UNDONE, RunState.UNDO_FAILED}),
    RunState.UNDO_FAILED: frozenset({RunState.UNDOING, RunState.LEFT}),
    RunState.DONE: frozenset(),
    RunState.UNDONE: frozenset(),
    RunState.LEFT: frozenset(),
}


class StepState(Enum):
    """Where a step stands."""

    PENDING = "pending"
    CHECKING = "checking"  # its preconditions are read
    ACTING = "acting"  # journalled before the act: from here on it may have happened
    PROVING = "proving"
    DONE = "done"
    ALREADY = "already so"
    FAILED = "failed"
    IN_DOUBT = "in doubt"  # it may have happened (a crash), or did (StepView.performed), and the proof does not say
    CANCELLED = "cancelled"
    UNDOING = "undoing"
    UNDONE = "undone"
    UNDO_FAILED = "undo failed"


PUT_OFF = "later"
"""The answer that puts a failed step off."""
BY_WORD = "done"
"""The answer of a person who says that what is not known is so."""
UNKNOWN = "unknown"
"""The topic of the question of a step whose act came back, and whose proof is not known."""
RESTS_AT = frozenset({"failed", UNKNOWN})
"""Topics of a step that did not come to its proof: each has the ways out among its answers."""

STEP_WAYS: dict[StepState, frozenset[StepState]] = {
    StepState.PENDING: frozenset({StepState.CHECKING}),
    StepState.CHECKING: frozenset({StepState.PENDING, StepState.ALREADY, StepState.ACTING, StepState.FAILED}),
    StepState.ACTING: frozenset(
        {StepState.PROVING, StepState.FAILED, StepState.IN_DOUBT, StepState.CANCELLED, StepState.DONE}
    ),
    StepState.PROVING: frozenset(
        {StepState.DONE, StepState.FAILED, StepState.IN_DOUBT, StepState.CANCELLED, StepState.ACTING}
    ),
    StepState.DONE: frozenset({StepState.UNDOING}),
    StepState.ALREADY: frozenset(),
    StepState.FAILED: frozenset({StepState.CHECKING, StepState.UNDOING, StepState.DONE}),
    StepState.IN_DOUBT: frozenset(
        {
            StepState.DONE,
            StepState.ACTING,
            StepState.PROVING,
            StepState.CHECKING,
            StepState.UNDOING,
            StepState.FAILED,
        }
    ),
    StepState.CANCELLED: frozenset({StepState.CHECKING, StepState.UNDOING}),
    StepState.UNDOING: frozenset({StepState.UNDONE, StepState.UNDO_FAILED}),
    StepState.UNDO_FAILED: frozenset({StepState.UNDOING}),
    StepState.UNDONE: frozenset({StepState.UNDOING}),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal, written and synced before what it announces.

    Attributes:
        seq: 1, 2, 3 ... within the run, without holes.
        kind: 'planned' (with the whole plan, inputs, checks, overrides), 'run' (state), 'step' (state), 'value',
            'output', 'obligation-taken', 'obligation-discharged', 'asked', 'answered', 'continued' (a longer plan),
            'approved', 'breach', 'lock', 'note'.
        step_id: '' for the run itself.
        data: JSON-able, no secrets.
    """

    run_id: str
    seq: int
    at: float
    kind: str
    step_id: str = ""
    data: dict[str, object] | None = None


class Journal(Protocol):
    """The write-ahead journal. `append` returns after the entry is on the disk; raises StoreError."""

    def new_run(self, procedure: str, cluster_id: str, title: str) -> str:
        """Reserve and return a run's id (short, unique in this store: '47')."""

    def append(self, run_id: str, kind: str, step_id: str = "", data: dict[str, object] | None = None) -> Entry:
        """Write one entry."""

    def entries(self, run_id: str) -> tuple[Entry, ...]:
        """Return a run's entries in order; BadInput for an unknown run."""

    def runs(self) -> tuple[str, ...]:
        """Return all run ids, newest first."""


class Binding(Enum):
    """Whether a run's journal is what this workstation wrote and a person here approved (decision 0028)."""

    BOUND = "bound"
    OLD = "approved before digests existed"
    ELSEWHERE = "approved elsewhere"  # the newest line is not sealed by this workstation's key
    CHANGED = "changed"  # a line that this workstation sealed is not what it sealed any more
    CUT = "cut off"  # its last lines are missing
    NO_END = "end not kept"  # nobody knows whether lines are missing at its end


ASKS_AGAIN = frozenset({Binding.OLD, Binding.ELSEWHERE, Binding.NO_END})
"""Nothing of such a run is done before a person has been shown its plan and has approved it again."""
REFUSED = frozenset({Binding.CHANGED, Binding.CUT})
"""Nothing of such a run is done any more."""


MOVES = frozenset({StepState.CHECKING, StepState.ACTING, StepState.PROVING, StepState.UNDOING})
TAKEN_BACK = frozenset({StepState.UNDOING, StepState.UNDONE, StepState.UNDO_FAILED})
"""States in which a step is told by its undo: what is done then, and since when, is the undo's."""


@dataclass(frozen=True, slots=True)
class UndoView:
    """How a step is being taken back, or was: when, what showed it, the last lines that its act left, masked."""

    started: float
    ended: float | None = None
    evidence: tuple[str, ...] = ()
    output: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepView:
    """One step as shown.

    Attributes:
        started, ended: of the step itself; `span` is what to show.
        said: what is true now, e.g. 'Joiner, receiving IST from n1'; waits_for, until: while it waits.
        done_of, total, unit, left_s: progress; evidence: raw lines; output: last lines of the act, masked.
        error: why it (or its undo) failed; failed: why the step itself ended otherwise than well, kept while and after
            it is taken back.
        undo: its undo, None while nobody has begun it. acted: its act may have happened: it was announced once, and
            not refused before it changed anything.
        put_off: it failed, and a person let the steps that don't need it go first; it is tried again (Step.later).
        performed: its act came back well in its latest try: only its proof is open, the act is not done again for it.
        came_back: it failed, and how its act ended was told: the next try begins it anew.
    """

    step: Step
    state: StepState = StepState.PENDING
    started: float | None = None
    ended: float | None = None
    said: str = ""
    waits_for: str = ""
    until: float | None = None
    done_of: float | None = None
    total: float | None = None
    unit: str = ""
    left_s: float | None = None
    evidence: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    error: str = ""
    failed: str = ""
    undo: UndoView | None = None
    acted: bool = False
    put_off: bool = False
    performed: bool = False
    came_back: bool = False

    @property
    def title(self) -> str:
        """Return what it does now or has done last: the plan's words, the past once it is done, the undo's."""
        if self.state in TAKEN_BACK and self.step.undo is not None:
            return self.step.undo.title
        return self.step.done if self.state is StepState.DONE and self.step.done else self.step.title

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Return when that began and ended (UTC epoch seconds); None: not yet."""
        if self.state in TAKEN_BACK and self.undo is not None:
            return self.undo.started, self.undo.ended
        return self.started, self.ended

    @property
    def raw(self) -> tuple[str, ...]:
        """Return what the act (or the undo) printed and what showed it, each line once."""
        of = self.undo if self.state in TAKEN_BACK and self.undo is not None else self
        return tuple(dict.fromkeys((*of.output, *of.evidence)))

    @property
    def broken(self) -> tuple[str, ...]:
        """Return of a step that failed, or whose undo did, the first errors and the last lines; else nothing."""
        return telling(self.raw) if self.state in {StepState.FAILED, StepState.UNDO_FAILED} else ()


@dataclass(frozen=True, slots=True)
class OpenObligation:
    """An obligation that is on: since when, of which run, taken by which step.

    Attributes:
        seen: when a proof or a later look last showed it on, None: never (it was only announced).
        seen_off: when a later look showed it off; its release was not proven by the run yet.
    """

    run_id: str
    obligation: Obligation
    since: float
    release_failed: str = ""
    seen: float | None = None
    taken_by: str = ""
    seen_off: float | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """A watch rule that broke: when (UTC epoch seconds), its code, what is true, what was read, what the run does.

    Attributes:
        over: when it was seen to hold again, None: not yet; holds: what was read then.
    """

    at: float
    code: str
    sentence: str
    evidence: str
    does: Breach
    over: float | None = None
    holds: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What the run waits for a person to say.

    Attributes:
        ask: the question with its kind; step_id: '' when the run itself asks (a doubt, a continued plan).
        topic: 'step', 'doubt' (answers: 'done', 'again', 'stop'), 'continued' ('approve', 'stop'),
            'breach' ('go on', 'undo', 'stop'), 'failed' ('again', 'later', 'undo', 'leave'), 'unknown' (the same and
            'done').
    """

    ask: Ask
    step_id: str = ""
    topic: str = "step"
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as the window, the command line and the report are shown it: folded from journal and live progress.

    Attributes:
        approved: when the plan as it stands was approved; None: not yet (again None when it was continued).
        locked: hosts where the run's lock may lie: from before it is taken until it is given back there.
        elsewhere: another program of this workstation drives it now (a terminal, another window): steered there only.
        driver_unknown: whether anybody drives it can't be told from here (a journal that several workstations share).
        fresh_checks: the checks of the newest plan of the run alone: what its approval rests on.
        broken: the watch rules that broke, in their order.
        problems: codes of what was wrong with the cluster in the picture that the run took when it came to rest; ()
            again once a step goes on.
        binding: whether the journal binds what would run to what was approved; told of runs that rest with something
            open, of others it is BOUND. code: by which a person approves it again, where it asks for that.
    """

    run_id: str
    plan: Plan
    state: RunState
    steps: tuple[StepView, ...]
    checks: tuple[Check, ...] = ()
    overrides: tuple[Override, ...] = ()
    sentence: str = ""  # what is true and what is safe now
    started: float | None = None
    ended: float | None = None
    question: Question | None = None
    obligations: tuple[OpenObligation, ...] = ()
    armed: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    journal_at: float | None = None
    owner: str = ""
    live: bool = False  # an engine of this process drives it now
    approved: float | None = None
    locked: tuple[str, ...] = ()
    elsewhere: bool = False
    driver_unknown: bool = False
    fresh_checks: tuple[Check, ...] = ()
    broken: tuple[Broken, ...] = ()
    problems: tuple[str, ...] = ()
    binding: Binding = Binding.BOUND
    code: str = ""

    @property
    def no_return(self) -> str:
        """Return the title of the step that is its point of no return, where it may have changed anything; '' before.

        A step whose act was refused on a file or server that it had not touched yet has passed no point.
        """
        return next((one.step.title for one in reversed(self.steps) if one.step.no_return and one.acted), "")

    @property
    def standing(self) -> tuple[Broken, ...]:
        """Return the watch rules that are broken now, at the step that is at work or asks; accepted ones too."""
        asked = self.question.step_id if self.question is not None else ""
        at = asked or next((one.step.step_id for one in self.steps if one.state in MOVES), "")
        on = {rule.code for rule in active_rules(self.plan, at)} if at else set()
        newest = {one.code: one for one in self.broken}
        return tuple(one for one in newest.values() if one.over is None and one.code in on)

    @property
    def breaches(self) -> tuple[str, ...]:
        """Return what broke, each as a sentence with what was read."""
        return tuple(f"{one.sentence}{f' ({one.evidence})' if one.evidence else ''}" for one in self.broken)

    @property
    def interrupted(self) -> tuple[tuple[float, str], ...]:
        """Return since when (UTC epoch seconds) clients can't do what: an outage of the run that goes on."""
        over = {one.step.resumes for one in self.steps if one.state in {StepState.DONE, StepState.ALREADY}}
        return tuple(
            (one.started, one.step.interrupts)
            for one in self.steps
            if one.step.interrupts and one.acted and one.state is not StepState.UNDONE and one.started is not None
            if one.step.step_id not in over
        )


class Person(Protocol):
    """Who answers. The engine polls: a question may stand for hours while watch rules go on."""

    def answer(self, run_id: str, question: Question) -> str | None:
        """Return the answer, None while there is none yet. Never blocks."""


class Listener(Protocol):
    """Who is shown the run. Called on the engine's thread; must only queue."""

    def run_changed(self, view: RunView) -> None:
        """Take the newest view."""

"""Runs on the scripted cluster: an engine with scripted ports, killed at the n-th journal entry when asked to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from services.clock import ManualClock
from services.connections.ports import ObserverSession, OperatorSession
from services.procedures.catalogue import procedure_named
from services.procedures.engine.engine import Engine
from services.procedures.engine.parts import NeedsPerson, Parts, Policy
from services.procedures.journal.entries import approved, planned
from services.procedures.journal.journal import MemoryJournal
from services.procedures.plan.checks import Check, Override, Verdict
from services.procedures.plan.condition import Condition
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import Entry, Question, RunState, RunView
from tests.faults.scripted.acting import ScriptedActor
from tests.faults.scripted.cluster import Cluster, copied
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.proving import ScriptedProver


class Killed(BaseException):
    """The console's process ends here: nothing of it runs any more, not even a handler."""


class WaitingClock(ManualClock):
    """A clock that hurries through a long wait: the more often it was slept on since an entry, the longer each time."""

    def __init__(self) -> None:
        super().__init__()
        self._naps = 0

    def happened(self) -> None:
        """Something was journalled: time goes in small steps again."""
        self._naps = 0

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        """Advance by the seconds, or by more in a wait that lasts."""
        self._naps += 1
        return super().sleep(seconds * max(1, min(3_600, self._naps // 40)), stop)


@dataclass(frozen=True, slots=True)
class Moment:
    """What a kill leaves: the journal and the hosts as they were just before or after an entry, or inside an act."""

    name: str
    entries: tuple[Entry, ...]
    cluster: Cluster


class DyingJournal(MemoryJournal):
    """A journal whose process is killed at an entry, and that tells who listens of each entry."""

    def __init__(self, clock: WaitingClock) -> None:
        super().__init__(clock)
        self._waiting = clock
        self.dies_at = 0
        self.before = False
        self.told: Callable[[str, str], None] | None = None

    def filled(self, run_id: str, entries: tuple[Entry, ...]) -> DyingJournal:
        """Take these entries for a run's."""
        self._runs[run_id] = list(entries)
        return self

    def append(self, run_id: str, kind: str, step_id: str = "", data: dict[str, object] | None = None) -> Entry:
        """Append, or die."""
        number = len(self.entries(run_id)) + 1 if kind != "planned" else 1
        what = f"entry {number} ({kind} {step_id} {(data or {}).get('state', '')})"
        if self.dies_at == number and self.before:
            raise Killed
        if self.told is not None:
            self.told("before", what)
        entry = super().append(run_id, kind, step_id, data)
        if self.dies_at == number:
            raise Killed
        self._waiting.happened()
        if self.told is not None:
            self.told("after", what)
        return entry


class ScriptedHosts:
    """Arms and disarms; the scripted actor and prover need no sessions."""

    def __init__(self) -> None:
        self._armed: tuple[str, ...] = ()

    def observer(self, host: str) -> ObserverSession:
        """Not used."""
        raise NotImplementedError(host)

    def rights_reader(self, host: str) -> ObserverSession:
        """Not used."""
        raise NotImplementedError(host)

    def operator(self, host: str) -> OperatorSession:
        """Not used."""
        raise NotImplementedError(host)

    def arm(self, run_id: str, hosts: tuple[str, ...]) -> None:
        """Arm."""
        del run_id
        self._armed = hosts

    def disarm(self) -> None:
        """Disarm."""
        self._armed = ()

    @property
    def armed(self) -> tuple[str, ...]:
        """Return what is armed."""
        return self._armed

    def close(self) -> None:
        """Disarm."""
        self._armed = ()


@dataclass(slots=True)
class Somebody:
    """A person who answers from a list by topic, else not at all."""

    answers: dict[str, str] = field(default_factory=dict)
    asked: list[Question] = field(default_factory=list)
    does: Callable[[Question], str | None] | None = None

    def answer(self, run_id: str, question: Question) -> str | None:
        """Return the answer for the question's topic."""
        del run_id
        if question not in self.asked:
            self.asked.append(question)
        done = self.does(question) if self.does is not None and question.topic == "step" else None
        given = done or self.answers.get(question.topic)
        if given is None and self.does is not None:
            raise NeedsPerson(question.ask.question)  # they go home
        return given


@dataclass(slots=True)
class Bench:
    """A scripted cluster, a journal, a person and a procedure with its inputs."""

    cluster: Cluster
    name: str
    inputs: Inputs
    confirmed: frozenset[str] = frozenset()
    overrides: tuple[Override, ...] = ()
    person: Somebody = field(default_factory=Somebody)
    clock: WaitingClock = field(default_factory=WaitingClock)
    on_failure: Literal["ask", "undo"] = "undo"
    journal: DyingJournal = field(init=False)
    actor: ScriptedActor = field(init=False)
    hosts: ScriptedHosts = field(default_factory=ScriptedHosts)
    run_id: str = ""
    does: Callable[[Cluster, Question], str | None] | None = None  # what a person does when a step asks for it
    unreadable: list[Condition] = field(default_factory=list)  # what can't be told now

    def __post_init__(self) -> None:
        self.journal = DyingJournal(self.clock)
        self.actor = ScriptedActor(self.cluster)
        if (does := self.does) is not None:
            self.person.does = lambda question: does(self.cluster, question)

    def plan(self) -> tuple[tuple[Check, ...], Plan]:
        """Return the checks and the plan for the cluster as it is now."""
        procedure, facts = procedure_named(self.name), facts_of(self.cluster)
        inputs = filled(procedure.fields(facts, self.inputs), self.inputs)
        assert procedure.faults(facts, inputs) == ()
        return procedure.preflight(facts, inputs), procedure.plan(facts, inputs)

    def begin(self) -> str:
        """Plan, journal and approve a run; return its id."""
        checks, plan = self.plan()
        blocks = [c for c in checks if c.verdict is Verdict.BLOCK and c.code not in {o.code for o in self.overrides}]
        assert blocks == []
        if self.name != "bootstrap-after-crash":
            self.cluster.quorum = tuple(h.name for h in self.cluster.primaries())
        self.run_id = self.journal.new_run(plan.procedure, plan.cluster_id, plan.title)
        self.journal.append(self.run_id, *planned(plan, self.inputs, checks, self.overrides, "somebody@scripted"))
        self.journal.append(self.run_id, *approved("somebody"))
        return self.run_id

    def engine(self) -> Engine:
        """Return an engine as a console that was just started has it."""
        policy = Policy(self.on_failure, self.does is None, self.confirmed, by="somebody")
        parts = Parts(
            self.journal, self.hosts, self.actor, ScriptedProver(self.cluster, self.unreadable), self.clock,
            self.person, continuing=self._continuing, policy=policy,
        )  # fmt: skip
        return Engine(parts, self.run_id)

    def _continuing(self, view: RunView) -> tuple[tuple[Check, ...], Plan]:
        facts = facts_of(self.cluster, view.kept)
        return procedure_named(self.name).continued(facts, dict(view.plan.inputs), view.plan)

    def run(self) -> RunState:
        """Go on with the run to where it rests."""
        return self.engine().run()

    def run_killed_at(self, number: int, *, before: bool) -> bool:
        """Run until the kill; return whether it came (False: the run ended sooner)."""
        self.journal.dies_at, self.journal.before = number, before
        try:
            self.run()
        except Killed:
            return True
        finally:
            self.journal.dies_at = 0
        return False

    # -- what a kill leaves --------------------------------------------------------------------------------------------

    def moments(self, work: Callable[[], object]) -> tuple[Moment, ...]:
        """Do the work; return every moment at which a kill would leave something else than at the one before."""
        found: list[Moment] = []

        def told(when: str, what: str) -> None:
            now = Moment(f"{when} {what}", self.journal.entries(self.run_id), self.cluster)
            if found and found[-1].entries == now.entries and found[-1].cluster == now.cluster:
                return
            found.append(Moment(now.name, now.entries, copied(self.cluster)))

        self.journal.told = told
        self.actor.told = told
        try:
            work()
        finally:
            self.journal.told = self.actor.told = None
        return tuple(found)

    def after_kill(self, moment: Moment) -> Bench:
        """Return a bench as the next console finds it."""
        bench = Bench(
            copied(moment.cluster),
            self.name,
            self.inputs,
            self.confirmed,
            self.overrides,
            run_id=self.run_id,
            does=self.does,
        )
        bench.clock.advance(60.0)
        bench.journal.filled(self.run_id, moment.entries)
        return bench

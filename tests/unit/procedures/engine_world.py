"""A tiny world for the engine's own tests: hosts are names with settings; acts set them, conditions read them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.ports import ObserverSession, OperatorSession
from services.connections.sql.statement import Value, Variable, set_global
from services.discovery.model import ClusterSnapshot
from services.errors import StoreError, Unreachable, UserError
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.engine.control import Control
from services.procedures.engine.engine import Engine
from services.procedures.engine.parts import Continuing, Parts, Policy
from services.procedures.engine.ports import Acted, Prover
from services.procedures.journal.entries import approved, planned
from services.procedures.journal.journal import MemoryJournal
from services.procedures.journal.seals import KEY_BYTES
from services.procedures.plan.actions import Action, Ask, Checkpoint, Detached, Run, Sql, WaitFor
from services.procedures.plan.checks import Check, Override
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.model import Obligation, Plan, Risk, Step, Undo, WatchRule
from services.procedures.plan.remembering import Memory
from services.procedures.plan.run_model import Entry, Question, RunState, RunView


class FixedKey:
    """A workstation's key for the seals of its journal; another letter is another workstation's."""

    def __init__(self, letter: bytes = b"a") -> None:
        self._key = letter * KEY_BYTES

    def key(self) -> bytes:
        """See seal_key.SealKey."""
        return self._key


class Killed(BaseException):
    """The console's process ends here."""


@dataclass(slots=True)
class World:
    """Settings of hosts, what was done to them in order, and what goes wrong."""

    settings: dict[tuple[str, str], str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    fails: dict[str, list[UserError]] = field(default_factory=dict)
    after: dict[str, Callable[[], None]] = field(default_factory=dict)
    deaf: Counter[str] = field(default_factory=Counter)
    detached: set[str] = field(default_factory=set)
    limits: dict[str, float] = field(default_factory=dict)  # act -> how long it was given
    at_work: set[tuple[str, str]] = field(default_factory=set)  # detached works that still run: host, name

    def value(self, host: str, name: str) -> str:
        """Return a setting, OFF when nobody touched it."""
        return self.settings.get((host, name), "OFF")


class WorldActor:
    """Sets what a statement sets; `World.fails` lists errors by step id, raised before (or, named 'late', after)."""

    def __init__(self, world: World) -> None:
        self._world = world

    def perform(
        self,
        step_id: str,
        host: str,
        action: Action,
        kept: Mapping[str, str],
        *,
        limit_s: float,
        stop: threading.Event | None = None,
        said: Callable[[str], None] | None = None,
        ready: Callable[[], None] | None = None,
    ) -> Acted:
        """See ports.Actor."""
        world = self._world
        world.limits[step_id] = limit_s
        self._trouble(step_id)
        name, value = setting(action)
        if isinstance(action, Detached):
            if action.name in world.detached:
                return Acted(("attached again",))
            if ready is not None:
                ready()
            world.detached.add(action.name)
        world.done.append(f"{host}: {name}={value}")
        world.settings[host, name] = value
        if step_id in world.after:
            world.after[step_id]()
        self._trouble(f"late {step_id}")
        keep = getattr(action, "keep", "")
        return Acted((f"{name} is {value}",), ((keep, value),) if keep else ())

    def discard(self, host: str, name: str) -> None:
        """See ports.Actor."""
        del host
        self._world.detached.discard(name)

    def end(self, host: str, name: str) -> bool:
        """See ports.Actor."""
        self._trouble(f"end {name}")
        ran = (host, name) in self._world.at_work
        self._world.at_work.discard((host, name))
        if ran:
            self._world.done.append(f"{host}: end {name}")
        return ran

    def _trouble(self, key: str) -> None:
        waiting = self._world.fails.get(key)
        if waiting:
            raise waiting.pop(0)


class WorldProver:
    """Reads settings; `World.deaf` counts the looks at a host that still find no answer."""

    def __init__(self, world: World) -> None:
        self._world = world

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """See ports.Prover."""
        del past, memory
        assert isinstance(condition, VariableIs)
        if self._world.deaf[condition.host] > 0:
            self._world.deaf[condition.host] -= 1
            return Answer(None, f"{condition.host} does not answer")
        now = self._world.value(condition.host, condition.variable)
        return Answer(now == condition.value, f"{condition.variable} of {condition.host} is {now}")


class WorldHosts:
    """Remembers what is armed."""

    def __init__(self) -> None:
        self.armed: tuple[str, ...] = ()

    def observer(self, host: str) -> ObserverSession:
        """Not used: WorldProver reads."""
        raise NotImplementedError

    def rights_reader(self, host: str) -> ObserverSession:
        """Not used: no rights are read."""
        raise NotImplementedError

    def operator(self, host: str) -> OperatorSession:
        """Not used: WorldActor acts."""
        raise NotImplementedError

    def arm(self, run_id: str, hosts: tuple[str, ...]) -> None:
        """Arm."""
        self.armed = hosts

    def disarm(self) -> None:
        """Disarm."""
        self.armed = ()

    def close(self) -> None:
        """Disarm."""
        self.armed = ()


class WorldLock:
    """A lock that another console may take."""

    def __init__(self) -> None:
        self.held = False
        self.lost: tuple[str, ...] = ()

    def take(self, plan: Plan, *, take_over: bool = False) -> object:
        """Take it."""
        self.held = True
        return None

    def check(self) -> tuple[str, ...]:
        """Return where it was lost."""
        return self.lost

    def release(self) -> tuple[str, ...]:
        """Give it back."""
        self.held = False
        return ()


class FragileJournal(MemoryJournal):
    """Kills the process before or after its n-th entry, or has no room from there on."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.written = 0
        self.kill_at = 0
        self.kill_before = False
        self.full_at = 0

    def append(self, run_id: str, kind: str, step_id: str = "", data: dict[str, object] | None = None) -> Entry:
        """Append, die or fail."""
        self.written += 1
        if self.full_at and self.written >= self.full_at:
            raise StoreError("The disk is full.")
        if self.kill_at == self.written and self.kill_before:
            raise Killed
        entry = super().append(run_id, kind, step_id, data)
        if self.kill_at == self.written:
            raise Killed
        return entry


@dataclass(slots=True)
class Scripted:
    """A person who gives the listed answers by topic, each once; the last one of a topic again and again."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    on_ask: Callable[[Question], None] | None = None

    def answer(self, run_id: str, question: Question) -> str | None:
        """Return the next answer for the question's topic."""
        self.asked.append(question.topic)
        assert len(self.asked) < 20_000, f"nobody answers: {question}"
        if self.on_ask is not None:
            self.on_ask(question)
        ready = self.answers.get(question.topic, [])
        if len(ready) > 1:
            return ready.pop(0)
        return ready[0] if ready else None


class Bench:
    """One run in a world, whose console can be killed and started again."""

    def __init__(
        self,
        plan: Plan,
        *,
        checks: tuple[Check, ...] = (),
        overrides: tuple[Override, ...] = (),
        policy: Policy | None = None,
        continuing: Continuing | None = None,
        clock: ManualClock | None = None,
        prover: Prover | None = None,
    ) -> None:
        self.world = World()
        self.prover = prover or WorldProver(self.world)
        self.clock = clock or ManualClock()
        self.journal = FragileJournal(self.clock)
        self.person = Scripted()
        self.lock = WorldLock()
        self.hosts = WorldHosts()
        self.views: list[RunView] = []
        self.policy = policy or Policy("undo", unattended=True, by="ann")
        self.continuing = continuing
        self.snapshot: Callable[[], ClusterSnapshot | None] | None = None
        self.control = Control()
        self.run_id = self.journal.new_run(plan.procedure, plan.cluster_id, plan.title)
        self.journal.append(self.run_id, *planned(plan, {}, checks, overrides, "ann@desk"))
        self.journal.append(self.run_id, *approved("ann"))
        self.journal.written = 0

    def run_changed(self, view: RunView) -> None:
        """Collect what is shown."""
        self.views.append(view)

    def engine(self) -> Engine:
        """Return an engine as a console that was just started makes it."""
        self.control = Control()
        parts = Parts(
            self.journal,
            self.hosts,
            WorldActor(self.world),
            self.prover,
            self.clock,
            self.person,
            lock=self.lock,
            listener=self,
            continuing=self.continuing,
            snapshot=self.snapshot,
            policy=self.policy,
        )
        return Engine(parts, self.run_id, self.control)

    def run(self) -> RunState:
        """Begin, or go on."""
        return self.engine().run()

    @property
    def view(self) -> RunView:
        """Return the run as it was shown last."""
        return self.views[-1]

    def states(self) -> dict[str, str]:
        """Return step id -> state."""
        return {s.step.step_id: s.state.value for s in self.engine().view.steps}

    def lines(self, kind: str) -> list[dict[str, object]]:
        """Return the data of all entries of a kind."""
        return [e.data or {} for e in self.journal.entries(self.run_id) if e.kind == kind]


# -- plans of this world -----------------------------------------------------------------------------------------------


def is_(host: str, name: str, value: str = "ON") -> VariableIs:
    """Return the condition that a setting has a value."""
    return VariableIs(host, name, value)


def put(name: str, value: str = "ON") -> Sql:
    """Return the act that sets a setting."""
    return Sql(set_global(name, value))


def setting(action: Action) -> tuple[str, str]:
    """Return the name and value that an act of this world sets."""
    if isinstance(action, Sql):
        texts = [str(bit.value if isinstance(bit, Value) else bit.text) for bit in action.statement.bits
                 if isinstance(bit, Variable | Value)]  # fmt: skip
        return texts[0], texts[1]
    assert isinstance(action, Run | Detached)
    _, name, value = action.command.argv
    return name, value


def switch(host: str, name: str, *, repeatable: bool = False, **more: object) -> Step:
    """Return a step that switches a setting on, with proof and undo."""
    step = Step(
        f"{name}-{host}",
        host,
        f"Switch {name} of {host} on",
        put(name),
        proof=(is_(host, name),),
        undo=Undo(f"Switch {name} of {host} off", put(name, "OFF"), (is_(host, name, "OFF"),)),
        repeatable=repeatable,
    )
    return replace(step, **more)  # type: ignore[arg-type]


def borrow(host: str, name: str) -> Step:
    """Return a step that switches something on that must go off again."""
    duty = Obligation(f"{name}:{host}", host, f"{name} is on, on {host}", put(name, "OFF"), (is_(host, name, "OFF"),))
    return switch(host, name, takes=duty)


def give_back(host: str, name: str) -> Step:
    """Return the step that switches it off."""
    return Step(
        f"end-{name}-{host}",
        host,
        f"Switch {name} of {host} off",
        put(name, "OFF"),
        why="It ends what the plan began.",
        proof=(is_(host, name, "OFF"),),
        repeatable=True,
        discharges=(f"{name}:{host}",),
    )


def work(host: str, name: str) -> Step:
    """Return a long step that outlives the console."""
    return Step(
        f"work-{host}",
        host,
        f"Copy {name} to {host}",
        Detached(Command(("set", name, "ON")), f"copy-{host}"),
        why="What was copied does no harm.",
        proof=(is_(host, name),),
        limit_s=600.0,
    )


def ask(name: str = "go", **more: str) -> Step:
    """Return a question that --yes answers."""
    return Step(f"ask-{name}", "", "Say that it is done", Ask("Is it done?", unattended="yes", **more), risk=Risk.YOU)  # type: ignore[arg-type]


def wait(host: str, name: str, value: str = "ON", limit_s: float = 30.0) -> Step:
    """Return a step that only waits."""
    wanted = WaitFor((is_(host, name, value),), f"{name} of {host}")
    return Step(f"wait-{name}-{host}", "", f"Wait for {name} of {host}", wanted, risk=Risk.READS, limit_s=limit_s)


def rest() -> Step:
    """Return a checkpoint."""
    return Step("rest", "", "Rest", Checkpoint("Nothing is half done."), risk=Risk.READS)


def plan_of(*steps: Step, watches: tuple[WatchRule, ...] = ()) -> Plan:
    """Return a plan for three hosts."""
    hosts = ("n1", "n2", "n3")
    return Plan(
        "trial", "Try it", "A trial.", "uuid", "c1", hosts, (hosts,), (), steps, watches, expects=("It is so.",)
    )


def lost(host: str) -> Unreachable:
    """Return the error of a way that broke."""
    return Unreachable("The connection broke.", host=host)

"""What an engine is given, and the ways in which a step can end other than well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from services.clock import Clock
from services.discovery.model import ClusterSnapshot
from services.errors import UserError
from services.facts.server.holding_up import Holder
from services.procedures.engine.ports import ActFailed, Actor, Hosts, Prover
from services.procedures.plan.actions import Action, AtPrimary, Several
from services.procedures.plan.checks import Check
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import Journal, Listener, Person, RunView, StepState

STOP_WORDS = frozenset({"stop", "no"})
ONLY_READ = "It only reads: nothing was changed."
Continuing = Callable[[RunView], tuple[tuple[Check, ...], Plan]]
"""Gathers anew (with the run's values) and plans on: the checks of the rest, and the whole longer plan."""


class Lock(Protocol):
    """The cluster's lock of one run (lock.ClusterLock)."""

    def take(self, plan: Plan, *, take_over: bool = False) -> object:
        """Take it on the plan's hosts, or raise LockHeld or LockNotTaken."""

    def check(self) -> tuple[str, ...]:
        """Return hosts where it is another's now."""

    def release(self) -> tuple[str, ...]:
        """Give it back; return hosts where that failed."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How much the engine may decide.

    Attributes:
        on_failure: 'ask' the person, or 'undo' at once (see `undoes_alone`).
        unattended: answer what a plan allows to be answered without a person.
        confirmed: hosts whose irreversible steps are confirmed already.
        take_over: replace another console's lock.
        by: who approves and answers, for the journal.
        approved: the code of a run's words that a person has been shown here and approves again (service.drive).
        put_off: the step at which the run rests, where a person has put it off: it is not tried once more first.
    """

    on_failure: Literal["ask", "undo"] = "ask"
    unattended: bool = False
    confirmed: frozenset[str] = frozenset()
    take_over: bool = False
    by: str = ""
    approved: str = ""
    put_off: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """The ports of one run."""

    journal: Journal
    hosts: Hosts
    actor: Actor
    prover: Prover
    clock: Clock
    person: Person
    lock: Lock | None = None
    listener: Listener | None = None
    continuing: Continuing | None = None
    snapshot: Callable[[], ClusterSnapshot | None] | None = None
    cleanup: Callable[[Plan, frozenset[str]], tuple[str, ...]] | None = None
    holders: Callable[[str], tuple[Holder, ...]] | None = None
    policy: Policy = field(default_factory=Policy)


def undoes_alone(policy: Policy, view: RunView) -> bool:
    """Return whether a failure is taken back without a person: never what has the cluster serve again,
    nor what has no way back any more."""
    serving = any(step.step.serves and step.state is StepState.DONE for step in view.steps)
    return policy.on_failure == "undo" and not serving and not view.no_return


class StepFailed(Exception):  # noqa: N818 - it says what happened
    """The step did not come to its proof; the sentence says what is true now, `lines` what was read of it.

    Attributes:
        not_known: nothing says that it failed: what should show it, or what must hold before it, could not be read.
        untouched: the act was refused before it changed anything: the step counts as never begun.
        ended: a server that has ended is why.
        rests: what stands against it is not shown to be wrong: it alone takes nothing dear back.
        came_back: the host told how its act ended: detached work of that name is not the next try's.
    """

    def __init__(
        self,
        sentence: str,
        lines: tuple[str, ...] = (),
        *,
        not_known: bool = False,
        untouched: bool = False,
        ended: bool = False,
        rests: bool = False,
        came_back: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.lines = lines
        self.not_known = not_known
        self.untouched = untouched
        self.ended = ended
        self.rests = rests or not_known
        self.came_back = came_back


class StepCancelled(Exception):  # noqa: N818
    """A person broke the step off."""


class NeedsPerson(Exception):  # noqa: N818
    """Only a person can say how to go on, and none is there: the run waits."""


class Suspended(Exception):  # noqa: N818
    """The console closes: everything stays as it is, the journal knows."""


class WayOut(Exception):  # noqa: N818
    """A person chose another way: 'undo' or 'leave'."""

    def __init__(self, way: Literal["undo", "leave"]) -> None:
        super().__init__(way)
        self.way = way


def failure(action: Action, problem: UserError, *, reads: bool = False) -> str:
    """Return what to tell of an act that failed: of several parts the first ones may have been done before it.

    Args:
        reads: the act only reads, whatever became of it nothing was changed by it.
    """
    words = sentence(str(problem))
    if reads and isinstance(problem, ActFailed):
        return f"{words} {ONLY_READ}"
    if isinstance(action, Several | AtPrimary) and problem.nothing_changed:
        return f"{words} Earlier parts of it may be done."
    return f"{words} {problem.safe}".strip()


def sentence(text: str) -> str:
    """Return text that ends as a sentence does, so that another may follow it."""
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def printed(problem: UserError) -> tuple[str, ...]:
    """Return what the act had printed when it failed, masked."""
    return problem.output if isinstance(problem, ActFailed) else ()

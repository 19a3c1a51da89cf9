"""One fault in one step of one procedure: the run, how it rests, and how it is taken back. Feeds the page of faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from services.procedures.journal.projection import ENDED
from services.procedures.plan.actions import Ask, Checkpoint, Continue
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import RunState, RunView
from tests.faults.cases import CASES, Case
from tests.faults.scripted.breaking import FAULTS, Broken, Fault, break_at
from tests.faults.scripted.cluster import Cluster, Host, copied
from tests.faults.scripted.running import Bench, Moment

_TITLES = {
    "desync", "freeze", "rolling option", "add", "encrypt", "tune", "backups", "rejoin from binlogs", "snapshot",
    "bootstrap", "protocol upgrade", "rolling upgrade", "config servers", "config servers, in a window",
}  # fmt: skip
BROKEN_CASES = tuple(case for case in CASES if case.title in _TITLES)
"""One case a procedure."""


@dataclass(slots=True)
class Outcome:
    """What came of it: the bench as the run rests, with the fault still there."""

    case: Case
    fault: Fault
    step: Step
    bench: Bench
    broken: Broken
    state: RunState
    view: RunView

    @property
    def where(self) -> str:
        """Return a line for a test's message."""
        return f"{self.case.title}, {self.fault.name} at {self.step.step_id}: {self.state.value}: {self.view.sentence}"


@dataclass(frozen=True, slots=True)
class Chance:
    """A step of a procedure in which a fault can come."""

    fault: Fault
    step: Step


@cache
def chances(case: Case) -> tuple[Chance, ...]:
    """Return what can come where, by the unbroken run (of a rolling restart in the steps of the second node)."""
    bench = case.bench_begun()
    met: dict[str, list[Cluster]] = defaultdict(list)

    def told(when: str, what: str) -> None:
        if when == "after" and what.endswith((" acting)", " proving)")):
            met[what.partition("(")[2]].append(copied(bench.cluster))

    bench.journal.told = told
    bench.run()
    bench.journal.told = None
    return tuple(
        Chance(fault, step)
        for step in bench.engine().view.plan.steps
        for fault in FAULTS
        if _is_meant(case, fault, step)
        if any(_victim(cluster, fault, step) for cluster in met[_announced(fault, step)])
    )


def _is_meant(case: Case, fault: Fault, step: Step) -> bool:
    if case.name == "rolling-restart" and not step.step_id.startswith("n2:"):
        return False
    if isinstance(step.action, Checkpoint | Continue) or (fault.hits == "own" and not step.host):
        return False
    return not (isinstance(step.action, Ask) and fault.hits == "own")


def _announced(fault: Fault, step: Step) -> str:
    return f"step {step.step_id} {fault.when})"


def outcomes(case: Case, fault: Fault, wanted: Callable[[Chance], bool] = lambda _: True) -> Iterator[Outcome]:
    """Break every step of the procedure in turn in which the fault can come, where that is wanted."""
    for chance in chances(case):
        if chance.fault is fault and wanted(chance):
            yield _broken_in(case, fault, chance.step)


def _broken_in(case: Case, fault: Fault, step: Step) -> Outcome:
    bench = case.bench_begun()
    bench.on_failure = "ask"
    came: list[Broken] = []

    def told(when: str, what: str) -> None:
        if came or when != "after" or not what.endswith(f"({_announced(fault, step)}"):
            return
        victim = _victim(bench.cluster, fault, step)
        if victim is not None:
            came.append(break_at(bench.cluster, fault, victim))

    bench.journal.told = told
    state = bench.run()
    bench.journal.told = None
    return Outcome(case, fault, step, bench, came[0], state, bench.engine().view)


def _victim(cluster: Cluster, fault: Fault, step: Step) -> Host | None:
    if fault.hits == "other":
        return next((h for h in cluster.primaries() if h.name != step.host), None)
    if fault.hits == "disk":
        frozen = next((h for h in cluster.hosts.values() if h.frozen_at not in {None, "-1"}), None)
        return frozen or cluster.hosts.get(step.host)
    return cluster.hosts[step.host]


def taken_back(outcome: Outcome, *, healed: bool) -> tuple[Bench, RunState]:
    """Take the run back on a copy of everything, with the fault still there or healed; one that is over stays so.

    Who heals it also types what the undo asks: by SST, where the position of a killed node is not known.
    """
    old = outcome.bench
    bench = old.after_kill(Moment("", old.journal.entries(old.run_id), old.cluster))
    if healed:
        heal(outcome, bench)
        bench.confirmed |= outcome.case.accepts
    return bench, outcome.state if outcome.state in ENDED else bench.engine().undo()


def heal(outcome: Outcome, bench: Bench) -> None:
    """End the fault in a copy."""
    broken = outcome.broken
    Broken(broken.fault, bench.cluster.hosts[broken.host.name], broken.was_running, broken.free).heal(bench.cluster)

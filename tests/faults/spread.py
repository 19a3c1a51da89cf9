"""The sample of kills and faults that each run of the tests takes; `test everything` takes the rest too.

Nothing of it is random, and it does not rotate: the same plans give the same sample. It has the first and the last
place of each case, those around its point of no return, and for each kind of action the middle one of its places.

- Kills (`of_kills`): the main case of a procedure (BROKEN_CASES) adds one behind each kind of entry. The other cases
  have, for each kind of action, only a kill in which the act happened and is not written.
- Steps (`of_steps`), and faults in them (`of_faults`): each fault breaks EACH_FAULT of the steps, as far as there are
  so many, and each of the steps meets at least one fault.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import pytest

from services.procedures.plan.model import Plan, Step
from tests.faults.breaking_runs import BROKEN_CASES, Chance
from tests.faults.cases import Case
from tests.faults.scripted.breaking import FAULTS
from tests.faults.scripted.running import Moment

EACH_FAULT = 2
"""So many steps of a case does each fault break."""
_IN_DOUBT = frozenset({"acting", "undoing"})


class Part(Enum):
    """A part of a case's places: what each run of the tests takes, and what `test everything` takes beside it."""

    SAMPLE = "sample"
    REST = "rest"

    def has(self, place: int, sample: frozenset[int]) -> bool:
        """Return whether a place belongs to this part."""
        return (place in sample) is (self is Part.SAMPLE)


IN_PARTS = pytest.mark.parametrize(
    "part", [Part.SAMPLE, pytest.param(Part.REST, marks=pytest.mark.long)], ids=lambda part: part.value
)
"""For a test that goes through a case's places."""


class _Situation(NamedTuple):
    """What a kill meets: the kind of the action whose act or proof is under way ('' for none), and the last entry.

    `done`: something was done behind that entry, and nothing is written of it.
    """

    action: str
    entry: str
    done: bool


def kind_of(step: Step) -> str:
    """Return the kind of a step's action."""
    return type(step.action).__name__


def action_of(moment: Moment, plan: Plan) -> str:
    """Return the kind of the action that a kill meets, '' between two steps."""
    last = moment.entries[-1]
    return next((kind_of(s) for s in plan.steps if s.step_id == last.step_id), "") if last.kind == "step" else ""


def of_kills(case: Case, plan: Plan, moments: Sequence[Moment]) -> frozenset[int]:
    """Return the places of those moments at which each run of the tests kills a case's run."""
    met = [_situation(moment, plan) for moment in moments]
    situations, actions = defaultdict(list), defaultdict(list)
    for place, moment in enumerate(moments):
        situations[met[place]].append(place)
        actions[action_of(moment, plan)].append(place)
    found = {_middle(places) for places in situations.values()} if case in BROKEN_CASES else set()
    for places in actions.values():
        worst = max(_risk(met[place]) for place in places)
        found.add(_middle([place for place in places if _risk(met[place]) == worst]))
    passing = [place for place, moment in enumerate(moments) if _passes_no_return(moment, plan)]
    around = {beside for place in passing for beside in (place - 1, place, place + 1)} & {*range(len(moments))}
    return frozenset({0, len(moments) - 1, *around, *found})


def _situation(moment: Moment, plan: Plan) -> _Situation:
    last = moment.entries[-1]
    state, action = str((last.data or {}).get("state", "")), action_of(moment, plan)
    if state not in {*_IN_DOUBT, "proving"}:
        return _Situation("", f"{last.kind} {state}", False)
    return _Situation(action, state, not moment.name.startswith("after "))


def _risk(met: _Situation) -> tuple[bool, bool]:
    return met.done, met.entry in _IN_DOUBT


def _passes_no_return(moment: Moment, plan: Plan) -> bool:
    last = moment.entries[-1]
    of_point = any(step.no_return and step.step_id == last.step_id for step in plan.steps)
    return of_point and (last.data or {}).get("state") == "acting" and moment.name.startswith("after ")


def of_steps(steps: Sequence[Step]) -> frozenset[int]:
    """Return the places of those steps that each run of the tests breaks: of a case's, in their order."""
    kinds: dict[str, list[int]] = defaultdict(list)
    for place, step in enumerate(steps):
        kinds[kind_of(step)].append(place)
    points = (place for place, step in enumerate(steps) if step.no_return)
    around = {max(0, beside) for place in points for beside in (place - 1, place)}
    return frozenset({0, len(steps) - 1, *around, *map(_middle, kinds.values())})


def of_faults(chances: Sequence[Chance]) -> frozenset[int]:
    """Return the places of those chances that each run of the tests takes: of a case's, in the order of its steps."""
    there = {(chance.fault.name, chance.step.step_id): place for place, chance in enumerate(chances)}
    steps = {chance.step.step_id: chance.step for chance in chances}
    marked = [list(steps)[place] for place in sorted(of_steps(list(steps.values())))]
    taken: Counter[str] = Counter()
    found: set[int] = set()
    for _ in range(EACH_FAULT):
        for fault in FAULTS:
            free = [one for one in steps if there.get((fault.name, one)) not in {None, *found}]
            wanted = [one for one in free if one in marked] or free
            if wanted:
                step = min(wanted, key=lambda one: taken[one])  # the first of those that met the fewest
                taken[step] += 1
                found.add(there[fault.name, step])
    missed = (one for one in marked if not taken[one])
    found |= {next(place for place, chance in enumerate(chances) if chance.step.step_id == one) for one in missed}
    return frozenset(found)


def _middle(places: Sequence[int]) -> int:
    return places[len(places) // 2]

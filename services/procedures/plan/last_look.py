"""The last look: what was proven once and others may change is proven again before what relies on it, and at the end.

A plan takes minutes to hours. A configuration tool, a colleague or a restart changes meanwhile what an earlier step has
shown; nothing of a plan may say 'done' of it, or take the old way away, by a proof that is as old as that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from services.procedures.plan.actions import Continue, WaitFor
from services.procedures.plan.condition import Condition
from services.procedures.plan.inside import declared
from services.procedures.plan.model import Plan, Risk, Step

LAST_LOOK = "last-look"
LOOK_S = 120.0


def looked_again(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps with a last look before each point, and at the end; what looks already stays as it is."""
    made: list[Step] = []
    for step in steps:
        missing = _missing(step.before, _standing(made), but=_subjects(step.proof)) if is_point(step) else ()
        made.append(replace(step, relies_on=missing) if missing else step)
    if not made or isinstance(made[-1].action, Continue):
        return tuple(made)
    last, standing = made[-1], _standing(made)
    seen = last.action.conditions if isinstance(last.action, WaitFor) else ()
    missing = _missing(seen, standing)
    if not missing:
        return tuple(made)
    looks = bool(_subjects(seen)) and not any(one.lasts_s for one in declared(seen))
    if not looks or not isinstance(last.action, WaitFor):
        return (*made, _look(tuple(dict.fromkeys(standing.values()))))
    wider = replace(last.action, conditions=(*seen, *missing))
    return (*made[:-1], replace(last, action=wider, limit_s=max(last.limit_s, LOOK_S)))


def last_look_is_taken(plan: Plan) -> Iterator[str]:
    """Whatever others may change is looked at again before a point, and by the plan's last step."""
    for at, step in enumerate(plan.steps):
        if not is_point(step):
            continue
        for one in _missing(step.first_before, _standing(plan.steps[:at]), but=_subjects(step.proof)):
            yield f"Step '{step.step_id}' relies on what was proven before, and does not look again: {one.waits_for()}."
    if not plan.steps or isinstance(plan.steps[-1].action, Continue):
        return
    last = plan.steps[-1].action
    seen = last.conditions if isinstance(last, WaitFor) else ()
    for one in _missing(seen, _standing(plan.steps)):
        yield f"The last step does not look again at what others may have changed: {one.waits_for()}."


def is_point(step: Step) -> bool:
    """Return whether a step takes away what the run could still rely on or go back to."""
    return step.no_return or step.final or step.risk is Risk.IRREVERSIBLE


def _standing(steps: Iterable[Step]) -> dict[str, Condition]:
    """Return what was proven last of each subject. What is only switched on for a while (`takes`) does not last.

    A proof of several subjects of which one was proven anew since is no proof of the others any more. What only servers
    tell that were proven to be down since, as a plan stops them itself, can't be looked at while they are.
    """
    newest: dict[str, Condition] = {}
    for step in steps:
        if step.takes is not None:
            continue
        for one in step.action.conditions if isinstance(step.action, WaitFor) else step.proof:
            newest |= dict.fromkeys(one.declared().stands, one)
    whole = {name: one for name, one in newest.items() if all(newest[other] == one for other in one.declared().stands)}
    down = frozenset().union(*(one.declared().down for one in whole.values()))
    return {name: one for name, one in whole.items() if not _only_told_by(one, down)}


def _only_told_by(condition: Condition, down: frozenset[str]) -> bool:
    tellers = condition.declared().told_by
    return bool(tellers) and tellers <= down


def _missing(
    seen: tuple[Condition, ...], standing: dict[str, Condition], but: frozenset[str] = frozenset()
) -> tuple[Condition, ...]:
    """Return what is proven of subjects that none of `seen` tells of."""
    told = _subjects(seen) | but
    return tuple(dict.fromkeys(one for name, one in standing.items() if name not in told))


def _subjects(conditions: tuple[Condition, ...]) -> frozenset[str]:
    return frozenset().union(*(one.declared().stands for one in conditions))


def _look(conditions: tuple[Condition, ...]) -> Step:
    return Step(
        step_id=LAST_LOOK,
        host="",
        title="Verify all results again",
        done="Everything that was verified still holds",
        why="Others may have changed it after its step.",
        action=WaitFor(conditions, "earlier results to hold still"),
        risk=Risk.READS,
        limit_s=LOOK_S,
        repeatable=True,
        estimate_s=2.0,
    )

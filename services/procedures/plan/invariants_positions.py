"""What must be true of a plan that makes a Primary Component: pasts and positions are shown right before the act.

The choice between positions is made long before the act, with questions between: what the choice stands on is read
anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from services.procedures.plan.actions import Sql
from services.procedures.plan.conditions import Condition, SameHistory, StatusIs
from services.procedures.plan.conditions_at_rest import PositionMark, Unmoved
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.parts import founds, of, starts_a_server

_POSITION = "wsrep_last_committed"


def every_forming_has_its_proofs(plan: Plan) -> Iterator[str]:
    """One statement (pc.bootstrap) makes a Primary Component of all that are connected: each of them has one past."""
    for step in plan.steps:
        if isinstance(step.action, Sql) and "pc.bootstrap" in str(step.action.statement):
            blind = [name for name in plan.quorum if name != step.host and not one_past(step.before, name)]
            if blind:
                yield f"Step '{step.step_id}' takes {', '.join(blind)} along, and nothing proves their history before."
            held = {c.host for c in step.before if isinstance(c, StatusIs) and c.status == _POSITION}
            if loose := [name for name in plan.quorum if name not in held]:
                yield _loose(step, loose)


def one_past(conditions: tuple[Condition, ...], host: str) -> bool:
    """Return whether one of the conditions shows the history of a host."""
    return any(isinstance(condition, SameHistory) and condition.host == host for condition in conditions)


def positions_are_held(plan: Plan) -> Iterator[str]:
    """Whoever is bootstrapped, or started for the first time after its position was looked at, stands there still."""
    marks: set[str] = set()
    waiting: dict[str, bool] = {}  # host -> it was looked at, and this plan has not started it since
    for step in plan.steps:
        held = {c.host for c in step.before if isinstance(c, Unmoved)}
        needed = {part.mark for part in of(Unmoved, step) if isinstance(part, Unmoved)}
        yield from (f"Step '{step.step_id}' uses the mark '{mark}', which nothing keeps." for mark in needed - marks)
        if founds(step.action):
            wanted = dict.fromkeys((*plan.quorum, *waiting))
            if loose := [name for name in wanted if name not in held]:
                yield _loose(step, loose)
            waiting[step.host] = False
        elif starts_a_server(step.action):
            if waiting.get(step.host) and step.host not in held:
                yield _loose(step, [step.host])
            waiting[step.host] = False
        for mark in (part for part in of(PositionMark, step) if isinstance(part, PositionMark)):
            marks.add(mark.keep)
            if mark.since:  # its position was recovered; SameHistory itself looks at the mark of a plain stop
                waiting[mark.host] = True


def _loose(step: Step, names: list[str]) -> str:
    return f"Step '{step.step_id}' stands on the positions of {', '.join(names)}, and nothing holds them against now."

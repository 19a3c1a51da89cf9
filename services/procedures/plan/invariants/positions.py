"""What must be true of a plan that makes a Primary Component: pasts and positions are shown right before the act.

The choice between positions is made long before the act, with questions between: what the choice stands on is read
anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from services.procedures.plan.actions import Sql
from services.procedures.plan.condition import Condition
from services.procedures.plan.inside import declared, founds, starts_a_server
from services.procedures.plan.model import Plan, Step


def every_forming_has_its_proofs(plan: Plan) -> Iterator[str]:
    """One statement (pc.bootstrap) makes a Primary Component of all that are connected: each of them has one past."""
    for step in plan.steps:
        if isinstance(step.action, Sql) and "pc.bootstrap" in str(step.action.statement):
            blind = [name for name in plan.voters if name != step.host and not one_past(step.before, name)]
            if blind:
                yield f"Step '{step.step_id}' takes {', '.join(blind)} along, and nothing proves their history before."
            held = {host for one in declared(step.before) for host in one.holds_position_of}
            if loose := [name for name in plan.voters if name not in held]:
                yield _loose(step, loose)


def one_past(conditions: tuple[Condition, ...], host: str) -> bool:
    """Return whether one of the conditions shows the history of a host."""
    return any(host in one.shows_past_of for one in declared(conditions))


def positions_are_held(plan: Plan) -> Iterator[str]:
    """Whoever is bootstrapped, or started for the first time after its position was looked at, stands there still."""
    marks: set[str] = set()
    waiting: dict[str, bool] = {}  # host -> it was looked at, and this plan has not started it since
    for step in plan.steps:
        held = {host for one in declared(step.before) for host in one.holds_data_of}
        needed = {mark for one in declared(step) for mark in one.uses_marks}
        yield from (f"Step '{step.step_id}' uses the mark '{mark}', which nothing keeps." for mark in needed - marks)
        if founds(step.action):
            wanted = dict.fromkeys((*plan.voters, *waiting))
            if loose := [name for name in wanted if name not in held]:
                yield _loose(step, loose)
            waiting[step.host] = False
        elif starts_a_server(step.action):
            if waiting.get(step.host) and step.host not in held:
                yield _loose(step, [step.host])
            waiting[step.host] = False
        for one in declared(step):
            marks |= one.marks
            waiting |= dict.fromkeys(one.recovered, True)  # a past itself looks at the mark of a plain stop


def _loose(step: Step, names: list[str]) -> str:
    where = ", ".join(names)
    return f"Step '{step.step_id}' relies on the positions of {where}, and nothing compares them with the present."

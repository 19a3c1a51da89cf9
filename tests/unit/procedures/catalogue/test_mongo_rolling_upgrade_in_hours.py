"""mongo-rolling-upgrade takes hours: what a colleague changes meanwhile, and what an earlier run has done already."""

from __future__ import annotations

from services.procedures.conditions.config_servers.strangers import NoOtherRouter
from services.procedures.conditions.mongodb.strangers import NoOtherMember
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.condition import Condition
from services.procedures.plan.invariants import violations
from services.procedures.plan.model import Plan
from tests.unit.procedures.catalogue.test_mongo_rolling_upgrade import (
    PROCEDURE,
    _members,
    _sharded,
    facts,
)


def _waits(plan: Plan, step_id: str) -> tuple[Condition, ...]:
    action = plan.step(step_id).action
    assert isinstance(action, WaitFor)
    return action.conditions


def test_that_who_came_in_the_hours_between_is_looked_for_at_the_end() -> None:
    """The run told of every server that it runs the version: a fourth member and a mongos ran the old one."""
    plan = PROCEDURE.plan(_sharded("3.0.15", mirrored=True), {"version": "3.2.22"})
    assert violations(plan) == ()
    assert plan.steps[-1].step_id == "nobody-else"  # behind the balancer, which is as it was by then
    assert _waits(plan, "nobody-else") == (
        NoOtherMember(("m1", "m2", "m3"), ("m1:27018", "m2:27018", "m3:27018")),
        NoOtherRouter("r1", ("r1:27017", "r2:27017")),
    )
    assert plan.expects == (
        "Every server of the plan runs 3.2.22, every set is whole, nobody came to them, the balancer is as it was.",
    )
    alone = PROCEDURE.plan(facts(*_members()), {"version": "3.2.22"})
    assert [type(one) for one in _waits(alone, "nobody-else")] == [NoOtherMember]

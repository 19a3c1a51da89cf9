"""What must hold before an act is read right before it: after a person's answer, after a dead console, a broken way."""

from __future__ import annotations

from dataclasses import replace
from typing import SupportsIndex

import pytest

from services.errors import UserError
from services.procedures.engine.parts import Policy
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.run_model import RunState
from tests.unit.procedures.engine_world import Bench, Killed, World, is_, lost, plan_of, put, switch, work

ASKING = Policy("ask", by="ann")
ALONE = (is_("n2", "primary", "OFF"),)
WIPE = Step(
    "wipe", "n1", "Wipe n1", put("wiped"), risk=Risk.IRREVERSIBLE, before=ALONE, proof=(is_("n1", "wiped"),),
    confirm="n1",
)  # fmt: skip


class _Moving(list[UserError]):
    """Errors of a broken way, behind which another host becomes Primary."""

    def __init__(self, world: World, errors: list[UserError]) -> None:
        super().__init__(errors)
        self._world = world

    def pop(self, index: SupportsIndex = -1) -> UserError:
        self._world.settings["n2", "primary"] = "ON"
        return super().pop(index)


def test_that_what_moved_while_a_person_typed_the_confirmation_stops_the_step() -> None:
    bench = Bench(plan_of(WIPE), policy=ASKING)
    bench.person.answers = {"step": ["n1"], "failed": ["leave"]}
    bench.person.on_ask = lambda _: bench.world.settings.update({("n2", "primary"): "ON"})
    assert bench.run() is RunState.LEFT
    assert bench.world.done == []
    assert "primary of n2 is ON" in bench.view.steps[0].error


@pytest.mark.parametrize(("moved", "done"), [(False, ["n1: data=ON"]), (True, [])])
def test_that_a_job_that_a_dead_console_only_announced_begins_only_where_nothing_moved(
    moved: bool, done: list[str]
) -> None:
    bench = Bench(plan_of(replace(work("n1", "data"), before=ALONE)))
    bench.world.fails["work-n1"] = [Killed()]  # type: ignore[list-item]
    with pytest.raises(Killed):
        bench.run()
    if moved:
        bench.world.settings["n2", "primary"] = "ON"
    assert bench.run() is (RunState.UNDONE if moved else RunState.DONE)
    assert bench.world.done == done
    said = "It was not begun again: primary of n2 is ON. What it may have done before it broke off is there still."
    assert bench.view.steps[0].error == (said if moved else ""), "the host may have gone with a half of it behind it"


def test_that_a_job_that_goes_on_is_attached_to_whatever_has_moved_since() -> None:
    bench = Bench(plan_of(replace(work("n1", "data"), before=ALONE)))
    bench.world.fails["late work-n1"] = [Killed()]  # type: ignore[list-item]
    with pytest.raises(Killed):
        bench.run()
    bench.world.settings["n2", "primary"] = "ON"
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: data=ON"]


def test_that_a_repeatable_act_behind_a_broken_way_is_not_repeated_when_something_moved_meanwhile() -> None:
    bench = Bench(plan_of(replace(switch("n1", "a", repeatable=True), before=ALONE, limit_s=60.0)), policy=ASKING)
    bench.person.answers = {"failed": ["leave"]}
    bench.world.fails["a-n1"] = _Moving(bench.world, [lost("n1")])
    assert bench.run() is RunState.LEFT
    assert bench.world.done == []

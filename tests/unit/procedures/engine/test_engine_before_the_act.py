"""What must hold before an act is read right before it: after a person's answer, after a dead console, a broken way."""

from __future__ import annotations

from dataclasses import replace
from typing import SupportsIndex

import pytest

from services.errors import UserError
from services.procedures.engine.parts import Policy
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.remembering import Memory
from services.procedures.plan.run_model import Question, RunState, RunView
from tests.unit.procedures.engine_world import Bench, Killed, World, WorldProver, is_, lost, plan_of, put, switch, work

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
    said = "It was not started again: primary of n2 is ON. Possible changes from before the interruption remain."
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


def test_that_what_is_told_beside_a_confirmation_is_true_now_and_hinders_nothing() -> None:
    beside = replace(WIPE, before=(), beside=(is_("n2", "unchanged"),))
    bench = Bench(plan_of(beside), policy=ASKING)
    asked: list[str] = []

    def sees(question: Question) -> None:
        if question.ask.question not in asked:
            asked.append(question.ask.question)
        bench.world.settings["n2", "unchanged"] = "OFF" if bench.clock.monotonic() - begun > 20.0 else "ON"
        bench.person.answers = {"step": ["n1"]} if bench.clock.monotonic() - begun > 40.0 else {}

    begun = bench.clock.monotonic()
    bench.world.settings["n2", "unchanged"] = "ON"
    bench.person.on_ask = sees
    assert bench.run() is RunState.DONE
    assert [text.startswith("unchanged of n2 is OFF. This cannot") for text in asked] == [False, True]


STOPPED = (is_("n1", "down"),)


def _announced_alone() -> Bench:
    """Return a bench whose console died as a copy of a stopped server's data was announced; then it was started."""
    copy = switch("n1", "copy", repeatable=True, before=STOPPED)
    bench = Bench(plan_of(replace(copy, limit_s=3600.0)))
    bench.world.settings["n1", "down"] = "ON"
    bench.world.fails["copy-n1"] = [Killed()]  # type: ignore[list-item]
    with pytest.raises(Killed):
        bench.run()
    bench.world.settings["n1", "down"] = "OFF"
    return bench


def test_that_a_wait_for_what_can_t_be_done_again_says_at_once_what_stands_against_it() -> None:
    bench, said = _announced_alone(), []

    def shown(view: RunView) -> None:
        sentence = view.steps[0].said
        if "It cannot start now: down of n1 is OFF" in sentence:
            said.append(bench.clock.monotonic())
            bench.control.undo()

    begun = bench.clock.monotonic()
    bench.run_changed = shown  # type: ignore[method-assign]
    assert bench.run() is RunState.UNDONE
    assert said[0] - begun < 2.0


def test_that_it_is_begun_once_nothing_stands_against_it_any_more() -> None:
    bench = _announced_alone()

    def shown(view: RunView) -> None:
        if "It cannot start now" in view.steps[0].said:
            bench.world.settings["n1", "down"] = "ON"

    bench.run_changed = shown  # type: ignore[method-assign]
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: copy=ON"]


def test_that_the_next_console_killed_in_that_wait_leaves_it_to_the_one_behind_it() -> None:
    bench = _announced_alone()

    def killed(view: RunView) -> None:
        if "It cannot start now" in view.steps[0].said:
            bench.control.close()

    bench.run_changed = killed  # type: ignore[method-assign]
    bench.run()
    bench.run_changed = lambda _: None  # type: ignore[method-assign]
    bench.world.settings["n1", "down"] = "ON"
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: copy=ON"]


def test_that_what_the_act_itself_broke_is_only_waited_for() -> None:
    bench = _announced_alone()

    def shown(view: RunView) -> None:
        if "It cannot start now" in view.steps[0].said:
            bench.world.settings["n1", "copy"] = "ON"

    bench.run_changed = shown  # type: ignore[method-assign]
    assert bench.run() is RunState.DONE
    assert bench.world.done == []


class _Doubting(WorldProver):
    """What stands against the second step is not shown to be wrong."""

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """See ports.Prover."""
        found = super().look(condition, past, memory)
        return replace(found, doubt=True) if condition in ALONE and found.holds is False else found


@pytest.mark.parametrize(("doubting", "state"), [(False, RunState.UNDONE), (True, RunState.FAILED)])
def test_that_a_doubt_before_an_act_takes_nothing_finished_back(doubting: bool, state: RunState) -> None:
    world = World()
    world.settings["n2", "primary"] = "ON"
    bench = Bench(plan_of(work("n1", "data"), switch("n1", "served", before=ALONE)))
    bench.world = world
    bench.prover = _Doubting(world) if doubting else WorldProver(world)
    assert bench.run() is state
    assert world.done == ["n1: data=ON"]

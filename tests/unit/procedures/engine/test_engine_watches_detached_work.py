"""Watch rules go on while detached work runs, and what they foresee is told beside what the work says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import pytest

from services.errors import TimedOut
from services.procedures.engine.parts import Policy
from services.procedures.engine.ports import Acted
from services.procedures.plan.actions import Action
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.model import WatchRule
from services.procedures.plan.remembering import Memory
from services.procedures.plan.run_model import RunState
from tests.unit.procedures.engine_world import Bench, World, WorldActor, WorldProver, is_, plan_of, work

RULE = WatchRule("RACE", is_("n2", "cached"), "The caches purge faster.", from_step="work-n1", to_step="work-n1")
ALONE, PERSON = Policy("ask", unattended=True, by="ann"), Policy("ask", by="ann")


class Telling(WorldActor):
    """Detached work that says twice how far it is; what is cached is lost in between."""

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
        assert said is not None
        said("replay: 10 of 100")
        self._world.settings["n2", "cached"] = "OFF"
        return super().perform(step_id, host, action, kept, limit_s=limit_s, stop=stop, said=said, ready=ready)


class Foreseeing(WorldProver):
    """Every answer about what is cached has a time that is left."""

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """See ports.Prover."""
        found = super().look(condition, past, memory)
        return Answer(found.holds, "s1 caches it for 40 s", left_s=40.0) if condition == RULE.condition else found


def test_that_the_time_which_a_rule_foresees_is_told_with_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(plan_of(work("n1", "copied"), watches=(RULE,)))
    world = World()
    world.settings["n2", "cached"] = "ON"
    bench.world, bench.prover = world, Foreseeing(world)
    monkeypatch.setattr("tests.unit.procedures.engine_world.WorldActor", Telling)
    bench.run()
    told = [step.said for view in bench.views for step in view.steps]
    assert "replay: 10 of 100; s1 caches it for 40 s" in told


def test_that_a_try_after_one_whose_end_was_told_begins_it_anew_in_another_console_too() -> None:
    bench = Bench(plan_of(work("n1", "copied")), policy=ALONE)
    bench.world.detached.add("copy-n1")  # it came back well, and nothing of it is there
    assert bench.run() is RunState.FAILED
    assert bench.world.done == []
    bench.policy, bench.person.answers = PERSON, {"failed": ["again", "leave"]}
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: copied=ON"]


def test_that_what_nobody_saw_the_end_of_is_not_begun_anew() -> None:
    bench = Bench(plan_of(work("n1", "copied")), policy=ALONE)
    bench.world.fails["work-n1"] = [TimedOut("It did not end within 600 s.", host="n1")]
    assert bench.run() is RunState.FAILED
    assert not any(line.get("came_back") for line in bench.lines("step"))

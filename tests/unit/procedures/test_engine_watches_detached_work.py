"""Watch rules go on while detached work runs, and what they foresee is told beside what the work says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import pytest

from services.procedures.engine.ports import Acted
from services.procedures.plan.actions import Action
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.model import WatchRule
from services.procedures.plan.remembering import Memory
from tests.unit.procedures.engine_world import Bench, World, WorldActor, WorldProver, is_, plan_of, work

RULE = WatchRule("RACE", is_("n2", "cached"), "The caches purge faster.", from_step="work-n1", to_step="work-n1")


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

"""What a rehearsal says: every read made, every change printed, nothing done."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.conditions.galera.data.position import Position
from services.procedures.engine.rehearsal import Rehearsal, rehearse
from services.procedures.plan.condition import Answer, Condition, Kept
from services.procedures.plan.looks import Past
from services.procedures.plan.model import Plan
from services.procedures.plan.remembering import Memory
from tests.unit.procedures.engine_world import (
    World,
    WorldProver,
    ask,
    borrow,
    give_back,
    is_,
    plan_of,
    rest,
    switch,
    wait,
    work,
)


class Counting(WorldProver):
    """Remembers which conditions were looked at."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.seen: list[Condition] = []

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """Look, and remember it."""
        self.seen.append(condition)
        if isinstance(condition, Position):
            return Answer(None, "no position was kept")
        return super().look(condition, past, memory)


def _rehearsed(plan: Plan, world: World | None = None) -> Rehearsal:
    return rehearse(plan, Counting(world or World()))


def _would(found: Rehearsal) -> dict[str, str]:
    return {done.step.step_id: done.words for done in found.steps}


def test_that_every_read_is_made_once_and_nothing_is_done() -> None:
    world = World()
    steps = (
        switch("n1", "a", before=(is_("n2", "synced"),), already=(is_("n1", "a"),)),
        wait("n2", "ready"),
        work("n3", "data"),
    )
    prover = Counting(world)
    rehearse(plan_of(*steps), prover)
    assert prover.seen == [
        is_("n1", "a"), is_("n2", "synced"), is_("n1", "a"), is_("n2", "ready"), is_("n3", "data"),
    ]  # fmt: skip
    assert world.done == []
    assert world.settings == {}


def test_that_every_change_and_its_undo_are_printed_as_they_would_run() -> None:
    found = _rehearsed(plan_of(switch("n1", "drained"), work("n2", "data")))
    assert found.steps[0].lines == ("n1: SET GLOBAL drained='ON';",)
    assert found.steps[0].undo == ("n1: SET GLOBAL drained='OFF';",)
    assert "set data ON" in found.steps[1].lines[0]


def test_that_each_kind_of_step_says_what_it_would_do() -> None:
    done = switch("n3", "c", already=(is_("n3", "c"),))
    world = World({("n3", "c"): "ON"})
    found = _rehearsed(plan_of(done, ask(), rest(), wait("n1", "x"), switch("n1", "a")), world)
    assert list(_would(found).values()) == ["nothing to do", "ask you", "wait", "wait", "act"]


def test_that_a_precondition_that_does_not_hold_now_stops_and_is_told() -> None:
    found = _rehearsed(plan_of(switch("n1", "a", before=(is_("n2", "synced"),))))
    assert _would(found) == {"a-n1": "stop: a precondition does not hold"}
    assert [done.step.step_id for done in found.stops] == ["a-n1"]
    assert found.steps[0].before[0].evidence == "synced of n2 is OFF"


def test_that_what_an_earlier_step_waits_for_is_no_reason_to_stop_where_no_step_changes_that_host() -> None:
    """A shard goes over to new config servers by itself: a later step relies on it, and no step changes that host."""
    gone_over = is_("d1", "synced")
    relies = replace(switch("n1", "b"), relies_on=(gone_over,))
    found = _rehearsed(plan_of(switch("n1", "a"), wait("d1", "synced"), relies))
    assert _would(found)["b-n1"] == "act, after the earlier steps"
    assert found.stops == ()
    before_the_wait = _rehearsed(plan_of(switch("n1", "a"), relies, wait("d1", "synced")))
    assert [done.step.step_id for done in before_the_wait.stops] == ["b-n1"]


def test_that_what_an_earlier_step_brings_about_is_no_reason_to_stop() -> None:
    found = _rehearsed(plan_of(switch("n1", "a"), switch("n2", "b", before=(is_("n1", "a"),))))
    assert _would(found)["b-n2"] == "act, after the earlier steps"
    assert found.steps[1].later
    assert found.stops == ()


def test_that_a_step_that_takes_back_what_is_not_on_yet_is_not_told_to_have_nothing_to_do() -> None:
    ending = replace(give_back("n1", "frozen"), already=(is_("n1", "frozen", "OFF"),))
    found = _rehearsed(plan_of(borrow("n1", "frozen"), ending))
    assert _would(found)["end-frozen-n1"] == "act"


def test_that_an_earlier_step_with_nothing_to_do_changes_nothing_for_later_ones() -> None:
    first = switch("n1", "a", already=(is_("n1", "a"),))
    plan = plan_of(first, switch("n2", "b", before=(is_("n1", "other"),)))
    found = _rehearsed(plan, World({("n1", "a"): "ON"}))
    assert _would(found)["b-n2"] == "stop: a precondition does not hold"


def test_that_a_host_that_does_not_answer_is_told_and_stops() -> None:
    world = World()
    world.deaf["n2"] = 9
    found = _rehearsed(plan_of(switch("n1", "a", before=(is_("n2", "synced"),))), world)
    assert _would(found) == {"a-n1": "stop: a precondition cannot be read"}
    assert found.unread == ("n2 does not answer",)


def test_that_a_read_that_looks_back_at_a_step_to_come_is_not_told_as_unread() -> None:
    found = _rehearsed(plan_of(switch("n1", "a", proof=(Position("n1", Kept("place")),))))
    assert found.unread == ()
    assert _would(found) == {"a-n1": "act"}


def test_that_a_read_of_a_server_that_the_plan_moves_is_not_told_as_unread() -> None:
    world = World()
    world.deaf["n2"] = 9
    moved = switch("n1", "a", moves="n2", settles=("n2",))
    assert _rehearsed(plan_of(moved, wait("n2", "ready")), world).unread == ()

"""What disturbs a run from outside: a way that breaks, a watch rule that does, a lock that is taken."""

from __future__ import annotations

from services.procedures.engine.parts import Policy
from services.procedures.plan.model import Breach, WatchRule
from services.procedures.plan.run_model import RunState
from tests.unit.procedures.engine_world import (
    Bench,
    borrow,
    give_back,
    is_,
    lost,
    plan_of,
    switch,
    wait,
)

ASKING = Policy("ask", by="ann")


# -- ways that break ---------------------------------------------------------------------------------------------------


def test_that_an_act_behind_a_broken_way_is_judged_by_its_proof_and_not_done_twice() -> None:
    bench = Bench(plan_of(switch("n1", "a")))
    bench.world.fails["late a-n1"] = [lost("n1")]
    bench.world.deaf["n1"] = 4
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: a=ON"]


def test_that_a_repeatable_act_is_tried_again_until_the_way_is_back() -> None:
    bench = Bench(plan_of(switch("n1", "a", repeatable=True)))
    bench.world.fails["a-n1"] = [lost("n1"), lost("n1")]
    assert bench.run() is RunState.DONE


def test_that_an_act_that_may_have_happened_is_told_so_when_nothing_shows_it() -> None:
    bench = Bench(plan_of(switch("n1", "a", undo=None, why="It does no harm.")), policy=ASKING)
    bench.world.fails["a-n1"] = [lost("n1")]
    bench.person.answers = {"failed": ["leave"]}
    assert bench.run() is RunState.LEFT
    assert "Started; outcome unknown." in bench.view.steps[0].error
    assert bench.world.done == []


def test_that_an_act_that_is_proven_not_to_have_happened_behind_a_broken_way_is_done_after_a_while() -> None:
    bench = Bench(plan_of(switch("n1", "a")))
    bench.world.fails["a-n1"] = [lost("n1")]
    began = bench.clock.monotonic()
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: a=ON"]
    assert bench.clock.monotonic() - began >= 10.0


def test_that_a_host_that_is_silent_for_a_part_of_a_wait_is_waited_for() -> None:
    bench = Bench(plan_of(wait("n1", "ready", limit_s=60.0)))
    bench.world.settings["n1", "ready"] = "ON"
    bench.world.deaf["n1"] = 20
    assert bench.run() is RunState.DONE


# -- watch rules and the lock ------------------------------------------------------------------------------------------


def _watch(breach: Breach = Breach.PAUSE, **more: str) -> WatchRule:
    return WatchRule("DISK", is_("n3", "room"), "The disk fills.", breach, **more)  # type: ignore[arg-type]


def test_that_a_breach_releases_its_obligation_at_once_and_asks_before_the_next_act() -> None:
    rule = _watch(Breach.RELEASE, releases="frozen:n1", from_step="frozen-n1", to_step="end-frozen-n1")
    plan = plan_of(borrow("n1", "frozen"), wait("n2", "ready", limit_s=1e6), give_back("n1", "frozen"), watches=(rule,))
    bench, seen = Bench(plan, policy=ASKING), list[tuple[str, ...]]()
    world = bench.world
    world.settings["n3", "room"] = "ON"
    world.after["frozen-n1"] = lambda: world.settings.update({("n3", "room"): "OFF"})
    world.after["release:frozen:n1"] = lambda: world.settings.update({("n2", "ready"): "ON"})
    bench.person.on_ask = lambda question: seen.append(tuple(world.done))
    bench.person.answers = {"breach": ["undo"]}
    assert bench.run() is RunState.UNDONE
    assert seen == [("n1: frozen=ON", "n1: frozen=OFF")]
    assert bench.view.obligations == ()


def test_that_a_breach_pauses_before_the_act_and_a_person_may_go_on() -> None:
    bench = Bench(plan_of(switch("n1", "a"), watches=(_watch(),)), policy=ASKING)
    done_at_question: list[int] = []
    bench.person.on_ask = lambda question: done_at_question.append(len(bench.world.done))
    bench.person.answers = {"breach": ["go on"]}
    assert bench.run() is RunState.DONE
    assert done_at_question[0] == 0
    assert bench.view.breaches == ("The disk fills. (room of n3 is OFF)",)


def test_that_nobody_there_turns_a_breach_into_undo() -> None:
    bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b"), watches=(_watch(from_step="b-n2"),)))
    assert bench.run() is RunState.UNDONE
    assert bench.world.done == ["n1: a=ON", "n1: a=OFF"]


def test_that_a_lost_lock_stops_the_run_before_the_next_act() -> None:
    bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b")), policy=ASKING)
    bench.world.after["a-n1"] = lambda: setattr(bench.lock, "lost", ("n2",))
    bench.person.answers = {"breach": ["stop"]}
    assert bench.run() is RunState.LEFT
    assert bench.world.done == ["n1: a=ON"]
    assert "lost" in [d["what"] for d in bench.lines("lock")]

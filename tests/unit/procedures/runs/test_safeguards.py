"""A safeguard goes last: while what it guards is on, or not proven to be off, it stays, on every way out."""

from __future__ import annotations

from dataclasses import replace

from services.errors import UserError
from services.procedures.plan.model import Obligation, Plan, Step
from services.procedures.plan.run_model import RunState
from tests.unit.procedures.engine_world import Bench, borrow, give_back, is_, plan_of, put, switch

FROZEN, TIMER = "frozen:n1", "timer:n1"


def _timer() -> Step:
    duty = Obligation(TIMER, "n1", "timer is on, on n1", put("timer", "OFF"), (is_("n1", "timer", "OFF"),),
                      safeguard=True)  # fmt: skip
    return replace(borrow("n1", "timer"), takes=duty)


def _plan(*middle: Step) -> Plan:
    return plan_of(_timer(), borrow("n1", "frozen"), *middle, give_back("n1", "frozen"), give_back("n1", "timer"))


def _failing() -> Step:
    return switch("n2", "b", proof=(is_("n2", "never"),))


def _refused(bench: Bench, *keys: str) -> None:
    for key in keys:
        bench.world.fails[key] = [UserError("Gone.", host="n1") for _ in range(80)]


def test_that_a_failed_undo_leaves_the_safeguard_on_while_what_it_guards_is_on() -> None:
    bench = Bench(_plan(_failing()))
    _refused(bench, "undo:frozen-n1", f"release:{FROZEN}")
    assert bench.run() is RunState.UNDO_FAILED
    assert {o.obligation.key for o in bench.view.obligations} == {FROZEN, TIMER}
    assert bench.world.value("n1", "timer") == "ON"
    assert "stays on while this is on: frozen is on, on n1" in next(
        o.release_failed for o in bench.view.obligations if o.obligation.key == TIMER
    )


def test_that_what_is_released_after_a_failed_undo_ends_the_run_truly_and_its_lock() -> None:
    bench = Bench(_plan(_failing()))
    _refused(bench, "undo:frozen-n1", f"release:{FROZEN}")
    bench.run()
    bench.world.fails.clear()
    bench.engine().release()
    assert bench.world.done[-2:] == ["n1: frozen=OFF", "n1: timer=OFF"]
    assert (bench.view.state, bench.view.sentence) == (RunState.UNDONE, "All changes of the run were rolled back.")
    assert not bench.lock.held


def test_that_a_safeguard_asked_for_alone_is_not_released_before_what_it_guards() -> None:
    bench = Bench(_plan(_failing()))
    _refused(bench, "undo:frozen-n1", f"release:{FROZEN}")
    bench.run()
    bench.engine().release(TIMER)
    assert bench.world.value("n1", "timer") == "ON"


def test_that_a_release_tells_of_a_failed_undo_what_is_still_not_taken_back() -> None:
    bench = Bench(_plan(switch("n3", "c"), _failing()))
    _refused(bench, "undo:c-n3", f"release:{FROZEN}")
    assert bench.run() is RunState.UNDO_FAILED
    assert "it could not be released" in bench.view.sentence
    bench.world.fails[f"release:{FROZEN}"] = []
    bench.engine().release()
    assert bench.view.state is RunState.UNDO_FAILED
    assert bench.view.sentence == (
        "It could not be rolled back completely. Not rolled back: Switch c of n3 off. Nothing of it "
        "is still switched on."
    )


def test_that_leaving_a_run_releases_the_safeguard_after_what_it_guards_or_not_at_all() -> None:
    bench = Bench(_plan(_failing()))
    _refused(bench, "undo:frozen-n1", f"release:{FROZEN}")
    bench.run()
    bench.engine().leave("it is looked at by hand")
    assert bench.world.value("n1", "timer") == "ON"
    assert bench.view.state is RunState.LEFT


def test_that_each_try_of_a_release_may_take_as_long_as_its_obligation_says() -> None:
    """What removes terabytes of copies is not cut off after half a minute, on a way out that is no undo either."""
    for limit_s in (30.0, 600.0):
        step = borrow("n1", "frozen")
        assert step.takes is not None
        long = replace(step, takes=replace(step.takes, limit_s=limit_s))
        bench = Bench(plan_of(long, switch("n2", "b", proof=(is_("n2", "other"),)), give_back("n1", "frozen")))
        _refused(bench, "undo:frozen-n1")
        bench.run()
        assert bench.world.limits[f"release:{FROZEN}"] == limit_s
        assert bench.view.obligations == ()

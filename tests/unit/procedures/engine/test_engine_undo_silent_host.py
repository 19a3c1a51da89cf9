"""A host that does not answer is left for last where nothing needs it; what it may have undone is looked at again."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.engine.parts import Policy
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.run_model import RunState, RunView, StepState
from tests.unit.procedures.engine_world import Bench, is_, plan_of, put, switch


def _with(step: Step, **more: object) -> Step:
    assert step.undo is not None
    return replace(step, undo=replace(step.undo, **more))  # type: ignore[arg-type]


def _looks(host: str) -> Step:
    """A step that only looks going forward; taken back, a member that went over is started again."""
    of = switch(host, "over")
    assert of.undo is not None
    undo = replace(of.undo, title=f"Restart {host}", action=put("over", "OFF"), again=True)
    wait = WaitFor((is_(host, "over", "OFF"),), f"{host} not to have gone over")
    return replace(of, step_id=f"looked-{host}", action=wait, risk=Risk.READS, undo=undo, proof=())


ROUTERS = (_with(switch("n1", "down"), alone=True), _with(switch("n2", "down"), alone=True))
FAILS = switch("n3", "never", proof=(is_("n3", "no"),), limit_s=5.0)


def _bench(*steps: Step) -> Bench:
    return Bench(plan_of(*steps, FAILS), policy=Policy("undo", unattended=True, by="ann"))


def test_that_one_that_does_not_answer_is_left_for_last_and_the_others_are_served_at_once() -> None:
    bench = _bench(*ROUTERS)

    def shown(view: object) -> None:
        del view
        if any("n3: never" in one for one in bench.world.done):
            bench.world.deaf["n2"] = 10**6

    bench.run_changed = shown  # type: ignore[method-assign]
    assert bench.run() is RunState.UNDO_FAILED
    assert bench.world.value("n1", "down") == "OFF"
    states = {one.step.step_id: one.state for one in bench.engine().view.steps}
    assert states["down-n1"] is StepState.UNDONE
    assert states["down-n2"] is StepState.UNDO_FAILED
    bench.world.deaf.clear()
    bench.run_changed = lambda _: None  # type: ignore[method-assign]
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.world.value("n2", "down") == "OFF"


def test_that_what_it_had_go_over_meanwhile_is_brought_back_by_the_next_try() -> None:
    bench = _bench(ROUTERS[0], _looks("n3"), ROUTERS[1])

    def cut(view: object) -> None:
        del view
        if any("n3: never" in one for one in bench.world.done):
            bench.world.deaf["n2"] = 10**6

    bench.run_changed = cut  # type: ignore[method-assign]
    assert bench.run() is RunState.UNDO_FAILED
    bench.run_changed = lambda _: None  # type: ignore[method-assign]
    bench.world.deaf.clear()
    bench.world.settings["n3", "over"] = "ON"
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.world.value("n3", "over") == "OFF"


def test_that_a_server_which_the_step_itself_stopped_is_no_host_that_is_silent() -> None:
    """Its undo is proven by the server, which tells nothing while it is down: an earlier step may need it."""
    down = _with(switch("n1", "down"), alone=True, proof=(is_("n2", "serves"),))
    bench = _bench(switch("n3", "needs"), down)
    order: list[str] = []

    def shown(view: RunView) -> None:
        order.extend(s.step.step_id for s in view.steps if s.state is StepState.UNDONE and s.step.step_id not in order)
        if any("n1: down=OFF" in one for one in bench.world.done):
            bench.world.deaf.clear()
            bench.world.settings["n2", "serves"] = "ON"
        elif any("n3: never" in one for one in bench.world.done):
            bench.world.deaf["n2"] = 10**6

    bench.run_changed = shown  # type: ignore[method-assign]
    assert bench.run() is RunState.UNDONE
    assert order == ["never-n3", "down-n1", "needs-n3"]

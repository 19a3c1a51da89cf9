"""An undo that needs a person's word asks before it changes anything; one host that fails may keep no other waiting."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.errors import UserError
from services.procedures.engine.parts import Policy
from services.procedures.plan.model import Consent, Step
from services.procedures.plan.run_model import RunState, StepState
from tests.unit.procedures.engine_world import Bench, is_, plan_of, switch

FAILS = switch("n3", "d")


def _with(step: Step, **more: object) -> Step:
    assert step.undo is not None
    return replace(step, undo=replace(step.undo, **more))  # type: ignore[arg-type]


_GIVES_UP = Consent((is_("n2", "quiet"),), "What was changed is lost. Take it back all the same?", "n1", first=True)
ASKING = (switch("n1", "a"), _with(switch("n2", "b"), consent=_GIVES_UP), _with(switch("n3", "c"), consent=_GIVES_UP))


def _bench(*steps: Step, confirmed: frozenset[str] = frozenset()) -> Bench:
    bench = Bench(plan_of(*steps, FAILS), policy=Policy("undo", unattended=True, by="ann", confirmed=confirmed))
    bench.world.fails["d-n3"] = [UserError("The job failed.", host="n3")] * 9
    return bench


def test_that_an_undo_that_nobody_accepts_changes_nothing_and_leaves_the_way_on() -> None:
    bench = _bench(*ASKING)
    assert bench.run() is RunState.FAILED
    assert [bench.world.value(host, name) for host, name in (("n1", "a"), ("n2", "b"), ("n3", "c"))] == ["ON"] * 3
    assert "It was not rolled back, because this was not accepted" in bench.engine().view.sentence
    assert "(--confirm n1)" in bench.engine().view.sentence
    bench.world.fails.clear()
    assert bench.run() is RunState.DONE


def test_that_one_word_is_enough_for_all_the_steps_that_need_it() -> None:
    bench = _bench(*ASKING)
    bench.policy = Policy("ask", by="ann")
    bench.person.answers = {"failed": ["undo"], "step": ["n1"]}
    assert bench.run() is RunState.UNDONE
    assert bench.person.asked.count("step") == 1
    assert all(value == "OFF" for value in bench.world.settings.values())
    assert "Given up, as accepted: quiet of n2 is OFF." in bench.engine().view.sentence


def test_that_where_the_word_is_needless_by_now_nobody_is_asked() -> None:
    bench = _bench(*ASKING)
    bench.world.settings["n2", "quiet"] = "ON"
    assert bench.run() is RunState.UNDONE


@pytest.mark.parametrize("alone", [True, False])
def test_that_a_step_whose_undo_fails_keeps_an_earlier_one_waiting_only_where_that_needs_it(alone: bool) -> None:
    bench = _bench(switch("n1", "a"), _with(switch("n2", "b"), alone=alone))
    bench.world.fails["undo:b-n2"] = [UserError("No way to n2.", host="n2")] * 60
    assert bench.run() is RunState.UNDO_FAILED
    assert bench.world.value("n1", "a") == ("OFF" if alone else "ON")
    view = bench.engine().view
    assert [one.state for one in view.steps[:2]] == [
        StepState.UNDONE if alone else StepState.DONE,
        StepState.UNDO_FAILED,
    ]
    assert "No way to n2." in view.sentence
    bench.world.fails.clear()
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.world.value("n2", "b") == "OFF"

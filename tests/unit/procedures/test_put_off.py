"""Past the point of no return a failed step may be put off by a person: what does not need it goes first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.errors import UserError
from services.procedures.engine.parts import Policy
from services.procedures.plan.invariants import violations
from services.procedures.plan.model import Later, Step
from services.procedures.plan.run_model import Question, RunState, StepState
from tests.unit.procedures.engine_world import Bench, is_, plan_of, switch

POINT = "b-n2"
_SERVES = Later("d-n1", (is_("n1", "a"),), "n1 and n3 serve")


def _steps(later: Later | None = _SERVES) -> tuple[Step, ...]:
    point = switch("n2", "b", repeatable=True, no_return=True, later=later)
    return switch("n1", "a"), point, switch("n3", "c", repeatable=True), switch("n1", "d", repeatable=True)


def _bench(*answers: str, later: Later | None = _SERVES) -> tuple[Bench, list[Question]]:
    bench, asked = Bench(plan_of(*_steps(later)), policy=Policy("ask", by="ann")), list[Question]()
    bench.person.answers["failed"] = list(answers)
    bench.person.on_ask = asked.append
    return bench, asked


def _refuses(bench: Bench, step_id: str, times: int = 99) -> None:
    bench.world.fails[step_id] = [UserError("The job failed.", host="n2")] * times


def test_that_the_others_go_first_and_it_is_tried_again_before_the_step_that_needs_it() -> None:
    bench, asked = _bench("later")
    _refuses(bench, POINT, times=1)
    assert bench.run() is RunState.DONE
    assert dict(asked[0].ask.choices)["later"] == "n1 and n3 serve"
    begun = [entry.step_id for entry in bench.journal.entries(bench.run_id)
             if entry.kind == "step" and (entry.data or {}).get("state") == "acting"]  # fmt: skip
    assert begun == ["a-n1", POINT, "c-n3", POINT, "d-n1"]


def test_that_it_is_shown_as_put_off_while_the_others_go() -> None:
    bench, _ = _bench("later")
    _refuses(bench, POINT, times=1)
    bench.run()
    during = next(v for v in bench.views if v.steps[2].state is StepState.ACTING)
    assert (during.steps[1].state, during.steps[1].put_off) == (StepState.FAILED, True)
    assert not bench.view.steps[1].put_off


def test_that_a_run_never_ends_without_it() -> None:
    bench, asked = _bench("later", "leave")
    _refuses(bench, POINT)
    assert bench.run() is RunState.LEFT
    assert [one.step_id for one in asked] == [POINT, POINT]
    assert [answer for answer, _ in asked[1].ask.choices] == ["again", "leave"]
    assert bench.states()["c-n3"] == "done"
    assert bench.states()["d-n1"] == "pending"


def test_that_it_is_offered_only_where_the_others_serve_and_says_why_not() -> None:
    bench, asked = _bench("leave", later=replace(_SERVES, when=(is_("n3", "serving"),)))
    _refuses(bench, POINT)
    bench.run()
    assert [answer for answer, _ in asked[0].ask.choices] == ["again", "leave"]
    assert "It can't be put off now: " in asked[0].ask.question


def test_that_before_the_point_there_is_nothing_to_put_off() -> None:
    steps = list(_steps())
    steps[0] = replace(steps[0], later=replace(_SERVES, when=()))
    assert any("stands before any point of no return" in said for said in violations(plan_of(*steps), begun=True))


@pytest.mark.parametrize("until", ["a-n1", POINT, "nowhere"])
def test_that_it_has_to_be_done_before_a_later_step(until: str) -> None:
    steps = _steps(replace(_SERVES, until=until))
    assert any("which is no later step" in said for said in violations(plan_of(*steps), begun=True))


def test_that_no_second_member_of_its_quorum_moves_meanwhile() -> None:
    first, point, other, last = _steps()
    point = replace(point, moves="n2", settles=("n2",))
    other = replace(other, moves="n3", settles=("n3",))
    said = violations(plan_of(first, point, other, last), begun=True)
    assert any("moves n3 while n2 may still be put off" in one for one in said), said


def test_that_a_console_killed_meanwhile_still_knows_it() -> None:
    bench, _ = _bench("later", "leave")
    _refuses(bench, POINT, times=1)
    _refuses(bench, "c-n3", times=1)
    bench.run()
    view = bench.engine().view
    assert view.steps[1].put_off
    assert view.steps[2].state is StepState.FAILED

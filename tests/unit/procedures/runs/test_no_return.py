"""A step of no return: once it was begun nothing of its run is taken back, by nobody; the run can go on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.errors import Refused, UserError
from services.procedures.engine.parts import Policy
from services.procedures.engine.ports import Untouched
from services.procedures.plan.run_model import RunState, StepState
from services.procedures.service.ways import WayCode, ways_of
from tests.unit.procedures.engine_world import Bench, lost, plan_of, switch

POINT = "b-n2"


def _bench(policy: Policy | None = None) -> Bench:
    point = switch("n2", "b", repeatable=True, no_return=True)
    return Bench(plan_of(switch("n1", "a"), point, switch("n3", "c", repeatable=True)), policy=policy)


def _refuses(bench: Bench, step_id: str, times: int = 9) -> None:
    bench.world.fails[step_id] = [UserError("It is not permitted.", host="n2")] * times


def test_that_before_it_a_failed_run_is_taken_back_by_itself() -> None:
    bench = _bench()
    _refuses(bench, "a-n1")
    assert bench.run() is RunState.UNDONE


@pytest.mark.parametrize("failing", [POINT, "c-n3"])
def test_that_from_its_act_on_an_unattended_run_rests_and_goes_on_when_the_fault_is_over(failing: str) -> None:
    bench = _bench()
    _refuses(bench, failing)
    assert bench.run() is RunState.FAILED
    assert bench.world.value("n1", "a") == "ON"
    view = replace(bench.engine().view, live=False)
    assert view.no_return == "Switch b of n2 on"
    assert [way.code for way in ways_of(view)] == [WayCode.RESUME, WayCode.LEAVE]
    bench.world.fails.clear()
    bench.person.answers["failed"] = ["again"]
    assert bench.run() is RunState.DONE


def test_that_undo_is_refused_behind_it_and_changes_nothing() -> None:
    bench = _bench()
    _refuses(bench, "c-n3")
    bench.run()
    done = list(bench.world.done)
    with pytest.raises(Refused, match="passed its point of no return") as raised:
        bench.engine().undo()
    assert "Switch b of n2 on" in raised.value.safe
    assert bench.world.done == done
    assert bench.engine().view.state is RunState.FAILED


def test_that_an_act_whose_answer_was_lost_counts_as_begun() -> None:
    bench = _bench()
    bench.world.fails[f"late {POINT}"] = [lost("n2")]
    bench.world.deaf["n2"] = 10_000
    assert bench.run() is not RunState.UNDONE
    with pytest.raises(Refused):
        bench.engine().undo()


def test_that_a_person_is_not_offered_the_way_back_and_a_wish_for_it_lets_the_run_rest() -> None:
    bench = _bench(Policy("ask", by="ann"))
    _refuses(bench, "c-n3", times=1)
    choices: list[tuple[str, ...]] = []
    bench.person.answers["failed"] = ["undo"]

    def seen(question: object) -> None:
        choices.append(tuple(answer for answer, _ in question.ask.choices))  # type: ignore[attr-defined]

    bench.person.on_ask = seen
    assert bench.run() is RunState.FAILED
    assert choices[0] == ("again", "leave")
    assert bench.world.value("n1", "a") == "ON"
    assert "point of no return" in bench.engine().view.sentence


def test_that_a_step_which_was_never_begun_is_no_point() -> None:
    bench = _bench()
    bench.world.fails["a-n1"] = [UserError("It is not permitted.", host="n1")] * 3
    bench.run()
    view = bench.engine().view
    assert view.no_return == ""
    assert next(one for one in view.steps if one.step.step_id == POINT).state is StepState.PENDING


def _untouched(bench: Bench, times: int = 1) -> None:
    bench.world.fails[POINT] = [Untouched("/etc/mongod.conf, line 3: it cannot be edited.", host="n2")] * times


def test_that_a_point_that_was_refused_before_it_touched_anything_is_not_passed_and_the_run_goes_back() -> None:
    bench = _bench()
    _untouched(bench)
    assert bench.run() is RunState.UNDONE
    view = bench.engine().view
    assert view.no_return == ""
    assert not next(one for one in view.steps if one.step.step_id == POINT).acted
    assert bench.world.value("n1", "a") == "OFF"


def test_that_a_person_is_offered_the_way_back_from_a_point_that_touched_nothing_and_is_told_file_and_line() -> None:
    bench = _bench(Policy("ask", by="ann"))
    _untouched(bench)
    seen: list[object] = []
    bench.person.answers["failed"] = ["undo"]
    bench.person.on_ask = seen.append
    assert bench.run() is RunState.UNDONE
    assert "undo" in dict(seen[0].ask.choices)  # type: ignore[attr-defined]
    assert "/etc/mongod.conf, line 3" in seen[0].ask.question  # type: ignore[attr-defined]


def test_that_a_point_tried_again_after_a_broken_way_stays_passed_though_its_second_try_touched_nothing() -> None:
    bench = _bench()
    bench.world.fails[POINT] = [lost("n2"), Untouched("It is a symbolic link.", host="n2")]
    assert bench.run() is RunState.FAILED
    assert bench.engine().view.no_return == "Switch b of n2 on"
    assert bench.world.value("n1", "a") == "ON"


def test_that_a_point_that_is_passed_after_a_refusal_counts_as_passed() -> None:
    bench = _bench(Policy("ask", by="ann"))
    _untouched(bench)
    bench.person.answers["failed"] = ["again", "leave"]
    _refuses(bench, "c-n3")
    assert bench.run() is RunState.LEFT
    assert bench.engine().view.no_return == "Switch b of n2 on"

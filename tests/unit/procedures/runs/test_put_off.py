"""Past the point of no return a failed step may be put off by a person: what does not need it goes first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.errors import UserError
from services.procedures.engine.parts import Policy
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Later, Risk, Step
from services.procedures.plan.run_model import Question, RunState, StepState
from tests.unit.procedures.engine_world import Bench, Killed, is_, plan_of, switch

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
    assert "It cannot be put off now: " in asked[0].ask.question


def test_that_before_the_point_there_is_nothing_to_put_off() -> None:
    steps = list(_steps())
    steps[0] = replace(steps[0], later=replace(_SERVES, when=()))
    assert any("comes before any point of no return" in said for said in violations(plan_of(*steps), begun=True))


@pytest.mark.parametrize("until", ["a-n1", POINT, "nowhere"])
def test_that_it_has_to_be_done_before_a_later_step(until: str) -> None:
    steps = _steps(replace(_SERVES, until=until))
    assert any("which is not a later step" in said for said in violations(plan_of(*steps), begun=True))


def test_that_no_second_member_of_its_quorum_moves_meanwhile() -> None:
    first, point, other, last = _steps()
    point = replace(point, moves="n2", settles=("n2",))
    other = replace(other, moves="n3", settles=("n3",))
    said = violations(plan_of(first, point, other, last), begun=True)
    assert any("moves n3 while n2 may still be put off" in one for one in said), said


def _waiting_bench(*answers: str, clock: ManualClock | None = None) -> tuple[Bench, list[Question]]:
    """a; the point b; c, which may wait until e; d, which can't do without c; a wait for n1 to be ready; e."""
    steps = (
        switch("n1", "a"),
        switch("n1", "b", repeatable=True, no_return=True),
        switch("n2", "c", repeatable=True, later=Later("e-n1", (), "n1 and n3 serve")),
        switch("n2", "d", repeatable=True, later=Later("e-n1", (), "n1 and n3 serve", behind="c-n2")),
        Step(
            step_id="wait",
            host="",
            title="Wait for n1",
            done="n1 is ready",
            action=WaitFor((is_("n1", "ready"),), "n1"),
            risk=Risk.READS,
            limit_s=3600.0,
            repeatable=True,
        ),
        switch("n1", "e", repeatable=True),
    )
    bench, asked = Bench(plan_of(*steps), policy=Policy("ask", by="ann"), clock=clock), list[Question]()
    bench.person.answers["failed"] = list(answers)
    bench.person.on_ask = asked.append
    return bench, asked


class _Hours(ManualClock):
    """A clock at which something happens at its own time, seconds after the begin."""

    def __init__(self) -> None:
        super().__init__()
        self.begin, self.happens = self.monotonic(), dict[float, Callable[[], None]]()

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        over = super().sleep(seconds, stop)
        for at in sorted(one for one in self.happens if one <= self.monotonic() - self.begin):
            self.happens.pop(at)()
        return over


def _acts(bench: Bench) -> list[str]:
    return [entry.step_id for entry in bench.journal.entries(bench.run_id)
            if entry.kind == "step" and (entry.data or {}).get("state") == "acting"]  # fmt: skip


def test_that_what_is_mended_is_done_while_another_step_waits_and_what_stood_behind_it_too() -> None:
    clock = _Hours()
    bench, asked = _waiting_bench("later", clock=clock)
    _refuses(bench, "c-n2", times=1)
    clock.happens = {
        60.0: lambda: bench.world.settings.update({("n2", "c"): "ON"}),  # a colleague mends it, and starts it
        600.0: lambda: bench.world.settings.update({("n1", "ready"): "ON"}),
    }
    assert bench.run() is RunState.DONE
    assert len(asked) == 1
    assert _acts(bench) == ["a-n1", "b-n1", "c-n2", "wait", "d-n2", "e-n1"]
    done = {one.step.step_id: one.ended for one in bench.view.steps}
    assert (done["d-n2"] or 0) < (done["wait"] or 0)


def test_that_what_fails_again_meanwhile_stays_put_off_and_asks_nobody() -> None:
    clock = _Hours()
    bench, asked = _waiting_bench("later", "leave", clock=clock)
    _refuses(bench, "c-n2")
    clock.happens = {1_000.0: lambda: bench.world.settings.update({("n1", "ready"): "ON"})}
    assert bench.run() is RunState.LEFT
    assert 1 < _acts(bench).count("c-n2") <= 6, "not at every look, and not never"
    assert [one.step_id for one in asked] == ["c-n2", "c-n2"], "once when it failed, once at its own time"
    assert bench.states()["wait"] == "done"


def test_that_a_host_that_is_silent_is_not_tried_meanwhile() -> None:
    clock = _Hours()
    bench, _ = _waiting_bench("later", clock=clock)
    _refuses(bench, "c-n2", times=1)
    clock.happens = {
        1.0: lambda: bench.world.deaf.update(n2=10**6),
        1_000.0: lambda: bench.world.settings.update({("n1", "ready"): "ON"}),
        1_001.0: bench.world.deaf.clear,
    }
    assert bench.run() is RunState.DONE
    assert _acts(bench) == ["a-n1", "b-n1", "c-n2", "wait", "c-n2", "d-n2", "e-n1"]
    done = {one.step.step_id: one.ended for one in bench.view.steps}
    assert (done["c-n2"] or 0) > (done["wait"] or 0)


def test_that_a_console_killed_in_a_try_beside_a_wait_ends_well() -> None:
    for number in range(1, 80):
        clock = _Hours()
        bench, _ = _waiting_bench("later", clock=clock)
        _refuses(bench, "c-n2", times=1)
        clock.happens = {
            20.0: lambda one=bench: one.world.settings.update({("n2", "c"): "ON"}),  # type: ignore[misc]
            60.0: lambda one=bench: one.world.settings.update({("n1", "ready"): "ON"}),  # type: ignore[misc]
        }
        bench.journal.kill_at = number
        try:
            bench.run()
        except Killed:
            bench.journal.kill_at = 0
            assert bench.run() is RunState.DONE, number
        else:
            return
    raise AssertionError("never without a kill")


def test_that_a_console_killed_meanwhile_still_knows_it() -> None:
    bench, _ = _bench("later", "leave")
    _refuses(bench, POINT, times=1)
    _refuses(bench, "c-n3", times=1)
    bench.run()
    view = bench.engine().view
    assert view.steps[1].put_off
    assert view.steps[2].state is StepState.FAILED

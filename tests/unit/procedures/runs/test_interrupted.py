"""What clients can't do while a run goes on, or rests: begun by a step, ended by the one that names it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.errors import UserError
from services.procedures.engine.parts import Policy
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import RunState, RunView
from tests.unit.procedures.engine_world import Bench, plan_of, switch

NOBODY = "nobody reads or writes through n1"
_DOWN = switch("n1", "a", interrupts=NOBODY)
_UP = switch("n3", "c", resumes="a-n1")


def _told(bench: Bench) -> dict[str, tuple[str, ...]]:
    """What is told of an outage at each step's first sight."""
    told: dict[str, tuple[str, ...]] = {}

    def shown(view: RunView) -> None:
        at = "".join("x" if one.state.value in {"done", "undone"} else "." for one in view.steps)
        told[f"{view.state.value} {at}"] = tuple(what for _, what in view.interrupted)

    bench.run_changed = shown  # type: ignore[method-assign]
    return told


def test_that_it_is_told_from_its_step_until_the_one_that_ends_it() -> None:
    bench = Bench(plan_of(_DOWN, switch("n2", "b"), _UP))
    told = _told(bench)
    assert bench.run() is RunState.DONE
    assert told["running x.."] == told["running xx."] == (NOBODY,)
    assert told["running xxx"] == told["done xxx"] == ()


def test_that_it_is_told_where_the_run_rests_and_not_once_it_is_taken_back() -> None:
    bench = Bench(plan_of(_DOWN, switch("n2", "b"), _UP), policy=Policy("ask", by="ann"))
    bench.world.fails["b-n2"] = [UserError("The job failed.", host="n2")]
    bench.person.answers = {"failed": ["undo"]}
    told = _told(bench)
    assert bench.run() is RunState.UNDONE
    assert told["failed x.."] == (NOBODY,)
    assert bench.engine().view.interrupted == ()


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (plan_of(_DOWN), "Step 'a-n1' interrupts, and no later step resumes it."),
        (plan_of(_UP, _DOWN), "Step 'a-n1' interrupts, and no later step resumes it."),
        (plan_of(replace(_DOWN, interrupts=""), _UP), "A step resumes 'a-n1', which interrupts nothing."),
    ],
    ids=["never ended", "ended before", "nothing to end"],
)
def test_that_a_plan_whose_outage_does_not_end_is_not_sound(plan: Plan, said: str) -> None:
    assert said in violations(plan, begun=True)
    assert said not in violations(plan_of(_DOWN, _UP), begun=True)

"""A run that nobody attends does not open an outage in whose middle it would wait for a person."""

from __future__ import annotations

from argparse import Namespace

import pytest

from app.cli.approval_text import coming_lines
from app.cli.commands.plan import refuse_to_rest_in_an_outage
from app.cli.procedure_text import plan_lines, run_lines
from services.errors import BadInput
from services.procedures.journal.run_summary import where_it_stands
from services.procedures.plan.model import Obligation, Risk, Step
from services.procedures.plan.run_model import OpenObligation, RunState, RunView, StepState, StepView
from tests.unit.procedures.engine_world import is_, plan_of, put, switch

_DOWN = switch("n1", "a", interrupts="nobody reads or writes through n1")
_POINT = switch("n1", "b", resumes="a-n1", risk=Risk.IRREVERSIBLE, confirm="n1", no_return=True)
STEPS = (_DOWN, _POINT)


def _options(*confirmed: str, yes: bool = True, json: bool = True) -> Namespace:
    return Namespace(yes=yes, confirm=list(confirmed), json=json)


def test_that_what_is_to_be_typed_in_an_outage_is_asked_for_before_it() -> None:
    with pytest.raises(BadInput) as refused:
        refuse_to_rest_in_an_outage(STEPS, _options())
    assert "nobody reads or writes through n1" in str(refused.value)
    assert "--confirm n1" in refused.value.try_[0]


@pytest.mark.parametrize(
    ("steps", "options"),
    [
        (STEPS, _options("n1")),
        (STEPS, _options(yes=False)),
        ((_POINT,), _options()),
        ((_POINT, _DOWN), _options()),
        ((_DOWN,), _options()),
    ],
    ids=["typed beforehand", "somebody approves", "already away", "typed before", "nothing to type"],
)
def test_that_nothing_else_is_refused(steps: tuple[Step, ...], options: Namespace) -> None:
    refuse_to_rest_in_an_outage(steps, options)


def _view(point: StepState = StepState.PENDING, acted: bool = False) -> RunView:
    duty = Obligation("f:n2", "n2", "n2 is frozen", put("f", "OFF"), (is_("n2", "f", "OFF"),))
    steps = (StepView(_DOWN, StepState.DONE, started=1.0, acted=True), StepView(_POINT, point, acted=acted))
    on = (OpenObligation("9", duty, 1.0),)
    return RunView("9", plan_of(*STEPS), RunState.FAILED, steps, obligations=on, approved=1.0)


def test_that_a_run_at_rest_tells_since_when_clients_are_kept_out() -> None:
    words = "\n".join(run_lines(_view()))
    assert "nobody reads or writes through n1" in words
    assert "nobody reads" not in "\n".join(run_lines(_view(StepState.DONE, acted=True)))


def test_that_a_release_alone_tells_no_step_that_it_does_not_take_back() -> None:
    assert any("Switch a of n1 off" in line for line in coming_lines(_view(), "back"))
    closes = list(coming_lines(_view(), "close"))
    assert any("n2 is frozen" in line for line in closes)
    assert not any("Switch a of n1 off" in line for line in closes)


def test_that_past_the_point_no_way_back_is_named() -> None:
    assert "back with undo 9" in where_it_stands(_view())
    assert "undo" not in where_it_stands(_view(StepState.FAILED, acted=True))


def test_that_a_plan_tells_its_outage_and_what_is_typed_in_it() -> None:
    words = " ".join(" ".join(plan_lines(plan_of(*STEPS), {})).split())
    assert "From step 1 to step 2 nobody reads or writes through n1. It lasts until you type n1" in words
    assert "From step" not in "".join(plan_lines(plan_of(_POINT), {}))

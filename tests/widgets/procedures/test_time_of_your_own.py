"""A time that is told of a plan whose steps ask a person to change servers: no estimate knows how long that takes."""

from __future__ import annotations

from app.cli.procedure_text import plan_lines
from services.procedures.catalogue import procedure_named
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import RunState, RunView, StepState, StepView
from tests.unit.procedures.catalogue.mongodb.test_mongo_rolling_upgrade import _members, facts
from tests.unit.procedures.plans import GOOD
from widgets.procedures.run.approval import plan_facts
from widgets.procedures.words import time_words

WORDS = " without your own work"


def _plan() -> Plan:
    return procedure_named("mongo-rolling-upgrade").plan(facts(*_members()), {"version": "3.2.22"})


def test_that_the_terminal_and_the_window_say_that_your_own_time_is_not_in_it() -> None:
    plan = _plan()
    assert plan.yours == 3
    assert any(WORDS in line and "about" in line for line in plan_lines(plan, {}))
    assert WORDS in plan_facts(plan, {})
    assert WORDS not in plan_facts(GOOD, {})


def test_that_what_is_left_of_a_run_says_it_until_the_last_of_them_is_done() -> None:
    plan = _plan()
    waiting = tuple(StepView(step) for step in plan.steps)
    view = RunView("1", plan, RunState.RUNNING, waiting, started=0.0, live=True)
    assert WORDS in time_words(view, 5.0)
    done = tuple(StepView(step, StepState.DONE) for step in plan.steps[:-1])
    last = RunView("1", plan, RunState.RUNNING, (*done, waiting[-1]), started=0.0, live=True)
    assert WORDS not in time_words(last, 5.0)
    assert "left" in time_words(last, 5.0)

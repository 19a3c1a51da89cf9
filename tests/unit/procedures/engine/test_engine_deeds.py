"""What a person did on a server at a step's word is no act of the run, stays behind its undo, and is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.engine.parts import Policy
from services.procedures.plan.actions import Ask
from services.procedures.plan.model import Plan, Risk, Step
from services.procedures.plan.run_model import Question, RunState
from tests.unit.procedures.engine_world import Bench, is_, plan_of, switch

ALL_BACK = "All changes of the run were rolled back."


def _plan(*, deed: bool = True) -> Plan:
    act = Ask("Install it on n2. Is it done?", deed=deed)
    asked = Step("n2:new", "", "Replace n2", act, done="n2 was replaced", already=(is_("n2", "new"),), risk=Risk.YOU)
    return plan_of(switch("n1", "a"), asked, switch("n3", "b", proof=(is_("n3", "never"),)))


@pytest.mark.parametrize("answer", ["yes", "stop"])
@pytest.mark.parametrize(
    ("new", "deaf", "deed", "sentence"),
    [
        ("ON", 0, True, "Everything that can be rolled back was rolled back. This remains: new of n2 is ON."),
        ("OFF", 0, True, ALL_BACK),
        (
            "ON",
            99,
            True,
            (
                "Everything that can be rolled back was rolled back. This remains: perhaps, because it "
                "was requested: Replace n2."
            ),
        ),
        ("ON", 0, False, ALL_BACK),
    ],
)
def test_that_what_a_person_was_asked_to_do_and_did_is_told_to_stay(
    answer: str, new: str, deaf: int, *, deed: bool, sentence: str
) -> None:
    """Also where they did it and did not say so; not where they took it back by hand."""
    bench = Bench(_plan(deed=deed), policy=Policy("ask"))
    bench.person.answers = {"step": [answer], "failed": ["undo"]}

    def asked(question: Question) -> None:
        if question.topic == "step":
            bench.world.settings["n2", "new"] = new
        else:
            bench.world.deaf["n2"] = deaf

    bench.person.on_ask = asked
    assert bench.run() is RunState.UNDONE
    assert bench.view.sentence == sentence


def test_that_what_was_so_before_the_run_is_not_told_as_left_by_it() -> None:
    bench = Bench(_plan(), policy=Policy("undo"))
    bench.world.settings["n2", "new"] = "ON"
    assert bench.run() is RunState.UNDONE
    assert bench.view.sentence == ALL_BACK


def test_that_a_run_which_did_not_come_so_far_tells_nothing_of_it() -> None:
    plan = _plan()
    bench = Bench(replace(plan, steps=(*plan.steps[2:], *plan.steps[:2])), policy=Policy("undo"))
    assert bench.run() is RunState.UNDONE
    assert bench.view.sentence == ALL_BACK

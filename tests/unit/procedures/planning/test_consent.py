"""What would do more than a person was told waits for that person: in a run, and in an undo."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.engine.parts import Policy
from services.procedures.plan.actions import Ask
from services.procedures.plan.model import Consent, Plan, Risk, Step
from services.procedures.plan.run_model import RunState
from tests.unit.procedures.engine_world import Bench, is_, plan_of, switch

REACHED = is_("n1", "reach")


def _stop() -> Step:
    step = switch("n3", "down")
    assert step.undo is not None
    consent = Consent((REACHED,), "Starting n3 replaces all its data by SST. Type n3 to accept.", "n3")
    return replace(step, undo=replace(step.undo, consent=consent, leaves=(is_("n3", "ist"),)))


def _compare() -> Step:
    ask = Ask("Starting n3 replaces all its data by SST. Type n3 to accept.", "typed", expect="n3", keep="accepted")
    return Step("reach-n3", "", "Compare", ask, already=(REACHED,), risk=Risk.YOU)


def _failing() -> Plan:
    return plan_of(_stop(), switch("n2", "b", proof=(is_("n2", "never"),)))


def _bench(plan: Plan, *, reached: bool, ist: bool = True, confirmed: frozenset[str] = frozenset()) -> Bench:
    bench = Bench(plan, policy=Policy("undo", unattended=True, confirmed=confirmed))
    bench.world.settings["n1", "reach"] = "ON" if reached else "OFF"
    bench.world.settings["n3", "ist"] = "ON" if ist else "OFF"
    return bench


def test_that_an_undo_which_ist_can_serve_asks_nobody() -> None:
    bench = _bench(_failing(), reached=True)
    assert bench.run() is RunState.UNDONE
    assert bench.view.sentence == "All changes of the run were rolled back."
    assert bench.lines("asked") == []


def test_that_an_undo_which_only_an_sst_can_finish_is_not_begun_unless_a_person_accepts_it() -> None:
    bench = _bench(_failing(), reached=False)
    assert bench.run() is RunState.UNDO_FAILED
    assert bench.world.value("n3", "down") == "ON"
    assert "this was not accepted: reach of n1 is OFF. Starting n3 replaces all its data by SST." in bench.view.sentence


def test_that_an_accepted_sst_is_told_at_the_end_of_the_undo_and_not_all_taken_back() -> None:
    bench = _bench(_failing(), reached=False, ist=False, confirmed=frozenset({"n3"}))
    assert bench.run() is RunState.UNDONE
    assert bench.view.sentence == "Everything that can be rolled back was rolled back. This remains: ist of n3 is OFF."


def test_that_an_sst_which_came_unasked_in_an_undo_is_told_all_the_same() -> None:
    bench = _bench(_failing(), reached=True, ist=False)
    assert bench.run() is RunState.UNDONE
    assert bench.view.sentence == "Everything that can be rolled back was rolled back. This remains: ist of n3 is OFF."


def test_that_a_person_at_the_terminal_is_asked_within_the_undo() -> None:
    bench = Bench(_failing(), policy=Policy("ask"))
    bench.world.settings["n3", "ist"] = "ON"
    bench.person.answers = {"failed": ["undo"], "step": ["n3"]}
    assert bench.run() is RunState.UNDONE
    assert bench.world.value("n3", "down") == "OFF"


def test_that_a_question_which_evidence_answers_is_not_asked() -> None:
    bench = _bench(plan_of(_compare()), reached=True)
    assert bench.run() is RunState.DONE
    assert bench.states() == {"reach-n3": "already so"}
    assert dict(bench.view.kept) == {}


def test_that_a_question_says_by_what_it_is_not_answered_and_waits_for_the_typed_word() -> None:
    bench = Bench(plan_of(_compare()), policy=Policy("undo", unattended=True))
    bench.run()
    assert bench.view.state is RunState.WAITING
    assert bench.view.question is not None
    assert bench.view.question.ask.question.startswith("reach of n1 is OFF. Starting n3 replaces")
    bench.world.settings["n1", "reach"] = "ON"  # it came true while nobody answered
    assert bench.run() is RunState.DONE


def test_that_a_typed_word_is_kept_for_the_proof() -> None:
    bench = _bench(plan_of(_compare()), reached=False, confirmed=frozenset({"n3"}))
    assert bench.run() is RunState.DONE
    assert dict(bench.view.kept) == {"accepted": "n3"}

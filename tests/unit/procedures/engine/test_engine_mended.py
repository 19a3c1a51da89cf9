"""A watch rule that broke, holds again and breaks again: each is told, and an open question says what is true now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.procedures.engine.parts import Policy
from services.procedures.engine.watching import ACCEPTED_S, MENDED_S
from services.procedures.plan.model import Breach, WatchRule
from services.procedures.plan.run_model import Question, RunState, RunView
from tests.unit.procedures.engine_world import Bench, ask, is_, plan_of, switch

RULE = WatchRule("QUORUM", is_("n2", "quorum"), "n2 has no quorum: leave n1 running.", Breach.PAUSE)
READY = is_("n1", "ready")


class Night:
    """A run with its person, who sees each question and its words, and may do something to the world first."""

    def __init__(self, *answers: Callable[[Night, Question], str | None], before: bool = False) -> None:
        steps = (*((switch("n1", "a"),) if before else ()), replace(ask(), already=(READY,)), switch("n3", "b"))
        self.bench = Bench(plan_of(*steps, watches=(RULE,)), policy=Policy("ask", by="ann"))
        self.bench.world.settings["n2", "quorum"] = "ON"
        self.bench.person = self  # type: ignore[assignment]
        self.bench.run_changed = self._shown  # type: ignore[method-assign]
        self.shown: list[RunView] = []
        self.texts: list[str] = []
        self._answers = answers
        self._begun = self.bench.clock.monotonic()

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return self.bench.clock.monotonic() - self._begun

    def quorum(self, value: str) -> None:
        """Let it be so from now on."""
        self.bench.world.settings["n2", "quorum"] = value

    def _shown(self, view: RunView) -> None:
        self.shown.append(view)

    def answer(self, run_id: str, question: Question) -> str | None:
        """See Person."""
        del run_id
        assert self.now < 3_600, f"nobody answers: {question}"
        if question.ask.question not in self.texts:
            self.texts.append(question.ask.question)
        return next((given for one in self._answers if (given := one(self, question)) is not None), None)

    def broken(self) -> list[bool]:
        """Of each breach whether it is told that it holds again."""
        return [one.over is not None for one in self.shown[-1].broken]


def at(*happens: tuple[float, str], yes_after: float = 120.0) -> Callable[[Night, Question], str | None]:
    """Let the quorum come and go by the second; the step's question is answered after a while, a breach's at once."""

    def answer(night: Night, question: Question) -> str | None:
        for second, value in happens:
            if night.now >= second:
                night.quorum(value)
        if question.topic == "breach":
            return "go on"
        return "yes" if night.now > yes_after else None

    return answer


def test_that_a_second_breach_is_told_after_the_first_was_seen_to_be_over() -> None:
    night = Night(at((10.0, "OFF"), (30.0, "ON"), (60.0, "OFF"), (90.0, "ON")))
    assert night.bench.run() is RunState.DONE
    assert night.broken() == [True, True]


def test_that_what_flaps_is_told_once() -> None:
    night = Night(at((10.0, "OFF"), (20.0, "ON"), (20.0 + MENDED_S / 2, "OFF"), (60.0, "ON")))
    assert night.bench.run() is RunState.DONE
    assert night.broken() == [True]


def test_that_the_pause_before_the_next_act_says_that_it_holds_again() -> None:
    night = Night(at((10.0, "OFF"), (30.0, "ON")))
    assert night.bench.run() is RunState.DONE
    (asked,) = [text for text in night.texts if text.startswith("QUORUM")]
    assert "Violated before: n2 has no quorum: leave n1 running." in asked
    assert "It holds again now (quorum of n2 is ON)." in asked


def test_that_the_open_question_of_a_breach_changes_with_what_is_true() -> None:
    def answer(night: Night, question: Question) -> str | None:
        if question.topic == "breach":
            night.quorum("ON")
            return "go on" if "It holds again now" in question.ask.question else None
        night.quorum("OFF")
        return "yes" if night.now > 20.0 else None

    night = Night(answer)
    assert night.bench.run() is RunState.DONE
    assert [text.startswith("QUORUM: Violated before") for text in night.texts if "QUORUM" in text] == [False, True]


@pytest.mark.parametrize("mended", [True, False])
def test_that_what_a_person_accepted_is_told_at_once_only_where_it_had_held_again(mended: bool) -> None:
    accepted: list[float] = []

    def answer(night: Night, question: Question) -> str | None:
        if question.topic == "breach":
            accepted.append(night.now)
            return "go on"
        if not accepted:
            night.quorum("OFF")
            return None if night.now < 20.0 else "yes"
        since = night.now - accepted[0]
        night.quorum("ON" if mended and since < 2 * MENDED_S else "OFF")
        return "yes" if since > ACCEPTED_S + 20.0 else None

    night = Night(answer)
    steps: Any = (replace(ask("one"), already=(READY,)), switch("n3", "a"), ask("two"), switch("n3", "b"))
    night.bench = Bench(plan_of(*steps, watches=(RULE,)), policy=Policy("ask", by="ann"))
    night.quorum("ON")
    night.bench.person = night  # type: ignore[assignment]
    night.bench.run_changed = night._shown  # type: ignore[method-assign]
    assert night.bench.run() is RunState.DONE
    began = night.shown[0].started or 0.0
    again = night.shown[-1].broken[1].at - began - accepted[0]
    assert (again < ACCEPTED_S / 2) is mended


def test_that_a_question_says_what_is_true_while_it_stands_open_and_is_the_same_question() -> None:
    def answer(night: Night, question: Question) -> str | None:
        del question
        if night.now > 20.0:
            night.bench.world.settings["n1", "ready"] = "ON"
        return "yes" if night.now > 40.0 else None

    night = Night(answer)
    assert night.bench.run() is RunState.DONE
    assert night.texts == ["ready of n1 is OFF. Is it done?", "ready of n1 is ON. Is it done?"]
    asked = [view.question for view in night.shown if view.question is not None]
    assert {(one.topic, one.step_id, one.since) for one in asked} == {("step", "ask-go", asked[0].since)}
    assert [e.kind for e in night.bench.journal.entries(night.bench.run_id)].count("asked") == 1

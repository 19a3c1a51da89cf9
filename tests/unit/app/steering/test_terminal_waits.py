"""A person who waits at a terminal sees when what stands there was true, and that the wait still lives."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from app.cli.steering import Terminal
from services.discovery.words import clock
from services.procedures.plan.actions import Ask
from services.procedures.plan.run_model import Question, RunState, RunView, StepState, StepView
from tests.unit.app.steering.test_steering_text import GOOD


def _waiting(said: str) -> RunView:
    steps = tuple(StepView(step) for step in GOOD.steps)
    first = replace(steps[0], state=StepState.PROVING, said=said)
    return RunView("1", GOOD, RunState.RUNNING, (first, *steps[1:]))


def test_that_a_wait_is_told_with_the_time_and_again_each_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0 + now[0])
    terminal = Terminal(machine=False, attended=True)
    seen = []
    for _ in range(130):
        terminal.run_changed(_waiting("the server still stops"))
        seen += capsys.readouterr().out.splitlines()
        now[0] += 1.0
    at = [clock(1_700_001_000.0 + later) for later in (0, 60, 120)]
    assert seen == [f"        {moment} the server still stops" for moment in at]


def test_that_a_question_says_when_it_was_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("select.select", lambda *_: ((), (), ()))
    question = Question(Ask("Its data is deleted.", "typed", expect="n2"), "wipe-n2", since=1_700_000_000.0)
    Terminal(machine=False, attended=True).answer("1", question)
    assert f"(asked at {clock(1_700_000_000.0)})\n> " in capsys.readouterr().out

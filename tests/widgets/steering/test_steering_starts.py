"""One engine for a run, whatever is clicked while a worker still starts it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.procedures.engine.control import Control
from services.procedures.plan.run_model import RunState
from tests.widgets.steering_builders import Person, scripted, steering_window
from widgets.procedures.standing_notice import StandingNotice


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Person]:
    """In front of a window that says that run 1, which waits for an answer, is not over."""
    world = scripted()
    with steering_window(qtbot, qapp, tmp_path, world) as first:
        first.runs_to_the_question()
    with steering_window(qtbot, qapp, tmp_path, world) as second:
        second.waits(lambda: "Run 1 is not finished" in notice_of(second).text())
        yield second


def notice_of(person: Person) -> StandingNotice:
    found = person.window.findChild(StandingNotice)
    assert found is not None
    return found


@contextmanager
def slow_start(person: Person, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Engines begin only at the end of this block; the ways they were started for."""
    service, gate, started = person.door.service, threading.Event(), []
    assert service is not None
    start = service.start

    def later(run_id: str, *given: Any, **named: Any) -> Control:
        started.append(named["way"])
        gate.wait(20)
        return start(run_id, *given, **named)

    monkeypatch.setattr(service, "start", later)
    try:
        yield started
    finally:
        gate.set()


def resumes(person: Person, started: list[str]) -> None:
    """Press Resume; return when a worker is at it."""
    person.presses(notice_of(person), "Resume")
    person.waits(lambda: started == ["run"])


def ends(person: Person, state: RunState) -> None:
    person.waits(lambda: person.wizard.run() is not None and person.wizard.run().state is state)
    person.waits(lambda: not person.steering.runs.driven)


def test_that_an_answer_given_while_the_run_is_being_resumed_is_taken_and_starts_nothing_twice(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[object] = []
    person.steering.runs.refused.connect(lambda *told: refused.append(told))
    with slow_start(person, monkeypatch) as started:
        resumes(person, started)
        person.waits(lambda: person.wizard.question.question() is not None)
        person.presses(person.wizard.question, "Yes, continue")
        assert person.steering.runs.driven == ("1",)
    ends(person, RunState.DONE)
    assert (started, refused) == (["run"], [])


def test_that_a_double_click_on_resume_starts_the_run_once_and_says_nothing_of_it(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    person.steering.runs.refused.connect(lambda *given: told.append(given))
    person.steering.runs.failed.connect(told.append)
    resume = person.sees(notice_of(person), "Resume")
    with slow_start(person, monkeypatch) as started:
        person.qtbot.mouseClick(resume, Qt.MouseButton.LeftButton)
        person.qtbot.mouseClick(resume, Qt.MouseButton.LeftButton)
        person.waits(lambda: started == ["run"])
    person.waits(lambda: person.steering.runs.is_open and person.wizard.question.question() is not None)
    person.presses(person.wizard.question, "Yes, continue")
    ends(person, RunState.DONE)
    assert (started, told) == (["run"], [])


def test_that_an_undo_asked_for_while_the_run_is_being_resumed_takes_it_back(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    with slow_start(person, monkeypatch) as started:
        resumes(person, started)
        person.steering.runs.undo("1")
    ends(person, RunState.UNDONE)
    assert started == ["run"]


def test_that_a_release_asked_for_while_the_run_is_being_resumed_says_who_sees_to_it(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    with slow_start(person, monkeypatch) as started:
        resumes(person, started)
        person.window.status.duties.release.click()
        person.waits(lambda: "is running: it switches off what it switched on" in person.words(person.window.messages))
    person.steering.runs.undo("1")
    ends(person, RunState.UNDONE)

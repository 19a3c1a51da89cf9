"""What a worker makes for the window: on another thread, in the order it was asked for, and nothing that is late."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QThread
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.errors import UserError
from widgets.bridge.newest import Newest


class Asked:
    """Questions that take as long as the test lets them: each answers with its name and where it was made."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gates: dict[str, threading.Event] = {}

    def question(self, name: str, *more: str) -> object:
        gate = self.gates[name] = threading.Event()

        def work() -> Iterator[object]:
            self.begun.append(name)
            assert gate.wait(10.0)
            for answer in (name, *more):
                yield answer, threading.current_thread().name

        return work

    def let(self, *names: str) -> None:
        for name in names:
            self.gates[name].set()


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def newest(qapp: QApplication) -> Iterator[Newest]:
    made = Newest()
    yield made
    made.shutdown()
    made.deleteLater()


@pytest.fixture
def told(newest: Newest) -> list[str]:
    """The names answered, in order; each must have been made elsewhere and handed over on the window's thread."""
    names: list[str] = []

    def note(answer: tuple[str, str]) -> None:
        name, thread = answer
        assert thread.startswith("pilothouse-newest")
        assert QThread.currentThread() is newest.thread()
        names.append(name)

    newest.answered.connect(note)
    return names


def test_that_answers_are_made_on_a_worker_and_handed_over_on_the_windows_thread(
    qtbot: QtBot, newest: Newest, asked: Asked, told: list[str]
) -> None:
    newest.ask(asked.question("a"))  # type: ignore[arg-type]
    asked.let("a")
    assert told == []
    qtbot.waitUntil(lambda: not newest.busy(), timeout=5000)
    assert told == ["a"]


def test_that_of_the_questions_that_wait_the_newest_is_asked_and_none_is_starved(
    qtbot: QtBot, newest: Newest, asked: Asked, told: list[str]
) -> None:
    for name in ("a", "b", "c"):
        newest.ask(asked.question(name))  # type: ignore[arg-type]
    asked.let("a", "b", "c")
    qtbot.waitUntil(lambda: not newest.busy(), timeout=5000)
    assert asked.begun == ["a", "c"]
    assert told == ["a", "c"]


def test_that_a_late_answer_to_what_is_no_longer_looked_at_is_dropped(
    qtbot: QtBot, newest: Newest, asked: Asked, told: list[str]
) -> None:
    newest.ask(asked.question("old"))  # type: ignore[arg-type]
    newest.ask(asked.question("new"), afresh=True)  # type: ignore[arg-type]
    asked.let("old", "new")
    qtbot.waitUntil(lambda: not newest.busy(), timeout=5000)
    assert asked.begun == ["old", "new"]
    assert told == ["new"]


def test_that_what_was_forgotten_is_neither_asked_nor_answered(
    qtbot: QtBot, newest: Newest, asked: Asked, told: list[str]
) -> None:
    newest.ask(asked.question("under way"))  # type: ignore[arg-type]
    newest.ask(asked.question("waiting"))  # type: ignore[arg-type]
    newest.forget()
    asked.let("under way", "waiting")
    qtbot.waitUntil(lambda: not newest.busy(), timeout=5000)
    assert told == []
    assert asked.begun == ["under way"]


def test_that_what_would_still_be_looked_up_is_left_when_a_newer_question_waits(
    qtbot: QtBot, newest: Newest, asked: Asked, told: list[str]
) -> None:
    newest.ask(asked.question("known", "read"))  # type: ignore[arg-type]
    newest.ask(asked.question("next", "read next"))  # type: ignore[arg-type]
    asked.let("known", "next")
    qtbot.waitUntil(lambda: not newest.busy(), timeout=5000)
    assert told == ["known", "next", "read next"]


def test_that_a_question_that_fails_is_told_and_the_next_is_answered(
    qtbot: QtBot, newest: Newest, asked: Asked, told: list[str]
) -> None:
    problems: list[UserError] = []
    newest.failed.connect(problems.append)

    def fails() -> Iterator[object]:
        raise UserError("the file is gone")
        yield

    newest.ask(fails)
    qtbot.waitUntil(lambda: not newest.busy(), timeout=5000)
    newest.ask(asked.question("a"))  # type: ignore[arg-type]
    asked.let("a")
    qtbot.waitUntil(lambda: told == ["a"], timeout=5000)
    assert [str(problem) for problem in problems] == ["the file is gone"]


def test_that_nothing_is_handed_over_after_the_end(qapp: QApplication, asked: Asked) -> None:
    newest, told = Newest(), []
    newest.answered.connect(told.append)
    newest.ask(asked.question("a"))  # type: ignore[arg-type]
    asked.let("a")
    newest.shutdown()
    for _ in range(3):
        QApplication.processEvents()
    newest.ask(asked.question("b"))  # type: ignore[arg-type]
    assert told == []
    assert not asked.gates["b"].is_set()
    newest.deleteLater()

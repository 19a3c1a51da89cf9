"""A run that another program drives, a command line say: seen in the open window soon, and steered there only.

The other program is a second service on the same store; that its hold goes with its process is proven in test_journal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.clock import SystemClock
from services.errors import StoreError
from services.history.state.store import StateStore
from services.inventory.model import HostEntry, Inventory
from services.procedures.plan.run_model import RunState
from services.secrets import MemoryVault
from tests.unit.app.steering_service import World
from tests.unit.procedures.engine_world import FixedKey
from tests.widgets import builders as b
from tests.widgets.steering_builders import HOSTS, Person, SoonService, TellingSource, scripted, steering_window
from widgets.bridge import run_watch
from widgets.procedures.standing_notice import StandingNotice

PACE_MS = 100


@pytest.fixture
def world() -> World:
    return scripted()


@pytest.fixture
def person(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Person]:
    assert run_watch.EVERY_MS <= 3000  # "within a few seconds"
    monkeypatch.setattr(run_watch, "EVERY_MS", PACE_MS)
    with steering_window(qtbot, qapp, tmp_path, world) as made:
        yield made


@contextmanager
def another_program(folder: Path, world: World) -> Iterator[SoonService]:
    """A service of its own on the same store."""
    hosts = tuple(HostEntry(name, f"10.0.0.{n}") for n, name in enumerate(HOSTS, 1))
    state = StateStore.open(folder / "state.sqlite")
    service = SoonService(Inventory(hosts=hosts), MemoryVault(), state, SystemClock(), FixedKey())
    service.world = world
    try:
        yield service
    finally:
        service.close()
        state.close()


def begin(service: SoonService) -> str:
    """Begin a run there that soon waits for its person."""
    run_id = service.new_run(service.draft("desync-for-backup", service.gather(), {"node": "db2"}))
    service.start(run_id)
    return run_id


def waiting_row(person: Person) -> None:
    person.waits(lambda: [row.view.state for row in person.cards.runs] == [RunState.WAITING])


def answer(other: SoonService, run_id: str, text: str) -> None:
    """Answer in the other program what its run asks."""
    asked = other.view(run_id).question
    assert asked is not None
    other.answers.give(run_id, text, asked)


def test_that_a_run_begun_elsewhere_appears_with_its_obligation_and_its_story_and_offers_nothing_here(
    person: Person, world: World, tmp_path: Path
) -> None:
    with another_program(tmp_path, world) as other:
        run_id = begin(other)
        waiting_row(person)
        person.window.show_page("procedures")
        (row,) = person.cards.runs
        assert row.view.elsewhere
        assert "controlled by another program" in row._facts.text()
        assert not any(made.isVisible() for made in (row.resume, row.undo, row.leave))
        person.waits(lambda: "db2 desynced" in person.window.status.duties.text())
        assert person.window.status.badge() == "READ ONLY"
        notice = person.window.findChild(StandingNotice)
        assert notice is not None
        assert notice.text() == ""
        person.controller.pump.beat()
        assert f"Run {run_id} starts" in person.controller.events[0].text
        answer(other, run_id, "yes")
        person.waits(lambda: person.cards.runs[0].view.state is RunState.DONE)
        person.waits(lambda: not person.window.status.duties.text())


def test_that_a_run_on_a_cluster_that_is_not_watched_here_is_no_event_of_this_window(
    person: Person, world: World, tmp_path: Path
) -> None:
    """Two inventories in one data folder share the journal of runs."""
    source = person.controller.source
    assert isinstance(source, TellingSource)
    cluster = replace(b.healthy(), cluster_id="another")
    source.newest = b.estate(cluster)
    person.waits(lambda: person.controller.estate.cluster("another") is not None)
    with another_program(tmp_path, world) as other:
        run_id = begin(other)
        waiting_row(person)
        assert source.told == []
        answer(other, run_id, "yes")
        person.waits(lambda: person.cards.runs[0].view.state is RunState.DONE)
        assert source.told == []


def test_that_its_page_follows_it_to_its_end_and_leaves_the_answer_to_that_program(
    person: Person, world: World, tmp_path: Path
) -> None:
    with another_program(tmp_path, world) as other:
        run_id = begin(other)
        waiting_row(person)
        person.steering.show_run(run_id)
        person.waits(lambda: person.wizard.run() is not None)
        assert person.wizard.question.question() is None
        head = person.wizard.head
        assert not any(made.isVisible() for made in (head.go_on, head.pause, head.cancel, head.undo, head.leave))
        assert "control it there" in person.words(head)
        answer(other, run_id, "yes")
        person.waits(lambda: person.wizard.run().state is RunState.DONE)
        assert "control it there" not in person.words(head)


def test_that_a_run_can_be_gone_on_with_here_as_soon_as_that_program_has_let_go(
    person: Person, world: World, tmp_path: Path
) -> None:
    with another_program(tmp_path, world) as other:
        begin(other)
        waiting_row(person)
        person.window.show_page("procedures")
    person.waits(lambda: not person.cards.runs[0].view.elsewhere)
    person.presses(person.cards.runs[0], "Resume")
    person.waits(lambda: person.wizard.question.question() is not None)
    person.presses(person.wizard.question, "Yes, continue")
    person.waits(lambda: person.wizard.run().state is RunState.DONE)


def test_that_a_release_here_of_a_run_driven_elsewhere_is_refused_and_says_where_to_go(
    person: Person, world: World, tmp_path: Path
) -> None:
    with another_program(tmp_path, world) as other:
        begin(other)
        person.waits(lambda: bool(person.window.status.duties.text()))
        waiting_row(person)
        person.window.status.duties.release.click()
        person.waits(lambda: "driven by another program" in person.window.messages.text())
        assert "Control it there" in person.window.messages.text()
        assert world.cluster.hosts["db2"].variables.get("wsrep_desync") == "ON"


def test_that_nothing_is_read_anew_while_nothing_was_written(person: Person, qtbot: QtBot) -> None:
    person.waits(lambda: not person.steering.runs.busy())
    spy = QSignalSpy(person.steering.runs.standing_changed)
    qtbot.wait(8 * PACE_MS)
    assert spy.count() == 0


def test_that_a_store_that_can_not_be_read_is_asked_again_without_a_word(
    person: Person, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    service = person.door.service
    assert service is not None
    person.waits(lambda: not person.steering.runs.busy())
    marks, failed = service.journal.marks, QSignalSpy(person.steering.runs.failed)
    tries: list[int] = []

    def locked() -> dict[str, int]:
        tries.append(1)
        if len(tries) < 3:
            raise StoreError("The state store is locked.")
        return marks()

    monkeypatch.setattr(service.journal, "marks", locked)
    with another_program(tmp_path, world) as other:
        begin(other)
        waiting_row(person)
    assert failed.count() == 0

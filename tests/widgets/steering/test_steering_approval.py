"""A run in the window whose journal does not bind it to an approval given here: shown, asked about, or refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import Binding, RunState
from tests.unit.app.steering_service import World
from tests.widgets.steering_builders import Person, scripted, steering_window


@pytest.fixture
def world() -> World:
    return scripted()


@pytest.fixture
def journal(qtbot: QtBot, qapp: QApplication, tmp_path: Path, world: World) -> Path:
    """The store of a window that was closed while its run waited for the backup's end."""
    with steering_window(qtbot, qapp, tmp_path, world) as person:
        person.runs_to_the_question()
    return tmp_path / "state.sqlite"


@pytest.fixture
def unsealed(journal: Path) -> Path:
    """The same, from before digests existed."""
    with closing(sqlite3.connect(journal)) as base, base:
        for seq, text in base.execute("SELECT seq, data FROM procedure_entry").fetchall():
            data = json.loads(text)
            data.pop("seal")
            bare = json.dumps(data, separators=(",", ":"))
            base.execute("UPDATE procedure_entry SET data = ? WHERE seq = ?", (bare, seq))
    return journal


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, unsealed: Path, world: World) -> Iterator[Person]:
    with steering_window(qtbot, qapp, unsealed.parent, world) as made:
        made.waits(lambda: not made.steering._notice.isHidden())
        yield made


def test_that_a_run_from_before_digests_is_shown_and_goes_on_when_it_is_approved_again(
    person: Person, world: World
) -> None:
    done, asked_before = list(world.cluster.log), len(world.asked)
    assert "was approved before digests existed" in person.steering._notice.text()
    person.presses(person.steering._notice, "Resume")
    person.waits(person.wizard.confirm.isVisible)
    asked = person.words(person.wizard.confirm)
    assert "Approve run 1 again" in asked
    assert "db2 (10.0.0.2)" in asked
    assert world.cluster.log == done
    person.presses(person.wizard.confirm, "Approve and continue")
    person.waits(lambda: len(world.asked) > asked_before and person.wizard.question.question() == world.asked[-1])
    person.presses(person.wizard.question, "Yes, continue")
    service = person.door.service
    assert service is not None
    person.waits(lambda: service.view("1").state is RunState.DONE)


def test_that_an_undo_is_asked_about_in_the_same_way_and_goes_back(person: Person, world: World) -> None:
    person.steering.runs.undo("1")
    person.waits(person.wizard.confirm.isVisible)
    person.presses(person.wizard.confirm, "Approve and continue")
    service = person.door.service
    assert service is not None
    person.waits(lambda: service.view("1").state is RunState.UNDONE)


def test_that_a_changed_journal_is_told_and_offers_no_way(
    qtbot: QtBot, qapp: QApplication, journal: Path, world: World
) -> None:
    with closing(sqlite3.connect(journal)) as base, base:
        base.execute("UPDATE procedure_entry SET data = replace(data, 'wsrep_desync', 'wsrep_on') WHERE seq = 1")
    done = list(world.cluster.log)
    with steering_window(qtbot, qapp, journal.parent, world) as person:
        person.waits(lambda: not person.steering._notice.isHidden())
        notice = person.steering._notice
        assert "was changed after this workstation wrote it" in notice.text()
        assert "Resume" not in [b.text() for b in notice.findChildren(type(notice.later))]
        person.steering.show_cards()
        person.waits(lambda: bool(person.cards.runs))
        (row,) = person.cards.runs
        assert row.view.binding is Binding.CHANGED
        assert not any(made.isVisible() for made in (row.resume, row.undo, row.leave))
        person.steering.show_run("1")
        person.waits(lambda: person.steering._shown is not None)
        person.steering.resume("1")  # as an old picture of the page still would
        person.waits(lambda: "can no longer continue, roll back" in person.words(person.wizard))
    assert world.cluster.log == done

"""Two Primary Components in the window: red while they last, told on every page, settled by a name and a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.discovery.model import NOT_SETTLED, TWO_PRIMARIES, EstateSnapshot, PrimariesApart
from services.facts.model import Problem
from services.history.state.split_log import Split
from services.history.state.store import StateStore
from services.types import Health
from tests.faults.scripted.cluster import CLUSTER
from tests.widgets import builders as b
from tests.widgets.steering_builders import Person, TellingSource, estate, scripted, steering_window
from widgets.common.messages import MessageBar
from widgets.procedures.split_notice import SplitNotice, SplitWords
from widgets.topology.view import TopologyView


def told(code: str) -> EstateSnapshot:
    """The estate with this problem at its cluster."""
    cluster = replace(b.healthy(), cluster_id=CLUSTER)
    return b.estate(replace(cluster, problems=(Problem("galera", "Two of them.", code),), health=Health.BAD))


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Person]:
    """In front of a window whose console saw two Primary Components."""
    with StateStore.open(tmp_path / "state.sqlite") as state:
        state.splits().note(PrimariesApart(CLUSTER, "orders", 100.0, (("db1", "db2"), ("db3",)), "e"), "watch")
    with steering_window(qtbot, qapp, tmp_path, scripted()) as found:
        yield found


def shows(person: Person, snapshot: EstateSnapshot) -> None:
    cast("TellingSource", person.controller.source).newest = snapshot


def test_that_it_is_told_on_every_page_and_settled_by_the_name_and_a_reason(person: Person) -> None:
    notice = person.steering.splits.notice
    assert notice.isHidden()
    shows(person, told(NOT_SETTLED))
    person.waits(lambda: "db1, db2 | db3" in notice.text())
    for page in ("topology", "charts", "journal"):
        person.window.show_page(page)
        assert notice.isVisible()
    person.presses(notice, "Settle…")
    QTest.keyClicks(notice.reason, "db3 was emptied")
    assert not notice.yes.isEnabled()
    QTest.keyClicks(notice.typed, "order")
    assert not notice.yes.isEnabled()
    QTest.keyClicks(notice.typed, "s")
    person.presses(notice, "Settle it")
    person.waits(notice.isHidden)
    shows(person, estate())
    with StateStore.open(person.door.folder / "state.sqlite") as state:
        (story,) = state.splits().all()
    assert (story.settled_by, story.settled_words) == ("ada@desk", "db3 was emptied")


def test_that_every_page_tells_it_while_they_last_though_the_first_look_kept_nothing_yet(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with steering_window(qtbot, qapp, tmp_path, scripted()) as person:
        notice = person.steering.splits.notice
        reads: list[tuple[Split, ...]] = []
        kept = person.door.open_splits

        def counted() -> tuple[Split, ...]:
            reads.append(kept())
            return reads[-1]

        monkeypatch.setattr(person.door, "open_splits", counted)
        shows(person, told(TWO_PRIMARIES))
        person.waits(lambda: bool(reads))
        assert notice.isHidden()  # a story is kept from the second look on
        with StateStore.open(person.door.folder / "state.sqlite") as state:
            state.splits().note(PrimariesApart(CLUSTER, "orders", 100.0, (("db1", "db2"), ("db3",)), "e"), "watch")
        shows(person, told(TWO_PRIMARIES))
        person.waits(lambda: "db1, db2 | db3" in notice.text())
        person.window.show_page("charts")
        assert notice.isVisible()


def test_that_esc_goes_back_and_what_was_typed_is_forgotten(qtbot: QtBot) -> None:
    notice = SplitNotice()
    qtbot.addWidget(notice)
    story = SplitWords("uuid", "orders", "orders: two of them.")
    notice.show_splits((story,))
    notice.ask(story)
    notice.reason.setText("why")
    notice.typed.setText("orders")
    assert notice.yes.isEnabled()
    with qtbot.assertNotEmitted(notice.settle_wanted):
        qtbot.keyClick(notice, Qt.Key.Key_Escape)
    assert notice.question.isHidden() or not notice.question.isVisibleTo(notice)
    notice.ask(story)
    assert (notice.reason.text(), notice.typed.text(), notice.yes.isEnabled()) == ("", "", False)
    notice.show_splits(())
    assert notice.isHidden()


def test_that_the_drawing_says_it_in_red_while_they_last(qtbot: QtBot) -> None:
    view = TopologyView()
    qtbot.addWidget(view)
    (cluster,) = told(TWO_PRIMARIES).clusters
    view.show_snapshot(cluster, {}, b.AT)
    bar = view.findChild(MessageBar)
    assert bar is not None
    assert "Two of them." in bar.text()

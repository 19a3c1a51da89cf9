"""What is mended in a host's connection, where it is told: the inspector's button, the drawing's menu."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.facts.model import NodeFacts, Problem
from services.types import Reach
from tests.widgets.fake_sources import settle
from tests.widgets.steering.test_steering_window import menu_of
from tests.widgets.steering_builders import Person, scripted, steering_window

pytestmark = pytest.mark.qt_log_ignore("does not support", extend=True)  # the off-screen platform's own menus


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Person]:
    with steering_window(qtbot, qapp, tmp_path, scripted()) as made:
        yield made


def _problem_of(person: Person, host: str, code: str, reach: Reach) -> str:
    """Let a host have a problem of this code; return its node's id, which is chosen."""
    person.window.tree.hosts_change = True
    estate = person.controller.estate
    (cluster,) = estate.clusters
    node = next(n for n in cluster.nodes if n.host == host)
    facts = replace(node.facts or NodeFacts(host, 0.0, reach), problems=(Problem("ssh", "It says why.", code),))
    nodes = tuple(replace(n, reach=reach, facts=facts) if n is node else n for n in cluster.nodes)
    person.controller._on_snapshot(replace(estate, clusters=(replace(cluster, nodes=nodes),)))
    person.controller.select_node(node.node_id)
    settle(person.controller)
    return node.node_id


@pytest.mark.parametrize(
    ("code", "reach"),
    [("host-key-unknown", Reach.NONE), ("auth-failed", Reach.NONE), ("auth-failed", Reach.SQL_ONLY)],
)
def test_that_the_connection_is_mended_where_the_inspector_says_that_it_must_be(
    person: Person, code: str, reach: Reach
) -> None:
    node_id = _problem_of(person, "db2", code, reach)
    asked = QSignalSpy(person.window.tree.edit_host_requested)
    person.presses(person.window.inspector, "Edit the connection of")
    assert asked.at(0) == [node_id]


def test_that_the_drawings_menu_asks_a_silent_host_again_and_mends_its_connection(person: Person) -> None:
    node_id = _problem_of(person, "db2", "host-key-unknown", Reach.NONE)
    tree = person.window.tree
    asked, edited = QSignalSpy(tree.retry_requested), QSignalSpy(tree.edit_host_requested)
    for words in ("Retry", "Edit the connection of"):
        menu = menu_of(person, "db2")
        action = next(a for a in menu.actions() if a.text().startswith(words))
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    assert (asked.at(0), edited.at(0)) == ([node_id], [node_id])


def test_that_the_drawings_menu_of_a_whole_node_offers_its_connection_and_no_retry(person: Person) -> None:
    person.window.tree.hosts_change = True
    menu = menu_of(person, "db2")
    texts = [action.text() for action in menu.actions()]
    menu.hide()
    assert not [text for text in texts if text.startswith("Retry")]
    assert texts[-1].startswith("Edit the connection of")

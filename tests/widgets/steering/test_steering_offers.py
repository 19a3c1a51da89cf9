"""Tree and drawing offer the same procedures, by mouse and by keys. On the real service over scripted hosts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QTreeView
from pytestqt.qtbot import QtBot

from services.discovery.families.galera.kind import GALERA
from services.discovery.families.single.kind import UNKNOWN
from services.discovery.model import SPARE, ClusterSnapshot
from services.facts.model import NodeFacts
from services.procedures.catalogue import all_procedures
from services.procedures.service.offers import fitting, fitting_cluster, why_none_fits, why_not
from services.types import Reach
from tests.unit.app.steering_service import World
from tests.widgets import builders as b
from tests.widgets import builders_facts as f
from tests.widgets.builders_procedures import OF_LOST, OF_MEMBERS
from tests.widgets.fake_sources import FakeRecording, open_window
from tests.widgets.steering_builders import Person, scripted, steering_window
from widgets.inventory.tree import EstateTree

pytestmark = pytest.mark.qt_log_ignore("does not support", extend=True)  # the off-screen platform's own menus

ABOUTS = tuple(procedure.about for procedure in all_procedures() if procedure.about.fits(GALERA))
HOST_ACTIONS = 2


@pytest.fixture
def world() -> World:
    return scripted()


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, tmp_path: Path, world: World) -> Iterator[Person]:
    with steering_window(qtbot, qapp, tmp_path, world) as made:
        yield made


@pytest.fixture
def tree(qtbot: QtBot, qapp: QApplication) -> EstateTree:
    made = EstateTree()
    qtbot.addWidget(made)
    made.show_snapshot(b.estate(b.healthy()))
    made.resize(232, 700)
    made.show()
    return made


def rows(tree: EstateTree) -> QTreeView:
    view = tree.findChild(QTreeView)
    assert view is not None
    return view


def index_of(view: QTreeView, name: str) -> QModelIndex:
    model = view.model()
    tops = [model.index(i, 0) for i in range(model.rowCount())]
    every = [*tops, *(model.index(i, 0, top) for top in tops for i in range(model.rowCount(top)))]
    return next(index for index in every if index.data() == name)


def open_menu() -> QMenu:
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def texts(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def right_click(tree: EstateTree, name: str) -> QMenu:
    view = rows(tree)
    at = view.visualRect(index_of(view, name)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=at)
    mouse, place = QContextMenuEvent.Reason.Mouse, view.viewport().mapToGlobal(at)
    QApplication.sendEvent(view.viewport(), QContextMenuEvent(mouse, at, place))
    return open_menu()


def press(menu: QMenu, part: str) -> None:
    action = next(a for a in menu.actions() if part in a.text())
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def in_the_drawing(person: Person, host: str) -> list[str]:
    canvas = person.window.topology.canvas
    cluster = person.controller.cluster()
    assert cluster is not None
    middle = canvas.centre_of(next(n.node_id for n in cluster.nodes if n.host == host))
    assert middle is not None
    at, mouse = middle.toPoint(), QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(canvas.viewport(), QContextMenuEvent(mouse, at, canvas.viewport().mapToGlobal(at)))
    menu = open_menu()
    found = texts(menu)
    menu.close()
    return found


# -- the tree --------------------------------------------------------------------------------------------------------
def test_that_a_nodes_row_offers_what_the_drawing_offers_and_fills_it_in(person: Person) -> None:
    drawn = in_the_drawing(person, "db2")
    menu = right_click(person.window.tree, "db2")
    assert texts(menu) == [*drawn, "Add a host…"]
    assert any("out of flow control" in text for text in drawn)
    press(menu, "out of flow control")
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    assert person.window.page() == "procedures"
    assert person.wizard.stages.form.rows["node"].text() == "db2"


def test_that_a_clusters_row_offers_what_fits_any_of_its_nodes_and_leaves_the_node_to_choose(person: Person) -> None:
    cluster = person.controller.cluster()
    assert cluster is not None
    menu = right_click(person.window.tree, cluster.name)
    found = texts(menu)
    assert [text for text in found if "flow control" in text or "one at a time" in text]
    assert not any("all nodes went down" in text for text in found)
    assert found[-2:] == ["All procedures…", "Add a host…"]
    press(menu, "out of flow control")
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    assert person.steering._flow._host == ""
    assert person.steering._flow.cluster == cluster.cluster_id


def test_that_all_procedures_leads_to_the_cards(person: Person) -> None:
    press(right_click(person.window.tree, "db1"), "All procedures")
    assert person.window.page() == "procedures"
    assert person.cards.isVisible()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows itself makes a menu request of these keys")
@pytest.mark.parametrize("place", ["tree", "drawing"])
def test_that_shift_f10_opens_the_menu_of_what_is_marked_and_the_keys_choose_from_it(
    person: Person, place: str
) -> None:
    tree, canvas = person.window.tree, person.window.topology.canvas
    person.controller.select_node("db3")
    (rows(tree) if place == "tree" else canvas).setFocus()
    handle = person.window.windowHandle()
    QTest.keyClick(handle, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    menu = open_menu()
    assert any("out of flow control" in text for text in texts(menu))
    for _ in range(10):
        active = menu.activeAction()
        if active is not None and "out of flow control" in active.text():
            break
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    assert person.wizard.stages.form.rows["node"].text() == "db3"


def test_that_the_menu_key_opens_the_marked_rows_menu_beside_it_not_under_the_pointer(person: Person) -> None:
    view = rows(person.window.tree)
    person.controller.select_node("db2")
    row = view.visualRect(index_of(view, "db2"))
    by_key = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(view, QContextMenuEvent(by_key, QPoint(3, 3), view.mapToGlobal(QPoint(3, 3))))
    menu = open_menu()
    assert menu.pos().y() == view.viewport().mapToGlobal(row.bottomLeft()).y()
    assert any("out of flow control" in text for text in texts(menu))
    menu.close()


def test_that_the_past_offers_no_procedure_and_says_how_to_leave_it(person: Person) -> None:
    person.controller._moment = 100.0
    menu = right_click(person.window.tree, "db2")
    assert texts(menu) == ["This is the past: press End to return to the present", "All procedures…", "Add a host…"]
    assert not menu.actions()[0].isEnabled()
    menu.close()
    person.controller._moment = None


# -- what fits a cluster ---------------------------------------------------------------------------------------------
def names(cluster: ClusterSnapshot, *others: ClusterSnapshot) -> set[str]:
    return {about.name for about in fitting_cluster(ABOUTS, cluster, b.estate(cluster, *others))}


def test_that_a_whole_cluster_is_offered_what_fits_its_nodes_and_a_spare_host_something_to_join() -> None:
    whole, spare = b.healthy(), _spare()
    assert names(whole) == OF_MEMBERS
    assert names(whole, spare) == {*OF_LOST, *OF_MEMBERS}
    assert names(spare, whole) == OF_LOST, (
        "a node that was stopped before we looked is no more than a host that stands by"
    )


def test_that_a_node_whose_host_says_that_no_server_runs_is_offered_its_return_though_nobody_saw_it_up() -> None:
    """The console was opened after it went down: that others name it makes it no spare, and its host says the rest."""
    whole, spare = b.healthy(), _spare().nodes[0]
    stopped = replace(spare, node_id="db3", name="db3", host="db3", role="", seen_by=())
    assert names(replace(whole, nodes=(*whole.nodes[:2], stopped))) >= OF_LOST
    assert names(replace(whole, nodes=(*whole.nodes[:2], replace(stopped, role=SPARE)))) == OF_MEMBERS | OF_LOST


def test_that_a_cluster_without_a_primary_is_offered_to_be_started_only() -> None:
    cluster = b.healthy()
    down = tuple(replace(n, state="", component="", reach=Reach.SSH_ONLY, facts=None) for n in cluster.nodes)
    assert names(replace(cluster, components=(), nodes=down)) == {"bootstrap-after-crash"}


def _silent(*seen_by: str) -> ClusterSnapshot:
    """Return three members of which db3 does not answer us; `seen_by` count it as one of them."""
    whole = b.healthy()
    node = next(n for n in whole.nodes if n.name == "db3")
    node = replace(node, reach=Reach.NONE, uuid_history=("an incarnation",), seen_by=seen_by)
    others = (replace(n, seen_by=("db1", "db2")) for n in whole.nodes if n.name != "db3")
    return replace(whole, nodes=(*others, node))


def test_that_a_member_which_the_others_count_is_not_offered_to_be_brought_back() -> None:
    (about,) = (about for about in ABOUTS if about.name == "add-node")
    assert "add-node" in names(_silent())
    assert "add-node" not in names(_silent("db1", "db2"))
    assert fitting((about,), _silent("db1", "db2"), _silent("db1", "db2").nodes[-1]) == ()


def test_that_a_count_from_outside_the_primary_component_keeps_no_member_up() -> None:
    split = _silent("db2")
    primary = replace(split.components[0], members=("db1",), observers=("db1",))
    island = replace(split.components[0], component_id="island", primary=False, observers=("db2",))
    assert "add-node" in names(replace(split, components=(primary, island)))


def test_that_an_asynchronous_tree_is_offered_nothing_yet() -> None:
    assert names(b.tree_with_broken()) == set()


def _alone(reach: Reach, facts: NodeFacts | None) -> ClusterSnapshot:
    alone = b.single()
    return replace(alone, nodes=tuple(replace(n, reach=reach, facts=facts) for n in alone.nodes[:1]))


def _spare() -> ClusterSnapshot:
    machine = replace(f.machine_facts(), process_state="", process_pid=None, unit_state="inactive/dead")
    return _alone(Reach.SSH_ONLY, NodeFacts("alone", b.AT, Reach.SSH_ONLY, machine=machine))


@pytest.mark.parametrize(
    "other",
    [
        _alone(Reach.NONE, None),
        _alone(Reach.NOT_TRIED, NodeFacts("alone", b.AT, Reach.NOT_TRIED)),
        _alone(Reach.SQL_ONLY, NodeFacts("alone", b.AT, Reach.SQL_ONLY, server=f.server_facts("alone"))),
        _alone(Reach.SSH_ONLY, NodeFacts("alone", b.AT, Reach.SSH_ONLY, machine=f.machine_facts())),
        _alone(Reach.FULL, replace(f.facts("alone"), galera=None)),
    ],
    ids=["never answered", "not tried", "SQL alone", "serves, SQL refused", "serves"],
)
def test_that_a_host_that_may_serve_or_was_never_heard_is_no_spare(other: ClusterSnapshot) -> None:
    assert names(other, b.healthy()) == set()
    assert "add-node" not in names(b.healthy(), other)


def test_that_what_is_no_galera_cluster_is_told_so_and_no_other_is_taken_in_its_place() -> None:
    assert why_none_fits(b.healthy(), ABOUTS[0]) == ""
    assert why_none_fits(_spare(), ABOUTS[0]) == ""
    assert why_none_fits(None, ABOUTS[0]) == ""
    tree = b.tree_with_broken()
    assert f"and {tree.name} is not one" in why_none_fits(tree, ABOUTS[0])
    assert why_none_fits(_alone(Reach.FULL, replace(f.facts("alone"), galera=None)), ABOUTS[0])


def _dark() -> ClusterSnapshot:
    """A cluster as it is written down, of which no server has answered since the window opened."""
    silent = _alone(Reach.SSH_ONLY, replace(f.facts("alone"), galera=None, server=None, reach=Reach.SSH_ONLY))
    nodes = (*silent.nodes, *(replace(node, node_id="other", name="other") for node in silent.nodes))
    return replace(silent, kind=UNKNOWN, name="orders", nodes=nodes)


def test_that_of_one_host_that_never_answered_no_procedure_says_what_it_is_not() -> None:
    silent = replace(_alone(Reach.NONE, NodeFacts("alone", b.AT, Reach.NONE)), kind=UNKNOWN)
    said = f"The kind of {silent.name} is not known: no host answered."
    assert set(whys(silent)) == {about.name for about in ABOUTS}
    assert set(whys(silent, b.healthy()).values()) == {said}
    assert why_none_fits(silent, ABOUTS[0]) == said


def _unheard(cluster: ClusterSnapshot) -> ClusterSnapshot:
    """The cluster while nobody of it has answered over any way."""
    nodes = tuple(
        replace(node, reach=Reach.NONE, facts=NodeFacts(node.host, b.AT, Reach.NONE), state="", component="")
        for node in cluster.nodes
    )
    return replace(cluster, nodes=nodes, components=())


def test_that_a_written_cluster_of_which_no_host_has_answered_is_offered_nothing_and_every_card_says_so() -> None:
    said = "The kind of orders is not known: none of its hosts has answered."
    assert whys(_unheard(_dark())) == {about.name: said for about in ABOUTS}
    assert names(_unheard(_dark())) == set()


def test_that_a_galera_cluster_of_yesterday_of_which_no_host_has_answered_yet_is_not_started() -> None:
    cluster = _unheard(b.healthy())
    said = f"No host of {cluster.name} has answered: there is nothing to plan from."
    assert whys(cluster) == {about.name: said for about in ABOUTS}
    assert names(cluster) == set()


def test_that_of_silent_hosts_without_a_cluster_none_may_be_a_dead_one() -> None:
    hosts = tuple(replace(_unheard(_spare()), cluster_id=f"host:{name}", name=name) for name in ("db1", "db2"))
    unknown = tuple(replace(host, kind=UNKNOWN) for host in hosts)
    assert whys(*unknown)["bootstrap-after-crash"] == "The kind of db1 is not known: no host answered."


def test_that_a_cluster_that_was_dead_before_the_window_opened_can_be_started_from_its_card() -> None:
    dark = _dark()
    assert why_none_fits(dark, ABOUTS[0]) == ""
    not_yet = "No server of orders answers: its cluster is not known yet."
    said = whys(dark)
    assert "bootstrap-after-crash" not in said
    assert set(said) == {about.name for about in ABOUTS} - {"bootstrap-after-crash"}
    assert set(said.values()) == {not_yet}


def test_that_hosts_without_a_cluster_none_of_which_serves_may_be_a_dead_cluster() -> None:
    others = tuple(replace(_spare(), cluster_id=f"host:{name}", name=name) for name in ("db2", "db3"))
    assert "bootstrap-after-crash" not in whys(_spare(), *others)
    assert "bootstrap-after-crash" in whys(_spare())
    assert "bootstrap-after-crash" in whys(_spare(), b.healthy())


def test_that_servers_that_answer_and_are_no_galera_are_not_started_as_one() -> None:
    serving = replace(_alone(Reach.FULL, replace(f.facts("alone"), galera=None)), kind=UNKNOWN)
    assert "bootstrap-after-crash" in whys(serving)


def whys(cluster: ClusterSnapshot, *others: ClusterSnapshot) -> dict[str, str]:
    said = {about.name: why_not(about, cluster, b.estate(cluster, *others)) for about in ABOUTS}
    return {name: why for name, why in said.items() if why}


def test_that_each_procedure_that_does_not_fit_says_why_and_what_fits_says_nothing() -> None:
    cluster, spare = b.healthy(), _spare()
    primary = f"{cluster.name} has a Primary Component now: this procedure is for a cluster without one."
    nobody = f"No node of {cluster.name} is down, and no watched host could join it."
    assert whys(cluster) == {**dict.fromkeys(OF_LOST, nobody), "bootstrap-after-crash": primary}
    assert whys(cluster, spare) == {"bootstrap-after-crash": primary}
    down = tuple(replace(n, state="", component="", reach=Reach.SSH_ONLY, facts=None) for n in cluster.nodes)
    lost = whys(replace(cluster, components=(), nodes=down))
    seen = f"{cluster.name} has no Primary Component now: restore it first."
    assert lost == dict.fromkeys((*OF_LOST, *OF_MEMBERS), seen)
    donors = replace(cluster, nodes=tuple(replace(n, state="Donor/Desynced", code="donor") for n in cluster.nodes))
    assert whys(donors)["rolling-restart"] == f"No node of {cluster.name} is known to be Synced now."
    outside = f"{spare.name} is in no cluster. Choose the cluster in the tree first."
    assert set(whys(spare, cluster)) == set(names(cluster, spare)) - OF_LOST | {"bootstrap-after-crash"}
    assert set(whys(spare, cluster).values()) == {outside}


def test_that_a_card_that_fits_nothing_in_sight_is_muted_without_a_button_and_the_keys_begin_at_one_that_fits(
    person: Person,
) -> None:
    person.window.show_page("procedures")
    cards = {card.about.name: card for card in person.cards.cards}
    person.waits(lambda: not cards["add-node"].can_begin())
    why = "No node of orders is down, and no watched host could join it."
    assert why in person.words(cards["add-node"])
    assert not cards["add-node"].open_button.isVisible()
    assert cards["rolling-restart"].open_button.isVisible()
    muted, lively = (cards[name].findChildren(QLabel)[0] for name in ("add-node", "rolling-restart"))
    assert muted.palette().windowText() != lively.palette().windowText()
    person.cards.focus_first()
    focused = QApplication.focusWidget()
    assert next(card for card in person.cards.cards if card.isAncestorOf(focused)).can_begin()


def test_that_the_palette_says_of_what_does_not_fit_why_and_begins_nothing(person: Person) -> None:
    entry = next(e for e in person.steering.offers.entries() if e.entry_id == "run:bootstrap-after-crash")
    assert "has a Primary Component now" in entry.detail
    assert person.steering.offers.take(entry.entry_id)
    assert "has a Primary Component now" in person.window.messages.text()
    assert not person.steering._flow.active


def test_that_cards_beside_an_asynchronous_tree_begin_nothing_and_say_why(person: Person, qtbot: QtBot) -> None:
    person.window.show_page("procedures")
    page = person.steering._pages.cards
    qtbot.waitUntil(lambda: bool(page.cards), timeout=5000)
    first = next(card for card in page.cards if card.about.name == "rolling-restart")
    assert first.open_button is not None
    assert first.open_button.isEnabled()
    spy = QSignalSpy(page.procedure_chosen)
    page.refuse({card.about.name: "These procedures are for a Galera cluster." for card in page.cards})
    assert not first.open_button.isVisible()
    first.chosen.connect(lambda _name: None)
    first._choose()
    assert spy.count() == 0
    assert "for a Galera cluster" in first.accessibleDescription()
    page.refuse({})
    assert first.open_button.isVisible()


# -- without a service -----------------------------------------------------------------------------------------------
def test_that_a_recordings_tree_offers_neither_procedures_nor_changes_of_its_hosts(
    qtbot: QtBot, qapp: QApplication
) -> None:
    with open_window(qapp, FakeRecording()) as opened:
        opened.controller.look_at(opened.controller.source.span()[1])
        menu = right_click(opened.window.tree, "db2")
        assert texts(menu) == ["Add a host…"]
        menu.close()


def test_that_where_hosts_can_change_a_nodes_row_offers_it_and_a_clusters_row_does_not(
    tree: EstateTree,
) -> None:
    tree.hosts_change = True
    menu = right_click(tree, "db1")
    assert texts(menu) == ["Edit the connection of db1…", "Stop watching db1…", "Add a host…"]
    spy = QSignalSpy(tree.edit_host_requested)
    press(menu, "Edit the connection")
    assert spy.at(0) == ["db1"]
    menu = right_click(tree, b.healthy().name)
    assert texts(menu) == ["Add a host…"]
    menu.close()

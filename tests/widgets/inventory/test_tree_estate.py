"""The estate tree: in place, keeping what a person opened and chose."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester, QSignalSpy
from PySide6.QtWidgets import QApplication, QTreeView
from pytestqt.qtbot import QtBot

from services.discovery.model import EstateSnapshot
from services.types import Health, Reach
from tests.widgets import builders as b
from widgets.common.look.theme import apply_theme
from widgets.inventory.tree import EstateTree
from widgets.inventory.tree_model import EstateModel, cluster_entry, node_entry


@pytest.fixture
def tree(qtbot: QtBot, qapp: QApplication) -> EstateTree:
    apply_theme(qapp, "light")
    made = EstateTree()
    qtbot.addWidget(made)
    made.resize(232, 700)
    made.show()
    return made


def rows(tree: EstateTree) -> QTreeView:
    view = tree.findChild(QTreeView)
    assert view is not None
    return view


def estate() -> EstateSnapshot:
    return b.estate(b.sst_running(), b.tree_with_broken())


def test_that_the_model_keeps_qts_rules_while_clusters_and_nodes_come_and_go() -> None:
    model = EstateModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    orders, billing = b.sst_running(), b.tree_with_broken()
    for clusters in (
        (orders,),
        (orders, billing),
        (replace(orders, name="zoo"), billing),
        (billing, replace(orders, nodes=orders.nodes[2:])),
        (replace(orders, nodes=tuple(replace(n, name=f"x{i}") for i, n in enumerate(reversed(orders.nodes)))),),
        (),
        (billing,),
    ):
        model.show_snapshot(b.estate(*clusters))
        shown = [model.index(i, 0).data() for i in range(model.rowCount())]
        assert shown == sorted(c.name for c in clusters)
        for i, cluster in enumerate(sorted(clusters, key=lambda c: c.name)):
            parent = model.index(i, 0)
            names = [model.index(j, 0, parent).data() for j in range(model.rowCount(parent))]
            assert names == sorted(n.name for n in cluster.nodes)
    assert tester.model() is model


def test_that_an_equal_snapshot_touches_no_row(tree: EstateTree) -> None:
    tree.show_snapshot(estate())
    model = rows(tree).model()
    spies = [QSignalSpy(s) for s in (model.dataChanged, model.rowsInserted, model.rowsRemoved, model.modelReset)]
    tree.show_snapshot(estate())
    assert [spy.count() for spy in spies] == [0, 0, 0, 0]


def test_that_a_changed_state_repaints_one_row_only(tree: EstateTree) -> None:
    tree.show_snapshot(b.estate(b.healthy()))
    spy = QSignalSpy(rows(tree).model().dataChanged)
    nodes = b.healthy().nodes
    tree.show_snapshot(b.estate(replace(b.healthy(), nodes=(replace(nodes[0], state="Joined"), *nodes[1:]))))
    assert spy.count() == 1


def test_that_new_clusters_are_open_and_closed_ones_stay_closed(tree: EstateTree) -> None:
    tree.show_snapshot(estate())
    view = rows(tree)
    first = view.model().index(0, 0)
    assert view.isExpanded(first)
    view.setExpanded(first, False)
    tree.show_snapshot(estate())
    assert not view.isExpanded(view.model().index(0, 0))


def test_that_the_selection_stays_while_rows_come_above_it(tree: EstateTree) -> None:
    tree.show_snapshot(b.estate(b.sst_running()))
    tree.select("db3")
    tree.show_snapshot(estate())
    assert tree.selected() == "db3"


def test_that_select_from_outside_emits_nothing_and_a_key_does(tree: EstateTree, qtbot: QtBot) -> None:
    tree.show_snapshot(b.estate(b.healthy()))
    spy = QSignalSpy(tree.node_selected)
    tree.select("db1")
    assert spy.count() == 0
    with qtbot.waitSignal(tree.node_selected) as chosen:
        qtbot.keyClick(rows(tree), Qt.Key.Key_Down)
    assert chosen.args == ["db2"]


def test_that_a_clusters_row_selects_the_cluster(tree: EstateTree, qtbot: QtBot) -> None:
    tree.show_snapshot(b.estate(b.healthy()))
    view = rows(tree)
    with qtbot.waitSignal(tree.cluster_selected) as chosen:
        point = view.visualRect(view.model().index(0, 0)).center()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert chosen.args == [b.STATE_UUID]


def test_that_the_arrow_closes_a_cluster_without_selecting_it(tree: EstateTree, qtbot: QtBot) -> None:
    tree.show_snapshot(b.estate(b.healthy()))
    view = rows(tree)
    spy = QSignalSpy(tree.cluster_selected)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(14, 14))
    assert not view.isExpanded(view.model().index(0, 0))
    assert spy.count() == 0


def test_that_enter_activates_a_node(tree: EstateTree, qtbot: QtBot) -> None:
    tree.show_snapshot(b.estate(b.healthy()))
    tree.select("db2")
    with qtbot.waitSignal(tree.node_activated) as activated:
        qtbot.keyClick(rows(tree), Qt.Key.Key_Return)
    assert activated.args == ["db2"]


def test_that_rows_are_28_pixels_high(tree: EstateTree) -> None:
    tree.show_snapshot(b.estate(b.healthy()))
    view = rows(tree)
    assert view.visualRect(view.model().index(0, 0)).height() == 28


def test_that_a_node_says_its_state_its_lag_or_its_silence() -> None:
    cluster = b.sst_running()
    details = {n.name: node_entry(cluster, n, b.AT).detail for n in cluster.nodes}
    assert details["db1"] == "Synced · writer"
    assert details["db4"] == "Joiner 36 %"
    assert details["report1"] == "lag 0.4 s"
    killed = b.killed()
    gone = killed.node("db2")
    assert gone is not None
    assert node_entry(killed, gone, b.AT).detail == "no answer 14 s"
    assert node_entry(killed, gone, b.AT).hint.endswith("(signal 9)")


def test_that_a_stopped_server_says_since_when_it_is_silent_and_not_when_its_host_was_asked() -> None:
    gone = b.killed().node("db2")
    assert gone is not None
    assert gone.facts is not None
    heard = replace(gone.facts, at=b.AT - 0.2, ssh_at=b.AT - 0.2, sql_at=b.AT - 40)
    stopped = replace(gone, state="not running", reach=Reach.SSH_ONLY, facts=heard)
    assert node_entry(b.killed(), stopped, b.AT).detail == "not running 40 s"
    never = replace(stopped, facts=replace(heard, sql_at=None))
    assert node_entry(b.killed(), never, b.AT).detail == "not running"


def test_that_a_stale_node_says_its_age() -> None:
    cluster = b.healthy()
    assert node_entry(cluster, cluster.nodes[0], b.AT + 20).detail == "21 s ago"


def test_that_a_cluster_says_what_binds_it() -> None:
    assert cluster_entry(b.healthy()).detail == "Galera 10.11"
    assert cluster_entry(b.tree_with_broken()).detail == "async, 1 + 4"
    assert cluster_entry(b.single()).detail == "MariaDB 10.11"


def test_that_the_first_node_found_by_number_comes_first() -> None:
    model = EstateModel()
    model.show_snapshot(b.estate(b.two_segments(12)))
    parent = model.index(0, 0)
    assert [model.index(i, 0, parent).data() for i in range(12)] == [f"db{i + 1}" for i in range(12)]


def test_that_a_screen_reader_hears_name_and_state() -> None:
    model = EstateModel()
    model.show_snapshot(b.estate(b.healthy()))
    index = model.index(0, 0, model.index(0, 0, QModelIndex()))
    assert index.data(int(Qt.ItemDataRole.AccessibleTextRole)).startswith("db1, Synced · writer")


def test_that_unhealthy_clusters_carry_their_health() -> None:
    assert cluster_entry(b.partitioned()).health is Health.BAD


def test_that_the_row_of_a_cluster_with_too_few_nodes_says_so() -> None:
    cluster = replace(b.healthy(), expected=5, size=4, health=Health.WARN)
    entry = cluster_entry(cluster)
    assert (entry.detail, entry.health) == ("4 of 5 expected nodes", Health.WARN)
    assert cluster_entry(replace(cluster, expected=4)).detail == "Galera 10.11"

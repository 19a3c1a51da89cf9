"""A host whose connection was edited stays chosen while it is asked anew, and the keys stay where they were."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtWidgets import QApplication, QPushButton, QTreeView
from pytestqt.qtbot import QtBot

from app.vault import SessionVault
from app.window.hosts.add_host import AddHost
from app.window.hosts.host_actions import HostActions
from services.discovery.model import EstateSnapshot
from services.inventory.model import HostEntry, Inventory, SqlAccess, SshAccess
from services.inventory.toml_save import save_inventory
from services.sampling.watcher import Watcher
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, FakeOps, OpenWindow, open_window
from widgets.inventory.connection_dialog import ConnectionDialog

HOSTS = tuple(HostEntry(f"db{n}", f"10.20.0.1{n}", SshAccess("dba"), SqlAccess("monitor")) for n in (1, 2, 3))


class NotingWatcher:
    """Stands in for the watcher: it only notes."""

    watches_any = True

    def __init__(self) -> None:
        self.replaced: list[str] = []

    def entry(self, name: str) -> HostEntry | None:
        return next((host for host in HOSTS if host.name == name), None)

    def replace(self, name: str, entry: HostEntry) -> None:
        self.replaced.append(name)


class Edited:
    """A live window on three hosts, with the menu of its tree."""

    def __init__(self, qtbot: QtBot, made: OpenWindow, source: FakeLiveSource, folder: Path) -> None:
        self.qtbot, self.made, self.source = qtbot, made, source
        self.path = folder / "inventory.toml"
        save_inventory(Inventory(hosts=HOSTS), self.path)
        self.ops, self.watcher = FakeOps(), NotingWatcher()
        ops = cast("Any", self.ops)
        hosts = AddHost(made.window, ops, SessionVault(), self.path, made.window)
        self.actions = HostActions(made.controller, cast("Watcher", self.watcher), made.window, hosts, ops, made.window)

    def choose(self, name: str) -> str:
        node = next(n for c in self.source.newest.clusters for n in c.nodes if n.name == name)
        self.made.controller.select_node(node.node_id)
        self.made.window.tree.focus_rows()
        return node.node_id

    def save(self, node_id: str) -> None:
        self.made.window.tree.edit_host_requested.emit(node_id)
        dialog = self.made.window.findChild(ConnectionDialog)
        assert dialog is not None
        with self.qtbot.waitActive(dialog):
            dialog.activateWindow()
        next(one for one in dialog.findChildren(QPushButton) if one.text() == "Save").click()
        self.ops.do("save-host")
        with self.qtbot.waitActive(self.made.window):
            self.made.window.activateWindow()
        self.ops.do("rewatch")

    def see(self, estate: EstateSnapshot) -> None:
        self.source.newest = estate
        self.made.controller.pump.beat()
        self.made.settle()

    def chosen(self) -> str:
        node = self.made.controller.node()
        return node.name if node is not None else ""


def seen(*, without: str = "", as_of: tuple[str, str] = ("", "")) -> EstateSnapshot:
    cluster = b.healthy()
    nodes = (replace(n, host=n.name) for n in cluster.nodes if n.name != without)
    nodes = (replace(n, node_id=as_of[1]) if n.name == as_of[0] else n for n in nodes)
    return b.estate(replace(cluster, nodes=tuple(nodes)))


@pytest.fixture
def edited(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Edited]:
    source = FakeLiveSource(seen())
    with open_window(qapp, source) as made:
        with qtbot.waitActive(made.window):
            made.window.activateWindow()
        yield Edited(qtbot, made, source, tmp_path)


def test_that_an_edited_host_stays_chosen_while_it_is_asked_anew(edited: Edited) -> None:
    edited.save(edited.choose("db2"))
    assert edited.watcher.replaced == ["db2"]
    edited.see(seen(without="db2"))
    assert edited.chosen() == ""
    edited.see(seen(as_of=("db2", "db2 as it is written")))
    assert edited.chosen() == "db2"
    edited.see(seen())
    assert edited.chosen() == "db2"
    assert edited.made.window.tree.selected() == edited.choose("db2")


def test_that_the_keys_stay_in_the_tree_while_an_edited_host_is_asked_anew(edited: Edited) -> None:
    edited.save(edited.choose("db2"))
    rows = edited.made.window.tree.findChild(QTreeView)
    for estate in (seen(without="db2"), seen(as_of=("db2", "written")), seen()):
        edited.see(estate)
        assert QApplication.focusWidget() is rows


def test_that_somebody_who_chose_another_host_meanwhile_keeps_that_one(edited: Edited) -> None:
    edited.save(edited.choose("db2"))
    edited.see(seen(without="db2"))
    edited.choose("db3")
    edited.see(seen())
    assert edited.chosen() == "db3"


def test_that_a_host_which_does_not_come_back_leaves_the_choice_to_the_window(edited: Edited) -> None:
    edited.save(edited.choose("db2"))
    edited.see(seen(without="db2"))
    edited.source.present += 31.0
    edited.see(seen(without="db2"))
    assert edited.chosen() in {"db1", "db3"}

"""'Stop watching' asks, and can be taken back; 'Add a host' in a recording. The watcher here only notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.hosts.host_actions import HostActions, put_back, remove_from_file
from services.inventory.model import ClusterEntry, HostEntry, Inventory, SshAccess
from services.inventory.toml_file import load_inventory
from services.inventory.toml_save import save_inventory
from services.sampling.watcher import Watcher
from tests.widgets import builders as b
from tests.widgets.fake_sources import FakeLiveSource, FakeOps
from tests.widgets.window.test_window_hosts import Hosts, window
from widgets.inventory.connection_dialog import ConnectionDialog

__all__ = ["window"]

DB1 = HostEntry("db1", "10.20.0.11", SshAccess("dba"))
DB2 = HostEntry("db2", "10.20.0.12", SshAccess("dba"))
BEFORE = Inventory(hosts=(DB1, DB2), clusters=(ClusterEntry("orders", ("db1",)), ClusterEntry("pay", ("db1", "db2"))))


class NotingWatcher:
    """Stands in for the watcher: it only notes."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.watches_any = True

    def remove(self, name: str) -> None:
        self.told.append(("remove", name))

    def watch_again(self, entry: HostEntry) -> None:
        self.told.append(("again", entry.name))


class Stopping:
    """A window of two hosts whose menu was used."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts, self.watcher = hosts, NotingWatcher()
        save_inventory(BEFORE, hosts.path)
        estate = FakeLiveSource(b.estate(b.healthy())).snapshot()
        node = estate.clusters[0].nodes[0]
        shown = replace(estate.clusters[0], nodes=(replace(node, host="db1"),))
        controller = cast("Any", SimpleNamespace(estate=replace(estate, clusters=(shown,))))
        self.ops: FakeOps = hosts.ops
        self.actions = HostActions(
            controller, cast("Watcher", self.watcher), hosts.window, hosts.hosts, cast("Any", self.ops), hosts.window
        )
        hosts.window.tree.remove_host_requested.emit(node.node_id)

    def names(self) -> list[str]:
        return [host.name for host in load_inventory(self.hosts.path).hosts]


@pytest.fixture
def hosts(window: Any, tmp_path: Path) -> Hosts:
    return Hosts(window, tmp_path / "inventory.toml")


@pytest.fixture
def stopping(qtbot: QtBot, qapp: QApplication, hosts: Hosts) -> Stopping:
    hosts.window.show()
    return Stopping(hosts)


def test_that_nothing_is_deleted_before_the_person_agrees(stopping: Stopping) -> None:
    assert stopping.actions.question.isVisible()
    assert "db1" in stopping.actions.question.title.text()
    assert str(stopping.hosts.path) in stopping.actions.question.text.text()
    assert (stopping.ops.waiting, stopping.names()) == ({}, ["db1", "db2"])
    stopping.actions.question.no.click()
    assert (stopping.ops.waiting, stopping.names(), stopping.watcher.told) == ({}, ["db1", "db2"], [])


def test_that_a_host_that_is_not_watched_any_more_can_be_watched_again(stopping: Stopping) -> None:
    stopping.actions.question.yes.click()
    stopping.ops.do("unwatch")
    assert (stopping.names(), stopping.watcher.told) == (["db2"], [("remove", "db1")])
    assert stopping.actions.undo.isVisible()
    stopping.actions.undo.yes.click()
    stopping.ops.do("rewatch")
    assert sorted(stopping.names()) == ["db1", "db2"]
    assert stopping.watcher.told[-1] == ("again", "db1")
    assert not stopping.actions.undo.isVisible()


@pytest.mark.parametrize("others", [True, False])
def test_that_nothing_is_said_of_other_hosts_where_there_are_none(stopping: Stopping, others: bool) -> None:
    stopping.watcher.watches_any = others
    stopping.actions.question.yes.click()
    stopping.ops.do("unwatch")
    assert stopping.actions.undo.text.text().startswith("While another host" if others else "")
    assert bool(stopping.actions.undo.text.text()) is others


def test_that_an_undo_brings_the_clusters_back_and_keeps_what_was_written_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "inventory.toml"
    save_inventory(BEFORE, path)
    before = remove_from_file(path, "db1")
    assert before is not None
    db3 = HostEntry("db3", "10.20.0.13", SshAccess("dba"))
    now = load_inventory(path)
    save_inventory(replace(now, hosts=(*now.hosts, db3)), path)
    assert put_back(path, "db1", before) == DB1
    found = load_inventory(path)
    assert sorted(host.name for host in found.hosts) == ["db1", "db2", "db3"]
    assert {c.name: set(c.seeds) for c in found.clusters} == {"orders": {"db1"}, "pay": {"db1", "db2"}}


def test_that_a_recording_says_that_its_hosts_are_fixed_and_writes_nothing(hosts: Hosts) -> None:
    hosts.hosts.fixed = True
    hosts.window.tree.add_host_requested.emit()
    assert "This is a recording: its hosts are fixed. Nothing was written." in hosts.window.messages.text()
    assert "without demo or replay" in hosts.window.messages.text()
    assert hosts.window.findChildren(ConnectionDialog) == []
    assert not hosts.path.exists()

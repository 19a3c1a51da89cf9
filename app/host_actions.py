"""What a person does to a host that is watched: edit how it is reached, stop watching it. Live estates only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject

from app.add_host import AddHost
from app.controller import Controller
from app.main_window import MainWindow
from services.inventory.model import HostEntry, Inventory
from services.sampling.watcher import Watcher
from services.types import Health
from services.words import tr
from widgets.bridge.ops import Ops


class HostActions(QObject):
    """Joins tree and topology with the connection dialog, the inventory's file and the watcher."""

    def __init__(
        self, controller: Controller, watcher: Watcher, window: MainWindow, hosts: AddHost, ops: Ops, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._watcher = watcher
        self._window = window
        self._hosts = hosts
        self._ops = ops
        window.tree.hosts_change = True
        window.tree.edit_host_requested.connect(self._edit_node)
        window.tree.remove_host_requested.connect(self._remove_node)
        window.topology.edit_host_requested.connect(self._edit)
        hosts.changed.connect(self._changed)

    def _edit_node(self, node_id: str) -> None:
        self._edit(self._host_of(node_id))

    def _edit(self, host: str) -> None:
        entry = self._watcher.entry(host)
        if entry is None:
            self._window.messages.say(
                Health.WARN,
                (tr("This node is known from its cluster only: no way to its host is watched yet."),),
                tr("Dismiss"),
            )
            return
        self._hosts.edit(entry)

    def _changed(self, host: str, entry: HostEntry) -> None:
        watcher = self._watcher
        self._ops.run("rewatch", lambda: watcher.replace(host, entry), _nothing)

    def _remove_node(self, node_id: str) -> None:
        host, watcher, path = self._host_of(node_id), self._watcher, self._hosts.path

        def work() -> bool:
            was_written = remove_from_file(path, host)
            if was_written:
                watcher.remove(host)
            return was_written

        self._ops.run("unwatch", work, lambda was_written: self._removed(host, was_written))

    def _removed(self, host: str, was_written: bool) -> None:
        told = (
            tr(
                "{host} is no longer in the inventory. While another host of its cluster is watched it is found again.",
                host=host,
            )
            if was_written
            else tr(
                "{host} is not in the inventory: it was found from a host of its cluster, and is watched with it.",
                host=host,
            )
        )
        self._window.messages.say(Health.WARN, (told,), tr("Dismiss"))

    def _host_of(self, node_id: str) -> str:
        nodes = (node for cluster in self._controller.estate.clusters for node in cluster.nodes)
        return next((node.host for node in nodes if node.node_id == node_id), "")


def without_host(inventory: Inventory, name: str) -> Inventory:
    """Return the inventory without this host, and without the clusters that had no other seed."""
    clusters = tuple(replace(c, seeds=tuple(s for s in c.seeds if s != name)) for c in inventory.clusters)
    hosts = tuple(host for host in inventory.hosts if host.name != name)
    return replace(inventory, hosts=hosts, clusters=tuple(c for c in clusters if c.seeds))


def remove_from_file(path: Path, name: str) -> bool:
    """Take a host out of the inventory's file; return False when it does not stand there."""
    from services.inventory.toml_file import load_inventory
    from services.inventory.toml_save import save_inventory

    inventory = load_inventory(path)
    if inventory.host(name) is None:
        return False
    save_inventory(without_host(inventory, name), path)
    return True


def _nothing(_result: object) -> None:
    """A change that shows by itself: the host's next answer is drawn."""

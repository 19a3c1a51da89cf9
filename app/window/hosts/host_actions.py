"""What a person does to a host that is watched: edit how it is reached, stop watching it. Live estates only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject

from app.window.controller import Controller
from app.window.hosts.add_host import AddHost
from app.window.main_window import MainWindow
from services.discovery.naming import shown_names
from services.discovery.words import names
from services.i18n import tr
from services.inventory.model import HostEntry, Inventory
from services.sampling.watcher import Watcher
from services.types import Health, Reach
from widgets.bridge.ops import Ops
from widgets.common.commands.palette import PaletteEntry
from widgets.procedures.run.confirm_strip import ConfirmStrip

_RETRY, _EDIT, _STOP = "retry-host:", "edit-host:", "stop-host:"


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
        window.tree.retry_requested.connect(self.retry)
        window.topology.can_retry = True
        window.topology.retry_requested.connect(self.retry)
        hosts.changed.connect(self._changed)
        self.question, self.undo = ConfirmStrip(), ConfirmStrip(kind="primary")
        self.undo.no.setText(tr("&Dismiss"))
        for strip in (self.question, self.undo):
            window.add_notice(strip)

    def retry(self, key: str) -> None:
        """Ask a node, or all of a cluster's hosts that don't answer, again at once."""
        estate = self._controller.estate
        cluster = estate.cluster(key)
        nodes = cluster.nodes if cluster is not None else tuple(n for c in estate.clusters for n in c.nodes)
        asked = [n for n in nodes if n.host and (n.node_id == key or (cluster is not None and n.reach is Reach.NONE))]
        if asked:
            self._watcher.try_now([node.host for node in asked])
            self._controller.say_for_now(tr("Asking {names} again…", names=names(sorted(n.name for n in asked))))

    def entries(self) -> Iterator[PaletteEntry]:
        """Yield what the palette offers for the chosen host, and for its cluster where hosts are silent."""
        from services.procedures.service.offers import (
            can_be_retried,  # what stands behind procedures comes after the first hosts
        )

        cluster, node = self._controller.cluster(), self._controller.node()
        again = [(node.node_id, node.name)] if node is not None and node.host and can_be_retried(node) else []
        silent = [n.node_id for n in cluster.nodes if n.host and n.reach is Reach.NONE] if cluster is not None else []
        if cluster is not None and silent and silent != [key for key, _name in again]:  # else it would ask the same
            again.append((cluster.cluster_id, cluster.name))
        for key, name in again:
            yield PaletteEntry(f"{_RETRY}{key}", "action", tr("Retry {name} now", name=name))
        if node is None or not node.host:
            return
        edit, stop = tr("Edit the connection of {name}…", name=node.name), tr("Stop watching {name}…", name=node.name)
        yield PaletteEntry(f"{_EDIT}{node.node_id}", "action", edit)
        yield PaletteEntry(f"{_STOP}{node.node_id}", "action", stop)

    def take(self, entry_id: str) -> bool:
        """Do what was chosen in the palette; return whether it was one of these."""
        acts = {_RETRY: self.retry, _EDIT: self._edit_node, _STOP: self._remove_node}
        for prefix, act in acts.items():
            if entry_id.startswith(prefix):
                act(entry_id.removeprefix(prefix))
                return True
        return False

    def _edit_node(self, node_id: str) -> None:
        self._edit(self._host_of(node_id))

    def _edit(self, host: str) -> None:
        entry = self._watcher.entry(host)
        if entry is None:
            self._window.messages.say(
                Health.WARN,
                (tr("This node is known only from its cluster: there is no connection to its host yet."),),
                tr("Dismiss"),
            )
            return
        self._hosts.edit(entry)

    def _changed(self, host: str, entry: HostEntry) -> None:
        watcher, node = self._watcher, self._controller.node()
        if node is not None and node.host == host:
            self._controller.follow(entry.name)
        self._ops.run("rewatch", lambda: watcher.replace(host, entry), _nothing)

    def _remove_node(self, node_id: str) -> None:
        """Ask first: how the host is reached stands in the inventory only."""
        host = self._host_of(node_id)
        name = shown_names(self._controller.estate).get(host, host)
        self.undo.dismiss()
        self.question.ask(
            tr("Stop watching {host}?", host=name),
            (
                tr("Its connection is removed from the inventory {path}; its recorded history is kept.",
                   path=self._hosts.path),
                tr("Nothing is changed on the host."),
            ),
            tr("&Stop watching"),
            lambda _reason: self._remove(host, name),
        )  # fmt: skip

    def _remove(self, host: str, name: str) -> None:
        watcher, path = self._watcher, self._hosts.path

        def work() -> Inventory | None:
            before = remove_from_file(path, host)
            if before is not None:
                watcher.remove(host)
            return before

        self._ops.run("unwatch", work, lambda before: self._removed(host, name, before))

    def _removed(self, host: str, name: str, before: Inventory | None) -> None:
        if before is None:
            words = tr(
                "{host} is not in the inventory: it was discovered through a host of its cluster and is "
                "watched with it.",
                host=name,
            )
            self._window.messages.say(Health.WARN, (words,), tr("Dismiss"))
            return
        others = tr(
            "While another host of its cluster is watched, it is drawn as 'not asked yet'; in a declared "
            "network of the cluster it is discovered again."
        )
        title = tr("{host} is no longer in the inventory.", host=host)
        sentences = (others,) if self._watcher.watches_any else ()
        self.undo.ask(title, sentences, tr("&Undo: watch it again"), lambda _reason: self._watch_again(host, before))

    def _watch_again(self, host: str, before: Inventory) -> None:
        watcher, path = self._watcher, self._hosts.path

        def work() -> None:
            watcher.watch_again(put_back(path, host, before))

        self._ops.run("rewatch", work, _nothing)

    def _host_of(self, node_id: str) -> str:
        nodes = (node for cluster in self._controller.estate.clusters for node in cluster.nodes)
        return next((node.host for node in nodes if node.node_id == node_id), "")


def without_host(inventory: Inventory, name: str) -> Inventory:
    """Return the inventory without this host, and without the clusters that had no other seed."""
    clusters = tuple(replace(c, seeds=tuple(s for s in c.seeds if s != name)) for c in inventory.clusters)
    hosts = tuple(host for host in inventory.hosts if host.name != name)
    return replace(inventory, hosts=hosts, clusters=tuple(c for c in clusters if c.seeds))


def remove_from_file(path: Path, name: str) -> Inventory | None:
    """Take a host out of the inventory's file; return what stood there, None when the host does not stand there."""
    from services.inventory.toml_file import load_inventory
    from services.inventory.toml_save import save_inventory

    inventory = load_inventory(path)
    if inventory.host(name) is None:
        return None
    save_inventory(without_host(inventory, name), path)
    return inventory


def put_back(path: Path, name: str, before: Inventory) -> HostEntry:
    """Write a host that was taken out into the file again, and into its clusters; return how it is reached.

    What was written meanwhile stays; a host that stands there under its name by now is left as it is.
    """
    from services.inventory.toml_file import load_inventory
    from services.inventory.toml_save import save_inventory, with_host

    now, entry = load_inventory(path), before.host(name)
    assert entry is not None
    if (known := now.host(name)) is not None:
        return known
    clusters = {cluster.name: cluster for cluster in now.clusters}
    for old in before.clusters:
        if name in old.seeds:
            kept = clusters.get(old.name, replace(old, seeds=()))
            clusters[old.name] = replace(kept, seeds=(*kept.seeds, name))
    save_inventory(replace(with_host(now, entry), clusters=tuple(clusters.values())), path)
    return entry


def _nothing(_result: object) -> None:
    """A change that shows by itself: the host's next answer is drawn."""

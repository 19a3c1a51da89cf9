"""The estate as a tree model that changes in place: rows that stay keep their expansion and selection."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from enum import IntEnum

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView, kind_words, stands_alone
from services.types import ClusterKind, Health, Reach
from services.words import tr
from widgets.common.nodes import (
    age_of,
    is_silent,
    is_stale,
    last_answer,
    missing_words,
    natural_key,
    ordered_nodes,
    silence_words,
    state_word,
)
from widgets.common.plain import plain
from widgets.common.text import format_age, format_duration, one_line, short_id

Index = QModelIndex | QPersistentModelIndex


class Role(IntEnum):
    """What the delegate asks a row for."""

    ENTRY = int(Qt.ItemDataRole.UserRole) + 1


@dataclass(frozen=True, slots=True)
class Entry:
    """What one row shows. `node_id` is '' for a cluster. `silent`: a host of it gives no answer at all."""

    cluster_id: str
    node_id: str
    name: str
    detail: str
    health: Health
    faded: bool = False
    hint: str = ""
    silent: bool = False


@dataclass(slots=True, eq=False)
class _Cluster:
    entry: Entry
    serial: int  # what node rows carry to name their cluster: a number, never a pointer that could dangle
    nodes: list[Entry] = field(default_factory=list)


class EstateModel(QAbstractItemModel):
    """Clusters, and below each its nodes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clusters: list[_Cluster] = []
        self._serials = itertools.count(1)  # 0 is the serial of "no cluster above": a cluster's own row

    # -- content -------------------------------------------------------------------------------------------------
    def show_snapshot(self, estate: EstateSnapshot) -> None:
        """Take a snapshot; only rows that came, went or changed are told to the view."""
        wanted = sorted(
            estate.clusters, key=lambda c: (stands_alone(c), natural_key(c.name), c.cluster_id)
        )  # a host that stands alone is often one that waits to be used: clusters come before it
        ids = [c.cluster_id for c in wanted]
        for row in reversed(range(len(self._clusters))):
            if self._clusters[row].entry.cluster_id not in ids:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self._clusters[row]
                self.endRemoveRows()
        for row, cluster in enumerate(wanted):
            self._merge_cluster(row, cluster, estate.at)

    def _merge_cluster(self, row: int, cluster: ClusterSnapshot, at: float) -> None:
        entry = cluster_entry(cluster)
        here = next((i for i, c in enumerate(self._clusters) if c.entry.cluster_id == cluster.cluster_id), None)
        if here is not None and here != row:
            # A renamed cluster changes its place in the order: it moves with all it holds.
            self.beginMoveRows(QModelIndex(), here, here, QModelIndex(), row)
            self._clusters.insert(row, self._clusters.pop(here))
            self.endMoveRows()
        elif here is None:
            self.beginInsertRows(QModelIndex(), row, row)
            self._clusters.insert(row, _Cluster(entry, next(self._serials)))
            self.endInsertRows()
        held = self._clusters[row]
        if held.entry != entry:
            held.entry = entry
            index = self.index(row, 0)
            self.dataChanged.emit(index, index)
        self._merge_nodes(row, held, [node_entry(cluster, n, at) for n in ordered_nodes(cluster)])

    def _merge_nodes(self, row: int, held: _Cluster, wanted: list[Entry]) -> None:
        parent = self.index(row, 0)
        ids = {e.node_id for e in wanted}
        for i in reversed(range(len(held.nodes))):
            if held.nodes[i].node_id not in ids:
                self.beginRemoveRows(parent, i, i)
                del held.nodes[i]
                self.endRemoveRows()
        for i, entry in enumerate(wanted):
            at = next((j for j in range(i, len(held.nodes)) if held.nodes[j].node_id == entry.node_id), None)
            if at is None:
                self.beginInsertRows(parent, i, i)
                held.nodes.insert(i, entry)
                self.endInsertRows()
                continue
            if at != i:
                self.beginMoveRows(parent, at, at, parent, i)
                held.nodes.insert(i, held.nodes.pop(at))
                self.endMoveRows()
            if held.nodes[i] != entry:
                held.nodes[i] = entry
                index = self.index(i, 0, parent)
                self.dataChanged.emit(index, index)

    def entry(self, index: Index) -> Entry | None:
        """Return what a row shows."""
        if not index.isValid():
            return None
        if index.internalId():
            cluster = self._by_serial(index.internalId())
            return cluster.nodes[index.row()] if cluster and index.row() < len(cluster.nodes) else None
        return self._clusters[index.row()].entry if index.row() < len(self._clusters) else None

    def find(self, key: str) -> QModelIndex:
        """Return the row of a node id or cluster id; an invalid index when there is none."""
        for row, cluster in enumerate(self._clusters):
            if cluster.entry.cluster_id == key:
                return self.index(row, 0)
            for i, node in enumerate(cluster.nodes):
                if node.node_id == key:
                    return self.index(i, 0, self.index(row, 0))
        return QModelIndex()

    def _by_serial(self, serial: int) -> _Cluster | None:
        return next((c for c in self._clusters if c.serial == serial), None)

    # -- Qt's side -----------------------------------------------------------------------------------------------
    def index(self, row: int, column: int = 0, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's own default
        """Return the index of a row; node rows carry their cluster's serial as internal id."""
        if column != 0 or row < 0:
            return QModelIndex()
        if not parent.isValid():
            return self.createIndex(row, 0, 0) if row < len(self._clusters) else QModelIndex()
        if parent.internalId():
            return QModelIndex()
        cluster = self._clusters[parent.row()]
        return self.createIndex(row, 0, cluster.serial) if row < len(cluster.nodes) else QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        """Return the cluster's index for a node row."""
        cluster = self._by_serial(index.internalId()) if index.isValid() else None
        return QModelIndex() if cluster is None else self.createIndex(self._clusters.index(cluster), 0, 0)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many rows stand below `parent`."""
        if not parent.isValid():
            return len(self._clusters)
        if parent.internalId():
            return 0
        return len(self._clusters[parent.row()].nodes)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 1: a row paints name and detail itself."""
        del parent
        return 1

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Return a row's name, tooltip, spoken text or its whole entry."""
        entry = self.entry(index)
        if entry is None:
            return None
        if role == Role.ENTRY:
            return entry
        if role == int(Qt.ItemDataRole.DisplayRole):
            return entry.name
        if role == int(Qt.ItemDataRole.ToolTipRole):
            return plain(entry.hint)
        if role == int(Qt.ItemDataRole.AccessibleTextRole):
            return ", ".join(p for p in (entry.name, entry.detail, entry.hint) if p)
        return None


def cluster_entry(cluster: ClusterSnapshot) -> Entry:
    """Return the row of a cluster: what binds it, its version, and a shape only when not all is well."""
    short = ".".join(cluster.version.split(".")[:2])
    if cluster.kind is ClusterKind.GALERA:
        detail = f"Galera {short}".strip()
    elif cluster.kind is ClusterKind.UNKNOWN:
        detail = ""
    elif cluster.kind is ClusterKind.ASYNC:
        replicas = {e.replica_id for e in cluster.replication}
        detail = tr("async, {sources} + {replicas}", sources=len(cluster.nodes) - len(replicas), replicas=len(replicas))
    else:
        detail = f"{cluster.flavour.value} {short}" if short else ""
    detail = silence_words(cluster) or missing_words(cluster) or detail
    hint = f"{cluster.name} · {kind_words(cluster)} · {short_id(cluster.cluster_id)}"
    name = cluster.name or short_id(cluster.cluster_id)
    silent = any(node.reach is Reach.NONE for node in cluster.nodes)
    return Entry(cluster.cluster_id, "", name, detail, cluster.health, hint=hint, silent=silent)


def node_entry(cluster: ClusterSnapshot, node: NodeView, at: float) -> Entry:
    """Return the row of a node: its state word, and lag, progress or age where that says more."""
    name = one_line(node.name or node.host or node.node_id)
    hint = "\n".join(p for p in (node.address, node.reason) if p)
    silent = is_silent(node)
    health = Health.UNKNOWN if is_stale(node, at) and not silent else node.health
    gone = node.reach is Reach.NONE
    return Entry(cluster.cluster_id, node.node_id, name, _detail(cluster, node, at), health, silent, hint, gone)


def _detail(cluster: ClusterSnapshot, node: NodeView, at: float) -> str:
    if is_silent(node):
        answered = last_answer(node)
        age = "" if answered is None else format_duration(max(0.0, at - answered))
        role = tr(SPARE) if node.role == SPARE else ""
        return " · ".join(p for p in (" ".join(p for p in (state_word(node), age) if p), role) if p)
    if is_stale(node, at):
        return format_age(age_of(node, at))
    for transfer in cluster.transfers:
        if transfer.active and transfer.joiner_id == node.node_id and transfer.bytes_total and transfer.bytes_done:
            return tr("Joiner {share:.0f} %", share=transfer.bytes_done / transfer.bytes_total * 100)
    incoming = [e for e in cluster.replication if e.replica_id == node.node_id]
    lags = [e.lag_s for e in incoming if e.lag_s is not None]
    if lags and node.health is Health.GOOD and not node.component:
        return tr("lag {lag}", lag=format_duration(max(lags)))
    return " · ".join(tr(p) for p in (node.state, node.role if node.role != node.state else "") if p)

"""The estate as a tree model that changes in place: rows that stay keep their expansion and selection."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView, kind_words, stands_alone
from services.drawing.cluster import natural_key, ordered_nodes
from services.i18n import tr
from services.types import NOT_KNOWN, TREE, Health, Reach
from widgets.common.controls.plain import plain_text
from widgets.common.look.text import format_age, format_duration, one_line, short_id
from widgets.common.nodes import (
    age_of,
    is_silent,
    is_stale,
    last_answer,
    lasting_role,
    missing_words,
    silence_words,
    state_word,
)

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
        self._rows: dict[int, int] = {}  # serial -> row: Qt asks for a row's parent more often than for anything else
        self._shown: EstateSnapshot | None = None
        self._serials = itertools.count(1)  # 0 is the serial of "no cluster above": a cluster's own row

    # -- content -------------------------------------------------------------------------------------------------
    def show_snapshot(self, estate: EstateSnapshot) -> None:
        """Take a snapshot; only rows that came, went or changed are told to the view.

        A row is looked for where it stood: an estate whose order is as before costs one step a row.
        """
        if estate is self._shown:
            return  # asked for by a click or a page: the rows say it already
        self._shown = estate
        wanted = sorted(
            estate.clusters, key=lambda c: (stands_alone(c), natural_key(c.name), c.cluster_id)
        )  # a host that stands alone is often one that waits to be used: clusters come before it
        ids = {c.cluster_id for c in wanted}
        for row in reversed(range(len(self._clusters))):
            if self._clusters[row].entry.cluster_id not in ids:
                self.beginRemoveRows(QModelIndex(), row, row)
                self._held(row, row + 1)
                self.endRemoveRows()
        known = {c.entry.cluster_id for c in self._clusters}
        for row, cluster in enumerate(wanted):
            self._place_cluster(row, cluster, known=cluster.cluster_id in known)
            self._merge_nodes(row, self._clusters[row], node_entries(cluster, estate.at))

    def _place_cluster(self, row: int, cluster: ClusterSnapshot, *, known: bool) -> None:
        entry = cluster_entry(cluster)
        ahead = range(row, len(self._clusters)) if known else ()
        here = next((i for i in ahead if self._clusters[i].entry.cluster_id == entry.cluster_id), None)
        if here is None:
            self.beginInsertRows(QModelIndex(), row, row)
            self._held(row, row, _Cluster(entry, next(self._serials)))
            self.endInsertRows()
            return
        if here != row:
            # A renamed cluster changes its place in the order: it moves with all it holds.
            self.beginMoveRows(QModelIndex(), here, here, QModelIndex(), row)
            moved = self._clusters.pop(here)
            self._held(row, row, moved)
            self.endMoveRows()
        if self._clusters[row].entry != entry:
            self._clusters[row].entry = entry
            index = self.index(row, 0)
            self.dataChanged.emit(index, index)

    def _held(self, first: int, last: int, *clusters: _Cluster) -> None:
        """Hold these clusters in place of those from `first` to before `last`."""
        self._clusters[first:last] = clusters
        self._rows = {cluster.serial: row for row, cluster in enumerate(self._clusters)}

    def _merge_nodes(self, row: int, held: _Cluster, wanted: list[Entry]) -> None:
        parent = self.index(row, 0)
        ids = {e.node_id for e in wanted}
        for i in reversed(range(len(held.nodes))):
            if held.nodes[i].node_id not in ids:
                self.beginRemoveRows(parent, i, i)
                del held.nodes[i]
                self.endRemoveRows()
        known = {e.node_id for e in held.nodes}
        for i, entry in enumerate(wanted):
            ahead = range(i, len(held.nodes)) if entry.node_id in known else ()
            at = next((j for j in ahead if held.nodes[j].node_id == entry.node_id), None)
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
        row = self._rows.get(serial)
        return None if row is None else self._clusters[row]

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
        row = self._rows.get(index.internalId()) if index.isValid() else None
        return QModelIndex() if row is None else self.createIndex(row, 0, 0)

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
            cut = entry.detail if entry.detail not in entry.hint else ""  # it is what gives way in a narrow panel
            return plain_text("\n".join(part for part in (cut, entry.hint) if part))
        if role == int(Qt.ItemDataRole.AccessibleTextRole):
            return ", ".join(p for p in (entry.name, entry.detail, entry.hint) if p)
        return None


def cluster_entry(cluster: ClusterSnapshot) -> Entry:
    """Return the row of a cluster: what binds it, its version, and a shape only when not all is well."""
    short = ".".join(cluster.version.split(".")[:2])
    if cluster.kind.short:
        detail = f"{cluster.kind.short} {short}".strip()
    elif NOT_KNOWN in cluster.kind.traits:
        detail = ""
    elif TREE in cluster.kind.traits:
        replicas = {e.replica_id for e in cluster.replication}
        detail = tr("async, {sources} + {replicas}", sources=len(cluster.nodes) - len(replicas), replicas=len(replicas))
    else:
        detail = f"{cluster.flavour.value} {short}" if short else ""
    detail = silence_words(cluster) or missing_words(cluster) or detail
    hint = f"{cluster.name} · {kind_words(cluster)} · {short_id(cluster.cluster_id)}"
    name = cluster.name or short_id(cluster.cluster_id)
    silent = any(node.reach is Reach.NONE for node in cluster.nodes)
    return Entry(cluster.cluster_id, "", name, detail, cluster.health, hint=hint, silent=silent)


def node_entries(cluster: ClusterSnapshot, at: float) -> list[Entry]:
    """Return the rows of a cluster's nodes, in order; its edges are gone through once, not once for each node."""
    lags = _lags(cluster)
    return [_node_entry(cluster, node, at, lags) for node in ordered_nodes(cluster)]


def node_entry(cluster: ClusterSnapshot, node: NodeView, at: float) -> Entry:
    """Return the row of a node: its state word, and lag, progress or age where that says more."""
    return _node_entry(cluster, node, at, _lags(cluster))


def _lags(cluster: ClusterSnapshot) -> dict[str, float]:
    """Return how far each replica is behind, by its id: of several ways the longest."""
    lags: dict[str, float] = {}
    for edge in cluster.replication:
        if edge.lag_s is not None:
            lags[edge.replica_id] = max(edge.lag_s, lags.get(edge.replica_id, edge.lag_s))
    return lags


def _node_entry(cluster: ClusterSnapshot, node: NodeView, at: float, lags: Mapping[str, float]) -> Entry:
    name = one_line(node.name or node.host or node.node_id)
    hint = "\n".join(p for p in (node.address, node.reason) if p)
    silent = is_silent(node)
    health = Health.UNKNOWN if is_stale(node, at) and not silent else node.health
    gone = node.reach is Reach.NONE
    return Entry(cluster.cluster_id, node.node_id, name, _detail(cluster, node, at, lags), health, silent, hint, gone)


def _detail(cluster: ClusterSnapshot, node: NodeView, at: float, lags: Mapping[str, float]) -> str:
    if is_silent(node):
        answered = last_answer(node)
        age = "" if answered is None else format_duration(max(0.0, at - answered))
        role = tr(lasting_role(node))
        return " · ".join(p for p in (" ".join(p for p in (state_word(node), age) if p), role) if p)
    if is_stale(node, at):
        return format_age(age_of(node, at))
    for transfer in cluster.transfers:
        if transfer.active and transfer.joiner_id == node.node_id and transfer.bytes_total and transfer.bytes_done:
            return tr("Joiner {share:.0f} %", share=transfer.bytes_done / transfer.bytes_total * 100)
    lag = lags.get(node.node_id)
    if lag is not None and node.health is Health.GOOD and not node.component:
        return tr("lag {lag}", lag=format_duration(lag))
    return " · ".join(
        tr(p) for p in (node.state, node.role if node.role.casefold() != node.state.casefold() else "") if p
    )

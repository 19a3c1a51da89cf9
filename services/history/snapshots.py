"""Snapshots of the estate in the file: zstd JSON, a keyframe each five minutes, else differences to the keyframe.

A difference is the JSON compressed with the keyframe's JSON as dictionary (zstd "raw content" dictionary): a few
hundred bytes instead of several kilobytes, read back without any other rule. It grows as the estate moves away from the
keyframe: as soon as that growth has cost a keyframe, there is a new one. A snapshot is kept when something a person
would call a change has changed (a state, a membership, a transfer), else at the store's slow cadence, for the numbers
on the cards.
"""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass

import msgspec
import zstandard

from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.errors import StoreError
from services.history.file import Connect
from services.history.recordings.bounds import LATEST, MOST_JSON, CodecError, unpacked
from services.history.recordings.readable import read_snapshot, readable
from services.i18n import tr

KEYFRAME_S = 300.0
"""As long as a block of samples: damage takes no more of the one than of the other."""
_SMALL, _SMALL_LEVEL, _LEVEL = 8_192, 12, 9
"""A difference of one server's 2 kB is 14 % smaller at level 12 than at 3 for 0.05 ms more; where an estate's JSON is
larger, level 9 gives as much and costs a fifth."""
_UNKNOWN = 2**31
_SELECT = (
    "SELECT s.data, k.data FROM snapshot s LEFT JOIN snapshot k ON k.id = s.base "
    "WHERE s.at <= ? ORDER BY s.at DESC, s.id DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """One row: `base` is the row number of its keyframe, None for a keyframe."""

    number: int
    at: float
    base: int | None
    data: bytes


def material(snapshot: EstateSnapshot) -> tuple[object, ...]:
    """Return what makes two snapshots differ to a person; times and running numbers are not part of it."""
    return (snapshot.hosts_total, snapshot.hosts_answering, tuple(_cluster(c) for c in snapshot.clusters),
            tuple(p.sentence for p in snapshot.problems))  # fmt: skip


def _cluster(cluster: ClusterSnapshot) -> tuple[object, ...]:
    nodes = tuple((n.node_id, n.name, n.state, n.health, n.role, n.component, n.reach) for n in cluster.nodes)
    parts = tuple((c.component_id, c.primary, c.members, c.flow_control_by) for c in cluster.components)
    edges = tuple((e.source_id, e.replica_id, e.channel, e.health, e.io_running, e.sql_running)
                  for e in cluster.replication)  # fmt: skip
    transfers = tuple((t.donor_id, t.joiner_id, t.kind, t.active) for t in cluster.transfers)
    return cluster.cluster_id, cluster.health, cluster.observers_agree, nodes, parts, edges, transfers


class SnapshotWriter:
    """Decides which snapshots are kept and packs them. One thread at a time.

    `every_s`: seconds between snapshots when nothing material changes; while a transfer runs, a tenth of it.

    The least that a difference costs is that of the quietest moment since the keyframe before the last.
    """

    def __init__(self, every_s: float, next_number: int) -> None:
        self._every_s = every_s
        self._number = next_number
        self._material: tuple[object, ...] | None = None
        self._kept_at = float("-inf")
        self._key_at = float("-inf")
        self._key_number = 0
        self._key_json = b""
        self._key_size = self._grown = 0
        self._least, self._former_least = _UNKNOWN, _UNKNOWN

    def pack(self, snapshot: EstateSnapshot) -> StoredSnapshot | None:
        """Return the row to store, None when this snapshot needn't be kept."""
        now_material = material(snapshot)
        moving = any(t.active for c in snapshot.clusters for t in c.transfers)
        due = self._every_s / 10 if moving else self._every_s
        quiet = now_material == self._material and 0 <= snapshot.at - self._kept_at < due
        if quiet or not 0.0 <= snapshot.at <= LATEST:  # no reader takes a moment before 1970
            return None
        self._material, self._kept_at = now_material, snapshot.at
        text = readable(snapshot)
        number, self._number = self._number, self._number + 1
        if not 0 <= snapshot.at - self._key_at < KEYFRAME_S or self._grown > self._key_size:
            return self._keyframe(number, snapshot.at, text)
        packer = zstandard.ZstdCompressor(level=_level(text), dict_data=_dictionary(self._key_json))
        data = packer.compress(text)
        self._least = min(self._least, len(data))
        self._grown += len(data) - min(self._least, self._former_least)
        return StoredSnapshot(number, snapshot.at, self._key_number, data)

    def _keyframe(self, number: int, at: float, text: bytes) -> StoredSnapshot:
        data = zstandard.ZstdCompressor(level=_level(text)).compress(text)
        self._key_at, self._key_number, self._key_json = at, number, text
        self._key_size, self._grown = len(data), 0
        self._former_least, self._least = self._least, _UNKNOWN
        return StoredSnapshot(number, at, None, data)


class SnapshotReader:
    """Reads snapshots over a connection of its own, opened when first needed. Thread-safe.

    A window that replays asks for one from its own thread, and must not wait there while another thread holds the
    store's connection to read a day of samples.
    """

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def at(self, moment: float) -> EstateSnapshot | None:
        """Return the newest snapshot not after a moment, None when there is none."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                row = self._connection.execute(_SELECT, (moment,)).fetchone()
            except sqlite3.Error as problem:
                raise StoreError(
                    tr("A stored snapshot cannot be read ({problem}).", problem=problem),
                    safe=tr("The file was not changed."),
                ) from problem
        return None if row is None else unpack(row[0], row[1])

    def close(self) -> None:
        """Close the connection; a later question opens another."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()


def unpack(data: bytes, key_data: bytes | None) -> EstateSnapshot:
    """Return the snapshot of a row; `key_data` is its keyframe's data, None when the row is a keyframe itself."""
    try:
        unpacker = None
        if key_data is not None:
            unpacker = zstandard.ZstdDecompressor(dict_data=_dictionary(unpacked(key_data, MOST_JSON)))
        return read_snapshot(unpacked(data, MOST_JSON, unpacker))
    except (CodecError, zstandard.ZstdError, msgspec.MsgspecError, RecursionError) as problem:
        raise StoreError(
            tr("A stored snapshot cannot be read ({problem}).", problem=problem), safe=tr("The file was not changed.")
        ) from problem


def _level(text: bytes) -> int:
    return _SMALL_LEVEL if len(text) <= _SMALL else _LEVEL


def _dictionary(content: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)

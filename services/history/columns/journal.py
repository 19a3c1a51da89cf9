"""The journal: one small row per sample until its chunk is a block. After a crash it is turned into blocks at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from services.history.columns.codec import Table
from services.history.columns.distinct import distinct
from services.history.columns.hot import AT, EPOCH, FIRST_ID, OFFSET, TICK
from services.history.recordings.bounds import LATEST, MOST_CHUNK_CELLS, CodecError, blob, moment, number

INSERT = "INSERT INTO journal (id, server, chunk, at, shift, epoch, whole, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
SELECT = "SELECT server, chunk, at, shift, epoch, whole, data FROM journal ORDER BY id"
SELECT_OF = "SELECT server, chunk, at, shift, epoch, whole, data FROM journal WHERE server = ? ORDER BY id"


@dataclass(frozen=True, slots=True)
class Recovered:
    """The rows of one unfinished chunk, as a table."""

    server: int
    start: float
    end: float
    table: Table


def recover(rows: Iterable[tuple[object, ...]]) -> list[Recovered]:
    """Return the chunks that journal rows (in the order of SELECT) hold.

    Rows without their whole row, rows whose values are none, and what is larger than chunks are, are skipped.
    """
    chunks: dict[tuple[int, int], list[_Row]] = {}
    for server, chunk, *rest in rows:
        try:
            member = _member(rest)
            chunks.setdefault((number(server), number(chunk)), []).append(member)
        except (CodecError, ValueError, OverflowError):
            continue
    found = []
    cells: dict[int, int] = {}
    for (server, _), members in chunks.items():
        while members and not members[0].whole:
            members.pop(0)
        if members:
            ids = distinct(np.concatenate([row.ids for row in members])).astype(np.uint32)
            cells[server] = cells.get(server, 0) + (len(ids) + FIRST_ID) * len(members)
            if cells[server] <= MOST_CHUNK_CELLS:
                found.append(Recovered(server, members[0].at, members[-1].at, _table(members, ids)))
    return found


def read_open_chunks(cursor: sqlite3.Cursor, server: int | None = None) -> list[Recovered]:
    """Return what the file's journal holds now, of one server or of all."""
    return recover(cursor.execute(SELECT) if server is None else cursor.execute(SELECT_OF, (server,)))


@dataclass(frozen=True, slots=True)
class _Row:
    at: float
    shift: float
    epoch: int
    whole: bool
    ids: np.ndarray[tuple[int], np.dtype[np.uint32]]
    values: np.ndarray[tuple[int], np.dtype[np.float64]]


def _member(rest: list[object]) -> _Row:
    at, shift, epoch, whole, data = rest
    packed = blob(data)
    count = len(packed) // 12
    if not isinstance(shift, int | float) or not abs(shift) <= LATEST:
        raise CodecError("a shift of clocks is none")
    ids, values = np.frombuffer(packed, "<u4", count), np.frombuffer(packed, "<f8", count, 4 * count)
    return _Row(moment(at), shift, number(epoch), bool(whole), ids, values)


def _table(members: list[_Row], ids: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> Table:
    columns = np.full((len(ids) + FIRST_ID, len(members)), np.nan)
    current = np.full(len(ids), np.nan)
    for i, row in enumerate(members):
        if row.whole:
            current[:] = np.nan
        current[np.searchsorted(ids, row.ids)] = row.values
        columns[FIRST_ID:, i] = current
        columns[AT, i], columns[OFFSET, i], columns[EPOCH, i] = round(row.at * TICK), round(row.shift * TICK), row.epoch
    kept = np.concatenate((columns[:3], columns[FIRST_ID:]))
    numbers = np.concatenate((np.array([AT, OFFSET, EPOCH], np.uint32), ids))
    return Table(len(members), np.zeros(0, np.uint32), np.zeros(0), numbers, np.ascontiguousarray(kept))

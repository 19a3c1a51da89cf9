"""The journal: one small row per sample until its chunk is a block. After a crash it is turned into blocks at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from services.history.codec import Table
from services.history.hot import AT, EPOCH, FIRST_ID, OFFSET, TICK

INSERT = "INSERT INTO journal (id, server, chunk, at, shift, epoch, whole, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
SELECT = "SELECT server, chunk, at, shift, epoch, whole, data FROM journal ORDER BY id"


@dataclass(frozen=True, slots=True)
class Recovered:
    """The rows of one unfinished chunk, as a table."""

    server: int
    start: float
    end: float
    table: Table


def recover(rows: Iterable[tuple[int, int, float, float, int, int, bytes]]) -> list[Recovered]:
    """Return the chunks that journal rows (in the order of SELECT) hold. Rows without their whole row are skipped."""
    chunks: dict[tuple[int, int], list[tuple[float, float, int, int, bytes]]] = {}
    for server, chunk, at, shift, epoch, whole, data in rows:
        chunks.setdefault((server, chunk), []).append((at, shift, epoch, whole, data))
    found = []
    for (server, _), members in chunks.items():
        while members and not members[0][3]:
            members.pop(0)
        if members:
            found.append(Recovered(server, members[0][0], members[-1][0], _table(members)))
    return found


def read_open_chunks(cursor: sqlite3.Cursor) -> list[Recovered]:
    """Return what the file's journal holds now."""
    return recover(cursor.execute(SELECT))


def _table(members: list[tuple[float, float, int, int, bytes]]) -> Table:
    parsed = [_row(data) for _, _, _, _, data in members]
    ids = np.unique(np.concatenate([row_ids for row_ids, _ in parsed])).astype(np.uint32)
    columns = np.full((len(ids) + FIRST_ID, len(members)), np.nan)
    current = np.full(len(ids), np.nan)
    for i, ((row_ids, values), (at, shift, epoch, whole, _)) in enumerate(zip(parsed, members, strict=True)):
        if whole:
            current[:] = np.nan
        current[np.searchsorted(ids, row_ids)] = values
        columns[FIRST_ID:, i] = current
        columns[AT, i], columns[OFFSET, i], columns[EPOCH, i] = round(at * TICK), round(shift * TICK), epoch
    kept = np.concatenate((columns[:3], columns[FIRST_ID:]))
    numbers = np.concatenate((np.array([AT, OFFSET, EPOCH], np.uint32), ids))
    return Table(len(members), np.zeros(0, np.uint32), np.zeros(0), numbers, np.ascontiguousarray(kept))


def _row(
    data: bytes,
) -> tuple[np.ndarray[tuple[int], np.dtype[np.uint32]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    count = len(data) // 12
    return np.frombuffer(data, "<u4", count), np.frombuffer(data, "<f8", count, 4 * count)

"""Reading blocks of one server back as columns, with a small memory of blocks that were just opened."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from services.clock import Clock
from services.history.columns.codec import Block, Floats, Table
from services.history.columns.hot import AT, EPOCH, OFFSET, TICK
from services.history.columns.values import Columns
from services.history.recordings.bounds import LATEST, MOST_CELLS_READ, CodecError, blob

LONGEST_S = 3_700.0
"""No block spans more than an hour (and a little: a chunk that began in one hour may end in the next)."""
KEPT_S = 120.0
_SELECT = (
    "SELECT id, start, data FROM block WHERE server = ? AND start >= ? AND start <= ? AND stop >= ? ORDER BY start, id"
)


class TooMuchError(Exception):
    """One question touches more samples than are ever read at once."""


class BlockCache:
    """The blocks opened last, so that twelve charts of one node open each block once. Thread-safe.

    At most `size`, and none that nobody asked for in the last two minutes: what charts show moves on with time, and
    blocks it has left would only fill the memory of a console that runs all day.
    """

    def __init__(self, clock: Clock, size: int = 32) -> None:
        self._clock = clock
        self._size = size
        self._blocks: OrderedDict[tuple[int, float], tuple[float, Block]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._blocks)

    def get(self, number: tuple[int, float], data: Callable[[], bytes]) -> Block:
        """Return the block with this row number and start, opening `data()` when it is not remembered."""
        with self._lock:
            known = self._blocks.get(number)
            if known is not None:
                self._keep(number, known[1])
                return known[1]
        block = Block(data())
        with self._lock:
            self._keep(number, block)
        return block

    def _keep(self, number: tuple[int, float], block: Block) -> None:
        now = self._clock.monotonic()
        self._blocks[number] = (now, block)
        self._blocks.move_to_end(number)
        while len(self._blocks) > self._size:
            self._blocks.popitem(last=False)
        self._drop_unasked(now)

    def _drop_unasked(self, now: float) -> None:
        while self._blocks and next(iter(self._blocks.values()))[0] < now - KEPT_S:
            self._blocks.popitem(last=False)

    def drop_unasked(self) -> None:
        """Forget what nobody asked for lately; while charts only grow at their end, nobody asks for any block."""
        with self._lock:
            self._drop_unasked(self._clock.monotonic())

    def clear(self) -> None:
        """Forget everything (row numbers were reused or rows deleted)."""
        with self._lock:
            self._blocks.clear()


def read_blocks(
    cursor: sqlite3.Cursor,
    cache: BlockCache,
    server: int,
    numbers: dict[str, int | None],
    span: tuple[float, float],
) -> tuple[list[Columns], int]:
    """Return the rows of the blocks that touch `span` and the number of damaged blocks that were passed over.

    Raises:
        TooMuchError: more samples than one question may gather.
    """
    start, end = span
    parts: list[Columns] = []
    damaged = rows = 0
    for number, begun, data in cursor.execute(_SELECT, (server, start - LONGEST_S, end, start)):
        try:
            block = cache.get((number, begun), lambda data=data: data)  # type: ignore[misc]
            rows += block.rows
            if rows * (len(numbers) + 3) > MOST_CELLS_READ:
                raise TooMuchError
            parts.append(block_columns(block, numbers))
        except CodecError:
            damaged += 1
    return parts, damaged


def block_columns(block: Block, numbers: dict[str, int | None]) -> Columns:
    """Return the asked columns of a block; a metric it lacks is NaN."""

    def column(number: int | None) -> Floats:
        found = None if number is None else block.column(number)
        return np.full(block.rows, np.nan) if found is None else found

    t = column(AT) / TICK
    if not ((t >= 0.0) & (t <= LATEST)).all():
        raise CodecError("a block holds moments that no clock shows")
    values = {key: column(number) for key, number in numbers.items()}
    return Columns(t, t - column(OFFSET) / TICK, values, column(EPOCH), tuple(numbers))


def table_columns(table: Table, numbers: dict[str, int | None]) -> Columns:
    """Return the asked columns of a table that is not packed yet (an open chunk, a recovered journal)."""

    def column(number: int | None) -> Floats:
        if number is not None:
            found = np.flatnonzero(table.ids == number)
            if len(found):
                row: Floats = table.columns[int(found[0])]
                return row
            found = np.flatnonzero(table.constant_ids == number)
            if len(found):
                return np.full(table.rows, table.constants[found[0]])
        return np.full(table.rows, np.nan)

    t = column(AT) / TICK
    values = {key: column(number) for key, number in numbers.items()}
    return Columns(t, t - column(OFFSET) / TICK, values, column(EPOCH), tuple(numbers))


def block_keys(cursor: sqlite3.Cursor, server: int) -> Sequence[int]:
    """Return the metric numbers of a server's newest block."""
    row = cursor.execute("SELECT data FROM block WHERE server = ? ORDER BY start DESC LIMIT 1", (server,)).fetchone()
    if row is None:
        return ()
    block = Block(blob(row[0]))
    return tuple(int(n) for n in np.concatenate((block.constant_ids, block.ids)))

"""Where a node stood before this run of the console began, read from the history: IST reach needs a week of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from services.history.columns.values import Columns
from services.sampling.past.seqno_ring import EVERY_S, RING_S, SeqnoRing
from services.sampling.past.starts import known_starts, same_start

PIECE_S = 2 * 3_600.0
"""Read at once: a few blocks, so that whoever else wants to read the history waits milliseconds."""
_START_MEMORY_S = 3_600.0
_SEQNO, _SENT, _RECEIVED = "wsrep_last_committed", "wsrep_replicated_bytes", "wsrep_received_bytes"


class History(Protocol):
    """What is asked of the history store."""

    def range(self) -> tuple[float, float] | None:
        """Return the first and last moment of samples."""

    def read(self, server: str, keys: tuple[str, ...], start: float, end: float) -> Columns:
        """Return raw samples."""

    def epoch_name(self, number: float) -> str:
        """Return the text of an epoch number."""


@dataclass(frozen=True, slots=True)
class Past:
    """The positions of one start of a server; `epoch` names that start (see Sample.epoch)."""

    positions: SeqnoRing
    epoch: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """Columns of one start, ascending; `whole`: nothing was cut off at its beginning."""

    at: npt.NDArray[np.float64]
    seqno: npt.NDArray[np.float64]
    volume: npt.NDArray[np.float64]
    whole: bool


def read_past(history: History, server: str, now: float, rest: Callable[[], bool]) -> Past | None:
    """Return what the history knows of the newest start of a server, at most a week back; None when that is nothing.

    Args:
        rest: called between two reads of `PIECE_S`, to let others work; True ends the reading without a result.
    """
    held = history.range()
    first = now - RING_S if held is None else max(held[0], now - RING_S)
    pieces: list[_Piece] = []
    epoch = ""
    end = now
    while held is not None and end > first:
        columns = history.read(server, (_SEQNO, _SENT, _RECEIVED), max(first, end - PIECE_S), end)
        known = ~np.isnan(columns.values[_SEQNO] + columns.values[_SENT] + columns.values[_RECEIVED])
        if known.any():
            numbers = columns.epochs[known]
            epoch = epoch or history.epoch_name(numbers[-1])
            other = [n for n in np.unique(numbers) if not same_start(history.epoch_name(n), epoch)]
            piece = _of_one_start(columns, known, np.isin(numbers, other), pieces[-1] if pieces else None)
            if len(piece.at):
                pieces.append(piece)
            if not piece.whole:
                break
        elif len(columns.t) and not pieces:
            return None  # sampled, and no Galera node
        end -= PIECE_S
        if rest():
            return None
    if not pieces:
        return None
    at, seqno, volume = (np.concatenate([getattr(p, name) for p in reversed(pieces)]) for name in _Piece.__slots__[:3])
    ring = SeqnoRing.of(at.tolist(), seqno.astype(np.int64).tolist(), volume.tolist())
    return Past(ring, epoch)


def _of_one_start(
    columns: Columns, known: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_], later: _Piece | None
) -> _Piece:
    """Return the known rows from the end back to where the server was another or a counter fell; one each 10 s.

    `other`: which of the known rows are of another start of the server.
    """
    at = columns.t[known]
    seqno = columns.values[_SEQNO][known]
    volume = columns.values[_SENT][known] + columns.values[_RECEIVED][known]
    for column, next_one in (
        (seqno, later.seqno[0] if later else np.inf),
        (volume, later.volume[0] if later else np.inf),
    ):
        other = other | (column > np.append(column[1:], next_one))
    begin = int(np.flatnonzero(other)[-1]) + 1 if other.any() else 0
    at, seqno, volume = at[begin:], seqno[begin:], volume[begin:]
    due = np.flatnonzero(np.diff(at // EVERY_S, prepend=-1.0))
    return _Piece(at[due], seqno[due], volume[due], whole=begin == 0)


def last_start(history: History, server: str, now: float) -> str:
    """Return which start of a server its newest samples of the last hour are of, '' where none tells; now: epoch s."""
    columns = history.read(server, ("uptime",), now - _START_MEMORY_S, now)
    return history.epoch_name(known_starts(columns.epochs, history.epoch_name)[-1]) if len(columns.t) else ""

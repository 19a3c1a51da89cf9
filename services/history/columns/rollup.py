"""One-minute aggregates: from rows to minutes, and one row of the file per metric and UTC day. Pure.

Five aggregates as float32 (minimum, average, maximum, 5th and 95th percentile), 1,440 minutes a day, NaN where nothing
was sampled. Percentiles are numpy's default (linear interpolation between order statistics, Hyndman and Fan's type 7).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import zstandard

from services.history.columns.codec import Floats, Ids
from services.history.recordings.bounds import MOST_HEADER, CodecError, unpacked

Singles = npt.NDArray[np.float32]

MINUTE_S = 60.0
DAY_S = 86_400.0
MINUTES = 1_440
AGGREGATES = 5
_SPARE = 4
"""How much larger than the samples the table may be that sorts them by bin."""


def doubles(values: Singles) -> Floats:
    """Return single precision values as doubles."""
    return values.astype(np.float64)


def by_step(t: Floats, columns: Floats, step_s: float) -> tuple[npt.NDArray[np.int64], Singles]:
    """Return the bins (t // step_s, shape (k,)) that hold samples, and aggregates of shape (columns, AGGREGATES, k).

    Args:
        t: shape (n,), ascending epoch seconds; columns: shape (m, n), NaN values don't count.
    """
    bins, starts, counts = np.unique((t // step_s).astype(np.int64), return_index=True, return_counts=True)
    if not len(t):
        return bins, np.zeros((columns.shape[0], AGGREGATES, 0), np.float32)
    if len(bins) * int(counts.max()) <= _SPARE * len(t):
        return bins, _aggregates(columns, starts, counts)
    out = np.empty((columns.shape[0], AGGREGATES, len(bins)), np.float32)
    fullness = np.ceil(np.log2(counts))
    for level in np.unique(fullness):  # crowded bins beside sparse ones: each kind has a table of its own width
        mine = fullness == level
        out[:, :, mine] = _aggregates(columns, starts[mine], counts[mine])
    return bins, out


def _aggregates(columns: Floats, starts: npt.NDArray[np.intp], counts: npt.NDArray[np.intp]) -> Singles:
    """Return the aggregates, shape (columns, AGGREGATES, bins), of the bins that begin at `starts`."""
    owner = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    cells = np.full((columns.shape[0], len(counts), int(counts.max())), np.nan)
    cells[:, owner, place] = columns[:, starts[owner] + place]
    flat = _percentiles(cells.reshape(-1, cells.shape[2]))
    return flat.reshape(columns.shape[0], len(counts), AGGREGATES).transpose(0, 2, 1)


def _percentiles(rows: Floats) -> Singles:
    """Sort once (NaN comes last) and read everything off; a row without values is all NaN."""
    ordered = np.sort(rows, axis=1)
    counts = (~np.isnan(ordered)).sum(axis=1)
    lines = np.arange(len(rows))
    last = np.maximum(counts - 1, 0)
    out = np.empty((len(rows), AGGREGATES), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        out[:, 0] = ordered[:, 0]
        out[:, 1] = np.nansum(ordered, axis=1) / counts
        out[:, 2] = ordered[lines, last]
        for place, share in ((3, 0.05), (4, 0.95)):
            position = last * share
            low = np.floor(position).astype(np.intp)
            high = np.minimum(low + 1, last)
            below, above = ordered[lines, low], ordered[lines, high]
            out[:, place] = below + (above - below) * (position - low)
    return out


def pack_day(day: Singles) -> bytes:
    """Return one metric's day, shape (AGGREGATES, MINUTES), bytes shuffled into planes and compressed."""
    planes = np.ascontiguousarray(day.astype("<f4").view(np.uint8).reshape(-1, 4).T)
    return zstandard.ZstdCompressor(level=3).compress(planes.tobytes())


def unpack_day(data: bytes) -> Singles:
    """Return what `pack_day` packed."""
    try:
        planes = np.frombuffer(unpacked(data, AGGREGATES * MINUTES * 4), np.uint8)
        joined = np.ascontiguousarray(planes.reshape(4, -1).T).view("<f4").reshape(AGGREGATES, MINUTES)
        return joined.astype(np.float32, copy=False)
    except ValueError as problem:
        raise CodecError("a day of aggregates is damaged") from problem


def pack_still(minutes: npt.NDArray[np.int64], ids: Ids, values: Floats) -> bytes:
    """Return the metrics that did not vary within an hour, with their value and the minutes (0 to 59) sampled."""
    mask = np.zeros(64, np.uint8)
    mask[minutes] = 1
    head = np.packbits(mask).tobytes()
    return zstandard.ZstdCompressor(level=3).compress(
        head + ids.astype("<u4").tobytes() + values.astype("<f8").tobytes()
    )


def unpack_still(data: bytes) -> tuple[npt.NDArray[np.bool_], Ids, Floats]:
    """Return what `pack_still` packed: which of the 60 minutes were sampled, ids, values."""
    raw = unpacked(data, MOST_HEADER)
    if len(raw) < 8:
        raise CodecError("an hour of constants is cut short")
    count = (len(raw) - 8) // 12
    mask = np.unpackbits(np.frombuffer(raw, np.uint8, 8))[:60].astype(np.bool_)
    values = np.frombuffer(raw, "<f8", count, 8 + 4 * count)
    return mask, np.frombuffer(raw, "<u4", count, 8).astype(np.uint32), values.astype(np.float64)

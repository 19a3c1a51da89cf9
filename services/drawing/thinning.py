"""Fewer points that look like all of them. numpy only."""

from __future__ import annotations

import numpy as np

from services.series import Array


def thinned(t: Array, values: Array, most: int) -> tuple[Array, Array]:
    """Return at most about `most` points, in order: of each bucket its least and its largest, so no peak is lost.

    t, values: shape (n,); NaN is a gap, and a bucket of gaps stays one.
    """
    if len(t) <= most:
        return t, values
    kept: list[int] = []
    for bucket in np.array_split(np.arange(len(t)), most // 2):
        part = values[bucket]
        if np.isfinite(part).any():
            kept += sorted({int(bucket[np.nanargmin(part)]), int(bucket[np.nanargmax(part)])})
        else:
            kept.append(int(bucket[0]))
    return t[kept], values[kept]

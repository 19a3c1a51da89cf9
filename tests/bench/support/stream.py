"""Recorded streams of real servers (tests/bench/data): what a sampler would hand to the store, second by second.

A file is zstd JSON lines: a header with `keys`, then per second [at, monotonic, [indexes], [values]] of what changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import zstandard

from services.series import Array, Sample

DATA = Path(__file__).parents[1] / "data"


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """A recorded stream.

    Attributes:
        version: of the server; keys: metric keys.
        at, mono: shape (n,), seconds; values: shape (n, len(keys)).
    """

    version: str
    keys: tuple[str, ...]
    at: Array
    mono: Array
    values: Array

    def samples(self, server: str = "db1") -> list[Sample]:
        """Return the stream as samples, the first at the stream's own time."""
        rows = self.values.tolist()
        return [
            Sample(server, at, mono, dict(zip(self.keys, row, strict=True)), "1")
            for at, mono, row in zip(self.at.tolist(), self.mono.tolist(), rows, strict=True)
        ]


@cache
def read_stream(name: str) -> Stream:
    """Return the stream `name`: "mariadb_status" (status only) or "galera_node" (with host counters and settings)."""
    packed = (DATA / f"{name}.jsonl.zst").read_bytes()
    header_text, *lines = zstandard.ZstdDecompressor().decompress(packed).decode().splitlines()
    header = json.loads(header_text)
    values = np.full((len(lines), len(header["keys"])), np.nan)
    clock = np.zeros((len(lines), 2))
    for i, line in enumerate(lines):
        at, mono, indexes, changed = json.loads(line)
        clock[i] = at, mono
        if i:
            values[i] = values[i - 1]
        values[i, indexes] = changed
    return Stream(header["version"], tuple(header["keys"]), clock[:, 0], clock[:, 1], values)


def long_stream(stream: Stream, hours: int = 24, seed: int = 1) -> Iterator[Stream]:
    """Yield parts that together last `hours`, from a midnight on: the stream repeated, its changes scaled anew per
    metric and repeat, so that no block repeats (as the stream of the baseline was made).

    Counters climb on, gauges keep their level; whole numbers stay whole. A part has as many seconds as the stream.
    """
    random = np.random.default_rng(seed)
    length = len(stream.at)
    whole = (stream.values == np.rint(stream.values)).all(axis=0)
    falls = (np.diff(stream.values, axis=0) < 0).any(axis=0)
    start = float(np.ceil(stream.at[0] / 86_400.0) * 86_400.0)
    jitter = np.clip(stream.at - stream.at[0] - np.arange(length), 0.0, 0.9)
    base = stream.values[0].copy()
    for first in range(0, hours * 3_600, length):
        factor = random.uniform(0.5, 1.5, stream.values.shape[1])
        grown = (stream.values - stream.values[0]) * np.where(whole | ~falls, factor, 1.0)
        values = base + np.where(whole, np.rint(grown), grown)
        count = min(length, hours * 3_600 - first)
        at = start + first + np.arange(length) + jitter
        yield Stream(stream.version, stream.keys, at[:count], at[:count] - start + 1_000.0, values[:count])
        base = np.where(falls, base, values[-1])

"""What a read gives back: some metrics of one server over a span, as arrays that go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.history.columns.codec import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Raw samples, ascending in time.

    Attributes:
        t: shape (n,), UTC epoch seconds; mono: shape (n,), monotonic seconds of the console that sampled.
        values: key -> shape (n,), NaN where the server did not give the metric.
        epochs: shape (n,), a number that changes when the server restarted (see Sample.epoch).
    """

    t: Floats
    mono: Floats
    values: Mapping[str, Floats]
    epochs: Floats
    keys: tuple[str, ...] = field(default=())

    @staticmethod
    def empty(keys: Sequence[str]) -> Columns:
        """Return columns without rows."""
        none = np.zeros(0)
        return Columns(none, none, dict.fromkeys(keys, none), none, tuple(keys))

    @staticmethod
    def join(parts: Sequence[Columns], keys: Sequence[str]) -> Columns:
        """Return the parts as one, ascending in time (a clock that was set back makes parts overlap)."""
        parts = [part for part in parts if len(part.t)]
        if not parts:
            return Columns.empty(keys)
        t = np.concatenate([p.t for p in parts])
        mono = np.concatenate([p.mono for p in parts])
        epochs = np.concatenate([p.epochs for p in parts])
        values = {key: np.concatenate([p.values[key] for p in parts]) for key in keys}
        if len(t) > 1 and (np.diff(t) < 0).any():
            order = np.argsort(t, kind="stable")
            t, mono, epochs = t[order], mono[order], epochs[order]
            values = {key: value[order] for key, value in values.items()}
        return Columns(t, mono, values, epochs, tuple(keys))

    def within(self, start: float, end: float, before: float | None = None) -> Columns:
        """Return the rows from `start` to `end` (both included), and before `before` where that is given."""
        mask = (self.t >= start) & (self.t <= end)
        if before is not None:
            mask &= self.t < before
        if mask.all():
            return self
        values = {key: value[mask] for key, value in self.values.items()}
        return Columns(self.t[mask], self.mono[mask], values, self.epochs[mask], self.keys)


@dataclass(frozen=True, slots=True, eq=False)
class Rollups:
    """One-minute aggregates of one metric, ascending; all arrays of shape (n,), NaN where nothing was sampled.

    `t` is the beginning of each minute; values are float32 precise.
    """

    t: Floats
    minimum: Floats
    average: Floats
    maximum: Floats
    p5: Floats
    p95: Floats

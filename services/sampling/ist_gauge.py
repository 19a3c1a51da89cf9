"""IST reach as values of a sample: one gauge per watched node, fed with the node's own raw values each second.

Gives "console.ist_reach_s" (method 2 by the worst known rate, without margin) and "console.ist_history_s" (method 1),
so that the number is kept with the samples, survives in recordings, and the charts need no memory of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from services.history.store import HistoryStore
from services.sampling.ist_reach import EVERY_S, RING_S, Point, Reach, SeqnoRing, reach

KEYS = ("wsrep_last_committed", "wsrep_replicated_bytes", "wsrep_received_bytes")
FOREVER_S = 10 * 365 * 86_400.0
"""What an unlimited reach (nothing is written) is kept as: a chart can't draw infinity."""
_SLICE_S = 3_600.0


class IstGauge:
    """The gauge of one node. One thread at a time (the node's SQL lane)."""

    def __init__(self) -> None:
        self._ring = SeqnoRing()
        self.reach = Reach(reason="Nothing was watched yet.")

    def values(self, at: float, raw: Mapping[str, float]) -> dict[str, float]:
        """Take a sample's raw values (status and "var.gcache_size"); return what to add to them, {} without Galera."""
        if any(key not in raw for key in KEYS):
            return {}
        point = Point(at, int(raw[KEYS[0]]), raw[KEYS[1]] + raw[KEYS[2]])
        self._ring.observe(point)
        cached = raw.get("wsrep_local_cached_downto", 0.0)
        # 2**64 - 1 is what a provider says before it has a cache (Galera source, gcs: GCS_SEQNO_ILL as unsigned).
        cached_downto = int(cached) if 0 < cached < 2**63 else 0
        self.reach = reach(self._ring.points(), point, cached_downto, raw.get("var.gcache_size"))
        found: dict[str, float] = {}
        if self.reach.seconds is not None:
            found["console.ist_reach_s"] = min(self.reach.seconds, FOREVER_S)
        if self.reach.history_s is not None and math.isfinite(self.reach.history_s):
            found["console.ist_history_s"] = self.reach.history_s
        return found

    def remember(self, store: HistoryStore, server: str, now: float) -> None:
        """Fill the ring from the history (up to seven days): a console that was closed does not begin from nothing."""
        start = max(now - RING_S, (store.range() or (now, now))[0])
        while start < now:
            columns = store.read(server, KEYS, start, min(now, start + _SLICE_S))
            step = max(1, int(EVERY_S))
            rows = zip(*(columns.values[key][::step].tolist() for key in KEYS), strict=True)
            for at, (seqno, replicated, received) in zip(columns.t[::step].tolist(), rows, strict=True):
                if not math.isnan(seqno + replicated + received):
                    self._ring.observe(Point(at, int(seqno), replicated + received))
            start += _SLICE_S

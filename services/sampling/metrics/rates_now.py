"""The few derived numbers that judgement and node cards need, recomputed once a second from memory."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np

from services.clock import Clock
from services.sampling.metrics.reader import SeriesReader

WANTED = {
    "flow_control_share": ("galera.paused", 0.01),
    "ist_reach_s": ("ist.reach", 3600.0),
    "lag_s": ("repl.lag", 1.0),
    "write_bytes_per_s": ("ist.write_rate", 1.0),
    "network_in_per_s": ("net.received", 1.0),
    "flow_control_sent": ("galera.fc_sent", 1.0),
}
"""Name that judgement uses -> (catalogue metric, factor to judgement's unit: shares 0 to 1, seconds, bytes/s)."""


LOOK_BACK_S = 10.0
ASK_AGAIN_S = 3.0
"""A metric that a server did not give (no Galera, no replica) is looked for again after so long, not each second."""


class RatesNow:
    """Latest value of each wanted metric per host; a metric the server does not offer is left out."""

    def __init__(self, reader: SeriesReader, clock: Clock, every_s: float = 0.9) -> None:
        self._reader = reader
        self._clock = clock
        self._every_s = every_s
        self._due: dict[str, float] = {}
        self._rates: dict[str, Mapping[str, float]] = {}
        self._dirty: set[str] = set()
        self._absent: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def sampled(self, server: str) -> None:
        """Note that a host has a newer sample."""
        with self._lock:
            self._dirty.add(server)

    def all(self) -> Mapping[str, Mapping[str, float]]:
        """Return host -> name -> value, computing what is due."""
        now = self._clock.monotonic()
        with self._lock:
            due = [host for host in self._dirty if self._due.get(host, 0.0) <= now]
            self._dirty.difference_update(due)
        for host in due:
            self._due[host] = now + self._every_s
            self._rates[host] = self._compute(host)
        return dict(self._rates)

    def _compute(self, host: str) -> Mapping[str, float]:
        found = {}
        now, since = self._clock.monotonic(), self._clock.wall() - LOOK_BACK_S
        for name, (metric, factor) in WANTED.items():
            if self._absent.get((host, name), 0.0) > now:
                continue
            series = self._reader.tail(host, metric, since)
            if series.missing:
                self._absent[host, name] = now + ASK_AGAIN_S
            known = series.value[~np.isnan(series.value)]
            if len(known):
                found[name] = float(known[-1]) * factor
        return found

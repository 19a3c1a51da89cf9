"""The few derived numbers that judgement and node cards need, recomputed once a second from memory."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping

from services.clock import Clock
from services.sampling.reader import SeriesReader

WANTED = {
    "flow_control_share": ("galera.paused", 0.01),
    "ist_reach_s": ("ist.reach", 3600.0),
    "lag_s": ("repl.lag", 1.0),
    "write_bytes_per_s": ("ist.write_rate", 1.0),
    "network_in_per_s": ("net.received", 1.0),
    "flow_control_sent": ("galera.fc_sent", 1.0),
}
"""Name that judgement uses -> (catalogue metric, factor to judgement's unit: shares 0 to 1, seconds, bytes/s)."""


class RatesNow:
    """Latest value of each wanted metric per host; a metric the server does not offer is left out."""

    def __init__(self, reader: SeriesReader, clock: Clock, every_s: float = 0.9) -> None:
        self._reader = reader
        self._clock = clock
        self._every_s = every_s
        self._due: dict[str, float] = {}
        self._rates: dict[str, Mapping[str, float]] = {}
        self._dirty: set[str] = set()
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
        for name, (metric, factor) in WANTED.items():
            value = self._reader.newest(host, metric)
            if value is not None and not math.isnan(value):
                found[name] = value * factor
        return found

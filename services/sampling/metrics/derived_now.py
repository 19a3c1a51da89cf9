"""Numbers of one host that a single poll does not give (`console.*`): IST reach, flow control's limit, data disk."""

from __future__ import annotations

from collections.abc import Mapping

from services.discovery.families.registry import registered
from services.facts.model import NodeFacts
from services.sampling.ist_reach import IstReach, reach
from services.sampling.past.seqno_ring import Point, SeqnoRing

EVERY_S = 5.0
"""IST reach is an average over minutes: recomputing it each second would only cost."""
MOST_S = 7 * 86_400.0
"""A week or more, shown as a week: with next to nothing written the reach has no end, and a chart must have one."""


class DerivedNow:
    """Remembers what the formulas over one poll can't; one per host, used by its SQL thread only."""

    def __init__(self) -> None:
        self._ring = SeqnoRing()
        self._reach: dict[str, float] = {}
        self._due = 0.0

    def recall(self, positions: SeqnoRing) -> None:
        """Take what the history knows of this start of the server."""
        self._ring.recall(positions)
        self._due = 0.0

    def values(self, facts: NodeFacts, numbers: Mapping[str, float], at: float) -> dict[str, float]:
        """Return the console's own metrics for a sample taken at `at` with the status `numbers`."""
        found = registered().sampled(facts)
        found.update(self._ist(facts, numbers, at))
        machine = facts.machine
        if machine is not None and machine.data_disk is not None and machine.data_disk.free is not None:
            found["console.data_disk_free"] = float(machine.data_disk.free)
        if machine is not None and machine.gcache_disk_free is not None:
            found["console.gcache_disk_free"] = float(machine.gcache_disk_free)
        if machine is not None and machine.gcache_pages_bytes is not None:
            found["console.gcache_pages_bytes"] = float(machine.gcache_pages_bytes)
        return found

    def _ist(self, facts: NodeFacts, numbers: Mapping[str, float], at: float) -> Mapping[str, float]:
        lent = registered().lent(facts)
        written = [numbers.get(name) for name in lent.written_by] if lent is not None else [None]
        known = [value for value in written if value is not None]
        if lent is None or lent.position is None or len(known) < len(written):
            return {}
        point = Point(at, lent.position, sum(known))
        self._ring.observe(point)
        if at >= self._due:
            self._due = at + EVERY_S
            self._reach = _values(reach(self._ring, point, lent.kept_from, lent.room))
        return self._reach


def _values(known: IstReach) -> dict[str, float]:
    """Return a reach as sampled numbers: what was shown can be told again of every moment, and from a recording."""
    found = {}
    if known.safe_seconds is not None:
        found["console.ist_reach_s"] = min(known.safe_seconds, MOST_S)
    if known.history_s is not None:
        found["console.ist_history_s"] = known.history_s
        found["console.ist_history_whole"] = float(not known.at_least)
    if known.rates:
        found["console.ist_rate"] = known.rates[0].bytes_s
        found["console.ist_rate_window_s"] = known.rates[0].window_s
    return found

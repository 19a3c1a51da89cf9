"""How fast a server writes, out of two looks at its counters. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.facts.reading import count

if TYPE_CHECKING:
    from services.connections.ports import Rows

HEADER_BYTES = 24
"""The ring buffer's header of each write set (a lab run: 288 B by status take 312 B in the ring)."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Write rates measured by two looks: bytes/s into the gcache ring (headers included) and write sets/s."""

    bytes_s: float
    seqno_s: float
    over_s: float


def rates_of(before: Rows, after: Rows, seconds: float) -> Rates | None:
    """Return bytes/s into the gcache ring (24 bytes of header a write set) and write sets/s; None without counters."""
    first, last = before.pairs(), after.pairs()
    seqno = [count(rows.get("wsrep_last_committed", "")) for rows in (first, last)]
    moved = [
        (count(rows.get("wsrep_replicated_bytes", "")) or 0) + (count(rows.get("wsrep_received_bytes", "")) or 0)
        for rows in (first, last)
    ]
    if seqno[0] is None or seqno[1] is None or seconds <= 0 or seqno[1] < seqno[0]:
        return None
    sets = seqno[1] - seqno[0]
    grown = max(0, moved[1] - moved[0]) + HEADER_BYTES * sets
    return Rates(bytes_s=grown / seconds, seqno_s=sets / seconds, over_s=seconds)

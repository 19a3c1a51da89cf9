"""How far a node is in its state transfer, by whatever its own server or systemd tells of it. Pure.

PXC counts in its status (Percona XtraDB Cluster manual, "Index of wsrep status variables": wsrep_ist_receive_seqno_*);
MariaDB in its log and in systemd's StatusText: "Receiving IST... 45.5% (10/22 events) complete", and while the script
of an SST works "WSREP state transfer (role joiner) ongoing..." (tried on 10.11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from services.facts.logs.error_log import EVENTS, status_progress
from services.facts.model import TransferFacts
from services.facts.reading import count

_EVENTS = re.compile(rf"\({EVENTS} events\)")
_JOINER = "state transfer (role joiner) ongoing"


def ist_progress(status: Mapping[str, str], transfer: TransferFacts | None, text: str) -> tuple[float, float] | None:
    """Return (done, total) in write sets: by PXC's status, else MariaDB's log, else systemd's status text.

    None where no IST comes in, or nothing tells how far it is.

    Args:
        transfer: the newest of the joiner's log; text: systemd's StatusText of its unit.
    """
    first, last, current = (count(status.get(f"wsrep_ist_receive_seqno_{w}", "")) for w in ("start", "end", "current"))
    if first and last and current and last >= first:
        return float(max(0, current - first + 1)), float(last - first + 1)
    if transfer is not None and transfer.ended is None and transfer.kind == "IST":
        first, last, current = transfer.first_seqno, transfer.last_seqno, transfer.current_seqno
        if first is not None and last is not None and last >= first:
            return float(max(0, (current or first - 1) - first + 1)), float(last - first + 1)
    found = _EVENTS.search(text)
    if found and status_progress(text)[0] == "IST":
        return float(found["done"]), float(found["total"])
    return None


def sst_comes_in(text: str) -> bool:
    """Return whether systemd's StatusText of a joiner says that the script of an SST works."""
    return _JOINER in text

"""Where a joiner receives an SST, as a word that socat takes for an address and for nothing else. Pure."""

from __future__ import annotations

import re

from services.facts.machine.tcp_ways import TRANSFER_PORTS
from services.facts.reading import host_port

SST_PORT = TRANSFER_PORTS[0]
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\]", re.ASCII)


def receives_at(given: str, own: str) -> tuple[str, int] | None:
    """Return address (an IPv6 one in brackets) and port; None where that is no plain address or name.

    Args:
        given: wsrep_sst_receive_address, '' or 'AUTO' where the node's own address counts; own: that address.
    """
    text = given.strip()
    address, port = host_port(text, SST_PORT) if text and text.upper() != "AUTO" else (own, SST_PORT)
    shown = f"[{address}]" if ":" in address else address
    return (shown, port) if _HOST.fullmatch(shown) else None

"""What a try of a TCP way from host to host says, and what a host listens on. Pure parsers; a try sends nothing."""

from __future__ import annotations

import re
from typing import Literal

from services.connections.ports import Output
from services.facts.reading import count, words
from services.lines import lines_of

GROUP_PORT, TRANSFER_PORTS = 4567, (4444, 4568)
PORTS = (GROUP_PORT, *TRANSFER_PORTS)
Outcome = Literal["open", "refused", "filtered", "unknown"]


def outcome_of(output: Output | None) -> tuple[Outcome, str]:
    """Return what one try means, and what was said."""
    if output is None:
        return "unknown", "not tried"
    lines = lines_of(output.error_text)
    said = words(lines[-1] if lines else "", 200)
    said = re.sub(r"^.*: ", "", said)
    if output.exit_code == 0:
        return "open", "connected"
    if output.exit_code == 124:
        return "filtered", "no answer within 3 s"
    if "refused" in said.lower():
        return "refused", said
    if re.search(r"no route|unreachable|timed out|prohibited|not permitted", said, re.IGNORECASE):
        return "filtered", said
    return "unknown", said or f"exit code {output.exit_code}"


def parse_listening(text: str) -> frozenset[int]:
    """Return the ports of `ss -ltnH`: the fourth column is address:port."""
    found = set()
    for line in lines_of(text)[:10_000]:
        parts = line.split()
        if len(parts) >= 4 and (port := count(parts[3].rsplit(":", 1)[-1])) is not None:
            found.add(port)
    return frozenset(found)

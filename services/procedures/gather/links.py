"""TCP ways between hosts, really tried from host to host. A try sends nothing.

A listener on 4444 or 4568 waits for one transfer and would take our connection for it: where ss shows one, it is not
touched, and that it listens is the evidence that counts.
"""

from __future__ import annotations

import re
from typing import Literal

from services.connections.ports import Output
from services.connections.reads import commands
from services.facts.reading import count, words
from services.lines import lines_of
from services.procedures.gather.reader import Reader
from services.procedures.plan.host_facts import Link

GROUP_PORT, TRANSFER_PORTS = 4567, (4444, 4568)
PORTS = (GROUP_PORT, *TRANSFER_PORTS)
Outcome = Literal["open", "refused", "filtered", "unknown"]


def outcome_of(output: Output | None) -> tuple[Outcome, str]:
    """Return what one try means, and what was said."""
    if output is None:
        return "unknown", "not tried"
    said = words(lines_of(output.stderr.decode("utf-8", "replace").strip())[-1] if output.stderr.strip() else "", 200)
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


def listening(reader: Reader) -> frozenset[int] | None:
    """Return the TCP ports that the host listens on, None when unread."""
    text = reader.text("listening", commands.LISTENING)
    return None if text is None else parse_listening(text)


def parse_listening(text: str) -> frozenset[int]:
    """Return the ports of `ss -ltnH`: the fourth column is address:port."""
    found = set()
    for line in lines_of(text)[:10_000]:
        parts = line.split()
        if len(parts) >= 4 and (port := count(parts[3].rsplit(":", 1)[-1])) is not None:
            found.add(port)
    return frozenset(found)


def links(reader: Reader, to_host: str, address: str, there: frozenset[int] | None) -> tuple[Link, ...]:
    """Try the group's ports from this host to another.

    Args:
        there: what the other host listens on; a transfer's listener is left alone, and so it is when this is unknown.
    """
    found = []
    for port in PORTS:
        if port in TRANSFER_PORTS and (there is None or port in there):
            why = "a transfer listens there: left alone" if there is not None else "its listeners are not known"
            found.append(Link(to_host, address, port, "unknown", why))
            continue
        outcome, said = outcome_of(reader.run("links", commands.TCP_TRIED.read(address, port)))
        found.append(Link(to_host, address, port, outcome, said))
    return tuple(found)

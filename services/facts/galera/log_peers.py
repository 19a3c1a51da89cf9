"""Whom a node's provider met, by the node's own log: UUIDs with their addresses, names of joiners. Pure parser.

The words are the provider's own (connections/programs/read_programs.py, PEER), read on the lab (MariaDB 10.11.18 with
Galera 26.4.23): `connection established to 00b037d6-af71 tcp://10.0.0.43:4567`, `declaring 00b037d6-af71 at tcp://…`,
`Member 2.0 (s3) requested state transfer from '*any*'`; of each of its own starts
`(00a43daf-a7fe, 'tcp://0.0.0.0:4567') listening at tcp://…`. A short UUID is the first and the fourth group of the
whole one; Galera 3 prints the first alone. An address is a hint: nobody is asked there because a log names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.addresses import is_address
from services.facts.reading import host_port, words

MET = "peer "
"""What a line that tells of one begins with."""
_PEER = re.compile(
    r"peer (?:connection established to|declaring) ([0-9a-f]{8}(?:-[0-9a-f]{4})?) (?:at )?(?:tcp|ssl)://(\S{1,300})"
)
_JOINER = re.compile(r"peer Member [0-9.]{1,12} \((.{1,255})\) requested state transfer from ")
_OWN = re.compile(r"peer \(([0-9a-f]{8}(?:-[0-9a-f]{4})?), '(?:tcp|ssl)://\S{1,300}'\) listening at ")
_MOST = 500


@dataclass(frozen=True, slots=True)
class LogPeer:
    """One that the provider met; what it does not tell is ''.

    Attributes:
        uuid: of that start of the node, short: see `short`.
        address: without the port.
        own: it is the node itself, by the UUID of one of its starts.
    """

    uuid: str = ""
    name: str = ""
    address: str = ""
    own: bool = False


def short(uuid: str) -> str:
    """Return a group member's UUID as the provider's log shortens it: '00b037d6-af71'."""
    parts = uuid.lower().split("-")
    return f"{parts[0]}-{parts[3]}" if len(parts) == 5 else uuid.lower()


def parse_peers(lines: Iterable[str]) -> tuple[LogPeer, ...]:
    """Return whom the lines of a log tell of, each once, at most 500."""
    found: dict[LogPeer, None] = {}
    for line in lines:
        one = _peer(line)
        if one is not None and len(found) < _MOST:
            found.setdefault(one)
    return tuple(found)


def _peer(line: str) -> LogPeer | None:
    if met := _PEER.fullmatch(line):
        address = host_port(met[2])[0]
        return LogPeer(uuid=met[1], address=address) if is_address(address) else None
    if own := _OWN.fullmatch(line):
        return LogPeer(uuid=own[1], own=True)
    if joiner := _JOINER.fullmatch(line):
        return LogPeer(name=words(joiner[1], 255))
    return None

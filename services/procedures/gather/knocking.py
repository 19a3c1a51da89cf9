"""Whether anybody listens where a member is said to be that nobody may log in to: tried from the members themselves.

A try opens a TCP connection and sends nothing: no account, no word. A transfer's ports are left alone (plan/parts/
galera/links.py): a listener there would take it for its donor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.addresses import is_address
from services.connections.reads import commands
from services.facts.machine.tcp_ways import outcome_of
from services.procedures.gather.reader import Reader
from services.procedures.plan.host_facts import Named

SERVER_PORT, GROUP_PORT = 3306, 4567
_MOST_ADDRESSES = 4


def knocked(one: Named, readers: Mapping[str, Reader]) -> Named:
    """Return it with what the members see listening at its addresses; of one that is retired the group's port alone."""
    ports = (GROUP_PORT,) if one.retired else (SERVER_PORT, GROUP_PORT)
    found = []
    for address in [text for text in one.addresses if is_address(text)][:_MOST_ADDRESSES]:
        for port in ports:
            seen = next((name for name, reader in readers.items() if _is_open(reader, address, port)), "")
            found += [f"{seen} sees a listener at {address} port {port}"] if seen else []
    return replace(one, listening=tuple(found))


def _is_open(reader: Reader, address: str, port: int) -> bool:
    return outcome_of(reader.run("links", commands.TCP_TRIED.read(address, port)))[0] == "open"

"""Several servers on one host: what is known of each, and what is not. Pure.

A host's processes, unit and data disk are read once, for its first server. Which of several servers a process is, a
list of processes does not tell, whether the inventory names them all or not: then the state of its process is not
known, unless the server itself has told its pid (MongoDB's serverStatus).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from services.discovery.model import ClusterSnapshot, place_of
from services.facts.absence import SEVERAL
from services.facts.model import MachineFacts, NodeFacts
from services.i18n import tr
from services.inventory.model import HostEntry, Inventory

UNREPORTED = "?"


def of_entry(facts: NodeFacts, entry: HostEntry) -> NodeFacts:
    """Return the facts with what else stands on the host, and the port of it at which the server is asked."""
    machine = machine_of(facts.machine, entry, own_pid(facts))
    speaks = entry.what.speaks
    return replace(facts, on=entry.on, beside=entry.others, machine=machine, asked_port=entry.asked_port, speaks=speaks)


def only_named(hosts: Iterable[HostEntry], at: float) -> dict[str, NodeFacts]:
    """Return the instances that the inventory names and that are not read: nobody asks them, and they are drawn."""
    return {
        one.key: NodeFacts(one.key, at, address=place_of(host.address, one.port), on=host.name, kind=one.kind)
        for host in hosts
        for one in host.beside
        if not one.what.read
    }


def own_pid(facts: NodeFacts) -> int | None:
    """Return the pid that a server told of itself when it last answered; None: not told."""
    return facts.mongo.server.pid if facts.mongo is not None else None


def machine_of(machine: MachineFacts | None, entry: HostEntry, own: int | None) -> MachineFacts | None:
    """Return the host's facts as they are facts of its first server: where another may be meant, nothing is said.

    Args:
        own: the pid that the server told of itself.
    """
    if machine is None or not machine.process_state or not (entry.others or machine.process_doubt == SEVERAL):
        return machine
    seen = machine.process_pid is not None
    if seen and machine.process_pid == own:
        return replace(machine, process_doubt="")
    return replace(
        machine,
        process_state=UNREPORTED,
        process_pid=None,
        process_owner="",
        founded_pid=None,
        process_doubt=SEVERAL if seen else machine.process_doubt,
    )


def shared_words(cluster: ClusterSnapshot) -> str:
    """Return why no procedure is for a cluster a node of which shares its host; '' where none does.

    A step can address an instance (ADR 0036). But the catalogue's ask the host for its unit, its data folder and its
    option files: of two servers there they may mean the other.
    """
    for node in cluster.nodes:
        facts = node.facts
        if facts is not None and not facts.kind and (facts.on or facts.beside):
            return _told(facts.on or facts.host)
    return ""


def shared_among(inventory: Inventory, keys: Iterable[str]) -> str:
    """Return the same of hosts by keys: what a host carries stands in the inventory, whether it answers or not."""
    entries = (inventory.entry(key) for key in keys)
    return next((_told(one.on or one.name) for one in entries if one is not None and (one.on or one.others)), "")


def _told(host: str) -> str:
    return tr("{host} has more than one server; procedures support one server per host.", host=host)

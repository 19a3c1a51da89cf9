"""Several servers on one host: what is known of each, and what is not. Pure.

A host's processes, unit and data disk are read once, for its first server. Which of several servers a process is, a
list of processes does not tell: then the state of the first one's process is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from services.discovery.model import ClusterSnapshot, place_of
from services.facts.model import MachineFacts, NodeFacts
from services.i18n import tr
from services.inventory.model import HostEntry, Inventory

NOT_TOLD = "?"


def of_entry(facts: NodeFacts, entry: HostEntry) -> NodeFacts:
    """Return the facts with what else stands on the host."""
    machine = machine_of(facts.machine, entry)
    return replace(facts, on=entry.on, beside=entry.others, machine=machine, speaks=entry.what.speaks)


def only_named(hosts: Iterable[HostEntry], at: float) -> dict[str, NodeFacts]:
    """Return the instances that the inventory names and that are not read: nobody asks them, and they are drawn."""
    return {
        one.key: NodeFacts(one.key, at, address=place_of(host.address, one.port), on=host.name, kind=one.kind)
        for host in hosts
        for one in host.beside
        if not one.what.read
    }


def machine_of(machine: MachineFacts | None, entry: HostEntry) -> MachineFacts | None:
    """Return the host's facts as they are facts of its first server: where another may be meant, nothing is said."""
    if machine is None or not entry.others or not machine.process_state:
        return machine
    return replace(machine, process_state=NOT_TOLD, process_pid=None, process_owner="", founded_pid=None)


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
    return tr("{host} carries more than one server; procedures are for one server a host.", host=host)

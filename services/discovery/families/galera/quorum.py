"""Whether a Galera cluster has its one Primary Component, as far as its nodes were heard: a silent one may be it.

A node that answers tells of its own part only. Outside of it a node may have been made Primary by hand
(`pc.bootstrap=YES`, Galera documentation, "Resetting the Quorum") and take rows, whatever the others see.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.galera.two_primaries import apart
from services.discovery.model import ALL_DOWN, NO_PRIMARY, NO_PRIMARY_HEARD, TWO_PRIMARIES, Component
from services.discovery.nodes import Node
from services.discovery.words import joined, names, some
from services.facts.model import Problem
from services.i18n import tr, tr_n


def silent_of(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the data nodes of which nothing is known now: SQL is silent, and no host says that no server runs."""
    return tuple(n for n in nodes if not (n.arbitrator or n.behind or n.sql_fresh or _stopped(n)))


def _stopped(node: Node) -> bool:
    """Return whether the host itself says that no server's process is there ('?' is not known)."""
    return node.ssh_fresh and node.machine is not None and node.machine.server_state == ""


def quorum_problems(name: str, nodes: Sequence[Node], components: Sequence[Component]) -> list[Problem]:
    """Return what is wrong with the Primary Component of the cluster `name`; nothing where there is one."""
    primaries = [c for c in components if c.primary]
    if len(primaries) > 1:
        return [_several(nodes, components, primaries)]
    if primaries:
        return []
    if components:
        return [_none(components, silent_of(nodes))]
    data = [n for n in nodes if not (n.arbitrator or n.behind)]
    heard = [n for n in data if n.facts is not None]
    if not heard or not all(_stopped(n) and not n.sql_fresh for n in heard):
        return []
    if unasked := sorted(n.name for n in data if n.facts is None):
        text = tr_n(
            "No server of {name} runs on the hosts that answer; {others} was not queried: it may be a Primary "
            "Component. bootstrap-after-crash (Procedures) queries it first.",
            "No server of {name} runs on the hosts that answer; {others} were not queried: they may be a "
            "Primary Component. bootstrap-after-crash (Procedures) queries them first.",
            len(unasked),
            name=name,
            others=names(unasked),
        )
        return [Problem("galera", text, NO_PRIMARY_HEARD)]
    text = tr(
        "All nodes of {name} are down: each host reports that no server runs. bootstrap-after-crash "
        "(Procedures) guides you through the start.",
        name=name,
    )
    return [Problem("galera", text, ALL_DOWN)]


def _several(nodes: Sequence[Node], components: Sequence[Component], primaries: Sequence[Component]) -> Problem:
    by_id = {n.node_id: n.name for n in nodes}
    sides = joined(*(names(sorted(by_id.get(m, m) for m in c.observers)) for c in primaries))
    # After a split both sides number their views on, each for itself: only who counts whom tells it from a view
    # change that somebody has not learnt of yet.
    if len({c.view_id for c in primaries}) == len(primaries) and not apart(components):
        text = tr(
            "Nodes are in different views of one primary component: {sides}. One side has been left behind.",
            sides=sides,
        )
        return Problem("galera", text, "views-differ")
    text = tr(
        "Two primary components with the same state UUID: {sides}. Each accepts writes without the other.",
        sides=sides,
    )
    return Problem("galera", text, TWO_PRIMARIES)


def _none(components: Sequence[Component], silent: Sequence[Node]) -> Problem:
    if silent:
        text = tr_n(
            "None of the nodes that answer is in a Primary Component; the state of {names} is not known: it "
            "may be in one.",
            "None of the nodes that answer is in a Primary Component; the states of {names} are not known: "
            "they may form one.",
            len(silent),
            names=names(sorted(n.name for n in silent)),
        )
        return Problem("galera", text, NO_PRIMARY_HEARD)
    seen = some(len(components), "{n} group of nodes", "{n} groups of nodes")
    text = tr("No primary component: {groups}, none with a majority; writes are refused.", groups=seen)
    return Problem("galera", text, NO_PRIMARY)

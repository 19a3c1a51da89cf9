"""What is wrong with a group as a whole: no majority, two of them, no primary. A silent member may be in one."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.group_replication.views import state_of, word_of
from services.discovery.model import ALL_DOWN, NO_PRIMARY, NO_PRIMARY_HEARD, TWO_PRIMARIES, Component
from services.discovery.nodes import Node
from services.discovery.words import joined, names
from services.facts.model import Problem
from services.i18n import tr, tr_n

PART = "group replication"


def silent_of(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the members of which nothing is known now: SQL is silent, and no host says that no server runs."""
    return tuple(n for n in nodes if not (n.behind or n.spare or n.sql_fresh or _stopped(n)))


def _stopped(node: Node) -> bool:
    return node.ssh_fresh and node.machine is not None and node.machine.server_state == ""


def group_problems(name: str, nodes: Sequence[Node], components: Sequence[Component]) -> list[Problem]:
    """Return what is wrong with the majority of the group `name`."""
    majorities = [c for c in components if c.primary]
    called = {n.node_id: n.name for n in nodes}
    if len(majorities) > 1:
        sides = joined(*(names(sorted(called.get(m, m) for m in c.members)) for c in majorities))
        if set(majorities[0].members) & set(majorities[1].members):
            text = tr("Members are in different views of one group: {sides}.", sides=sides)
            return [Problem(PART, text, "views-differ")]
        text = tr(
            "Two parts of the group each have a majority in their own view: {sides}. They accept writes separately.",
            sides=sides,
        )
        return [Problem(PART, text, TWO_PRIMARIES)]
    if majorities:
        return _no_primary_member(name, nodes, majorities[0])
    if components:
        odd = tuple(n for n in nodes if n.sql_fresh and word_of(n))
        return [_none((*silent_of(nodes), *odd))]
    members = [n for n in nodes if not (n.behind or n.spare)]
    if members and all(_stopped(n) and not n.sql_fresh for n in members):
        text = tr("All members of {name} are down: each host reports that no server runs.", name=name)
        return [Problem(PART, text, ALL_DOWN)]
    if members and all(n.sql_fresh and state_of(n) in {"OFFLINE", "ERROR"} for n in members):
        text = tr("No server of {name} is in the group: it must be bootstrapped again.", name=name)
        return [Problem(PART, text, NO_PRIMARY)]
    return []


def _none(silent: Sequence[Node]) -> Problem:
    if silent:
        text = tr_n(
            "No member that answers reaches a majority; the state of {names} is not known: it may be part of one.",
            "No member that answers reaches a majority; the states of {names} are not known: they may form one.",
            len(silent),
            names=names(sorted(n.name for n in silent)),
        )
        return Problem(PART, text, NO_PRIMARY_HEARD)
    return Problem(PART, tr("No part of the group has a majority; writes wait."), NO_PRIMARY)


def _no_primary_member(name: str, nodes: Sequence[Node], majority: Component) -> list[Problem]:
    """Return a problem where the group elects one primary, and no member of the majority is it."""
    seen = (n.facts for n in nodes if n.node_id in majority.observers and n.facts is not None)
    groups = [facts.group for facts in seen if facts.group is not None]
    told = [m for g in groups for m in g.members if m.role]
    single = any(g.single_primary for g in groups)
    if not told or not single or any(m.role == "PRIMARY" and m.state == "ONLINE" for m in told):
        return []
    return [
        Problem(
            PART,
            tr("{name} has a majority and no primary: writes wait for an election.", name=name),
            "no-primary-member",
        )
    ]

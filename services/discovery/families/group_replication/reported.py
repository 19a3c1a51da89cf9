"""What a member of a group tells of itself beyond its group: its id, its numbers, its words."""

from __future__ import annotations

from services.discovery.families.port import QuorumWords
from services.facts.model import NodeFacts
from services.facts.numeric import group_values
from services.i18n import mark

WORDS = QuorumWords(
    two=mark("{name}: two parts of the group, each with a majority in its view, accept writes separately: {sides}"),
    none=mark("{name}: no part of the group has a majority"),
    unheard=mark("{name}: none of the members that answer is in a majority of the group"),
    apart=mark("another part of the group accepts writes separately from this one: {names}"),
)


def live_id(facts: NodeFacts) -> tuple[str, ...]:
    """Return the group and the member's id in it, () while the server is in none."""
    group = facts.group
    return ("member", group.group_name, group.member_id) if group is not None and group.own and group.member_id else ()


def self_report(facts: NodeFacts) -> tuple[object, ...]:
    """Return group, id, and its view: its state, its role, whom it sees how. Answers of one moment agree in them."""
    group = facts.group
    if group is None:
        return (None,) * 7
    own = group.own
    rows = tuple(sorted((m.member_id, m.host, m.port, m.state, m.role) for m in group.members)) or None
    state, role = (own.state, own.role) if own is not None else ("", "")
    return group.group_name, group.member_id, state, role, group.view_id, group.single_primary, rows


def sampled(facts: NodeFacts) -> dict[str, float]:
    """Return what a member says of its own queues."""
    return group_values(facts.group) if facts.group is not None else {}

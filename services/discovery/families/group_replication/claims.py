"""How a member of a group tells its group (its name, a UUID) and its fellows (the table of members, its seeds)."""

from __future__ import annotations

from collections.abc import Iterator

from services.discovery.families.group_replication.kind import GROUP_REPLICATION, speaks
from services.discovery.families.port import Lead
from services.discovery.families.shared.claiming import Membership
from services.facts.model import NodeFacts
from services.facts.reading import host_port


def home(facts: NodeFacts) -> str:
    """Return the group's name, '' where no group is configured."""
    return facts.group.group_name if facts.group is not None else ""


def fellows(facts: NodeFacts) -> Iterator[str]:
    """Yield the hosts that a member names as members."""
    if facts.group is not None:
        yield from (member.host for member in facts.group.members)
        yield from facts.group.seeds


def leads(facts: NodeFacts) -> Iterator[Lead]:
    """Yield whom a host names: the group's members, then the seeds of its configuration (their port is the group's)."""
    if facts.group is None:
        return
    others = (m for m in facts.group.members if m.host and m.member_id != facts.group.member_id)
    yield from (Lead(member.host) for member in others)
    yield from (Lead(host_port(seed)[0], sure=False) for seed in facts.group.seeds)


MEMBERSHIP = Membership(
    kinds=(GROUP_REPLICATION,),
    home=home,
    member=speaks,
    fellows=fellows,
    prefix="group",
)

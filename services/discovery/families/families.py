"""Families in the order in which they are asked, and what all of them together tell of a host or a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from services.types import SEVERAL_GROUPS, VOTES, ClusterKind

if TYPE_CHECKING:
    from services.discovery.families.port import Family, Lead, Lent
    from services.discovery.model import EstateSnapshot
    from services.discovery.nodes import Node
    from services.facts.model import NodeFacts


class Families:
    """Families in the order in which they are asked whose a node is; the last takes whatever is left.

    Raises ValueError when two declare the same kind.
    """

    def __init__(self, families: Sequence[Family]) -> None:
        self._families = tuple(families)
        owners = [(kind, family) for family in self._families for kind in family.kinds]
        self._owners = {kind.code: family for kind, family in owners}
        self._kinds = {kind.words: kind for kind, _ in owners}
        if not len(self._owners) == len(self._kinds) == len(owners):
            raise ValueError("two families declare the same kind of cluster")

    def __iter__(self) -> Iterator[Family]:
        """Iterate in order."""
        return iter(self._families)

    def of(self, kind: ClusterKind) -> Family:
        """Return the family that declares a kind."""
        return self._owners[kind.code]

    def kind(self, words: object) -> ClusterKind:
        """Return the kind that stands in files as these words. Raises ValueError where no family declares it."""
        found = self._kinds.get(words) if isinstance(words, str) else None
        if found is None:
            raise ValueError("no kind of cluster that is known here")
        return found

    @property
    def kinds(self) -> tuple[ClusterKind, ...]:
        """Return every kind that is declared."""
        return tuple(self._kinds.values())

    def _spoken_of(self, facts: NodeFacts) -> Iterator[Family]:
        """Yield the families that a host's facts tell of: the others are not loaded to say that they know nothing."""
        return (family for family in self._families if family.speaks(facts))

    def concerned(self, nodes: Sequence[Node], previous: EstateSnapshot | None) -> Iterator[Family]:
        """Yield the families that may claim any of these nodes: one tells of it, or the last picture had a cluster."""
        before = {cluster.kind for cluster in previous.clusters} if previous is not None else set()
        told = [node.facts for node in nodes if node.facts is not None]
        for family in self._families:
            if not before.isdisjoint(family.kinds) or any(map(family.speaks, told)):
                yield family

    def takers(self, members: Sequence[Node]) -> Iterator[Family]:
        """Yield the families that may take nodes which none claims; one that votes only where a node tells of it."""
        told = [node.facts for node in members if node.facts is not None]
        for family in self._families:
            grouped = any({VOTES, SEVERAL_GROUPS} & kind.traits for kind in family.kinds)
            if not grouped or any(map(family.speaks, told)):
                yield family

    def leads(self, facts: NodeFacts) -> list[Lead]:
        """Return whom a host names: members and channels of now before what only stands in a configuration."""
        return sorted(
            (lead for family in self._spoken_of(facts) for lead in family.leads(facts)), key=lambda lead: not lead.sure
        )

    def fellows(self, facts: NodeFacts) -> list[str]:
        """Return the addresses that a host names as those of members of its group."""
        return [address for family in self._spoken_of(facts) for address in family.fellows(facts)]

    def home(self, facts: NodeFacts) -> str:
        """Return the id of the cluster that a host says it is in, '' where it says none."""
        return next((home for family in self._spoken_of(facts) if (home := family.home(facts))), "")

    def live_id(self, facts: NodeFacts) -> tuple[str, ...]:
        """Return what no other running server has while it is in its group, the id last; () where it tells none."""
        return next((found for family in self._spoken_of(facts) if (found := family.live_id(facts))), ())

    def told(self, facts: NodeFacts) -> Mapping[tuple[ClusterKind, int], object]:
        """Return what a server says of itself in whatever group, each by its family's first kind and its place."""
        spoken_of = self._spoken_of(facts)
        return {(f.kinds[0], place): part for f in spoken_of for place, part in enumerate(f.told(facts))}

    def addresses(self, facts: NodeFacts) -> list[str]:
        """Return the names and addresses by which a server is known in its group."""
        return [address for family in self._spoken_of(facts) for address in family.addresses(facts)]

    def segment(self, facts: NodeFacts) -> int | None:
        """Return the segment that a server is in, None where it tells none."""
        return next((found for family in self._spoken_of(facts) if (found := family.segment(facts)) is not None), None)

    def sampled(self, facts: NodeFacts) -> dict[str, float]:
        """Return the numbers of its group that are sampled beside the server's status."""
        return {name: value for family in self._spoken_of(facts) for name, value in family.sampled(facts).items()}

    def lent(self, facts: NodeFacts) -> Lent | None:
        """Return what a server could lend one that was away, None where it lends nothing or does not tell."""
        return next((found for family in self._spoken_of(facts) if (found := family.lent(facts)) is not None), None)

    def moving(self, facts: NodeFacts) -> bool:
        """Return whether a server that answers may be in a state transfer."""
        return any(family.moving(facts) for family in self._spoken_of(facts))

    def lost(self, old: NodeFacts, new: NodeFacts, name: str) -> str:
        """Return that a server gave up some of its data between two answers, '' where it tells of none."""
        return next((said for family in self._spoken_of(new) if (said := family.lost(old, new, name))), "")

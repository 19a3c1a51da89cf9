"""Asynchronous replication: nodes belong together because channels run between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.discovery.families.port import Lead
from services.discovery.families.replication.kind import ASYNC, speaks
from services.discovery.families.shared.channels import Link
from services.discovery.families.shared.plain import Plain
from services.discovery.nodes import Node
from services.facts.model import NodeFacts
from services.types import ClusterKind


class Replication(Plain):
    """Trees, chains and rings."""

    kinds = (ASYNC,)

    def speaks(self, facts: NodeFacts) -> bool:
        """Return whether it told of channels or replicas."""
        return speaks(facts)

    def leads(self, facts: NodeFacts) -> Iterator[Lead]:
        """Yield a host's sources, then its replicas."""
        if facts.replication is not None:
            yield from (Lead(channel.source_host) for channel in facts.replication.channels)
            yield from (Lead(replica.host) for replica in facts.replication.replicas)

    def takes(self, _members: Sequence[Node], links: Sequence[Link]) -> ClusterKind | None:
        """Return the kind where any channel runs."""
        return ASYNC if links else None

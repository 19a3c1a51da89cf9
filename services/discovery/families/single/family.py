"""What is left: a server that nothing ties to another, and hosts that tell nothing of what they are."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.shared.channels import Link
from services.discovery.families.shared.plain import Plain
from services.discovery.families.single.kind import SINGLE, UNKNOWN
from services.discovery.judgement.replication_known import channels_doubt, replicas_doubt
from services.discovery.nodes import Node
from services.facts.model import NodeFacts
from services.types import ClusterKind


class Single(Plain):
    """Servers alone, and the unknown; it takes whatever no other family does."""

    kinds = (SINGLE, UNKNOWN)

    def speaks(self, _facts: NodeFacts) -> bool:
        """Return False: no answer of a server tells of it."""
        return False

    def takes(self, members: Sequence[Node], _links: Sequence[Link]) -> ClusterKind:
        """Return the kind: 'single server' is said of a host that said so much itself, both ways."""
        only = members[0] if len(members) == 1 else None
        if only is None:
            return UNKNOWN
        if only.server is not None:
            return UNKNOWN if channels_doubt(only, needed=True) or replicas_doubt(only) else SINGLE
        runs_none = only.machine is not None and only.machine.server_state == ""  # a spare?
        return SINGLE if runs_none else UNKNOWN

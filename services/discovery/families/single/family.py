"""What is left: a server that nothing ties to another, and hosts that tell nothing of what they are."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.shared.channels import Link
from services.discovery.families.shared.plain import Plain
from services.discovery.families.single.kind import SINGLE, UNKNOWN
from services.discovery.nodes import Node
from services.types import ClusterKind


class Single(Plain):
    """Servers alone, and the unknown; it takes whatever no other family does."""

    kinds = (SINGLE, UNKNOWN)

    def takes(self, members: Sequence[Node], _links: Sequence[Link]) -> ClusterKind:
        """Return the kind: 'single server' is said of a host that said so much itself."""
        only = members[0] if len(members) == 1 else None
        runs_none = only is not None and only.machine is not None and only.machine.server_state == ""  # a spare?
        return SINGLE if only is not None and (only.server or runs_none) else UNKNOWN

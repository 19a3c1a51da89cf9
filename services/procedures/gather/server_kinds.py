"""What is gathered of a host for the sake of the kind of its server: one entry a kind that is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from services.discovery.families.mongodb.claims import own_set
from services.facts.model import NodeFacts
from services.inventory.kinds import MONGODB, MYSQL
from services.procedures.plan.part import Part
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.server.options import Options


def _nothing(_node: NodeFacts | None) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class GatheredKind:
    """One kind.

    Attributes:
        tells_member: parts that are read of every host, to tell whose member its server is; () where it says so itself.
        tells_running: those of them that a mere look at the cluster's state reads while the server answers.
        part_of: the id of the part of a cluster that a server is in, which has a lock of its own; '' for none.
    """

    tells_member: tuple[type[Part], ...] = ()
    tells_running: tuple[type[Part], ...] = ()
    part_of: Callable[[NodeFacts | None], str] = _nothing


GATHERED: Mapping[str, GatheredKind] = {
    MYSQL.code: GatheredKind(tells_member=(Options, DataFolder), tells_running=(DataFolder,)),
    MONGODB.code: GatheredKind(part_of=own_set),
}
"""By the code of a kind."""

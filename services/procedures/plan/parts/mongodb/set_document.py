"""The configuration of a replica set that lies in the data of a server, whether it was started as a member or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import mongo as reads
from services.facts.mongodb.values import documents, inside, line
from services.procedures.plan.part import Part, Reading, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class SetDocument(Part):
    """Read from local.system.replset of a mirrored config server, where none belongs.

    names: of the sets that lie there; None: not read.
    """

    way: ClassVar[Way] = Way.ANY

    names: tuple[str, ...] | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        mongo = host.node.mongo if host.node is not None else None
        if mongo is None or mongo.server.config != "mirrored":
            return None
        body = reading.ask("set-document", reads.SET_DOCUMENT)
        found = inside(body or {}, "cursor").get("firstBatch")
        return None if body is None else cls(tuple(line(one.get("_id")) for one in documents(found, 2)))

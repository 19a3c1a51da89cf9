"""In which term a member of a replica set voted last, which its data keep whatever the set's protocol is now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import mongo as reads
from services.facts.mongodb.values import documents, inside, number
from services.procedures.plan.part import Part, Reading, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

NEVER = -1


@dataclass(frozen=True, slots=True)
class LastVote(Part):
    """Read from local.replset.election of a member. term: NEVER where it never elected by terms, None: not known."""

    way: ClassVar[Way] = Way.ANY

    term: int | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        mongo = host.node.mongo if host.node is not None else None
        if mongo is None or mongo.set is None:
            return None
        body = reading.ask("last-vote", reads.LAST_VOTE)
        found = inside(body or {}, "cursor").get("firstBatch")
        if body is None or not isinstance(found, list):
            return cls()
        if not found:
            return cls(NEVER)
        terms = [number(one.get("term")) for one in documents(found, 1)]
        return cls(terms[0] if terms else None)

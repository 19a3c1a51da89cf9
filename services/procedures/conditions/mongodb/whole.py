"""A replica set is whole: every member does its part, and exactly one is primary."""

from __future__ import annotations

from dataclasses import field

from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.conditions.mongodb.of_set import OfSet
from services.procedures.conditions.mongodb.told import primaries, unreached, unserving
from services.procedures.plan.actions import WHERE_SET
from services.procedures.plan.condition import Answer, Declared, condition


@condition("mongodb.whole", "every member of the set to serve, one of them as primary")
class SetWhole(OfSet):
    """Each of these members is PRIMARY, SECONDARY or ARBITER by its own word, exactly one is primary, and that one sees
    every member so: an arbiter under access control, which tells nobody, too.

    Attributes:
        primary: who it must be, '' for anyone. leaving: how the set calls a member on its way out that counts no
            more: 'host:port'; '' for none.
    """

    primary: str = ""
    leaving: str = field(default="", metadata={WHERE_SET: True})

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), stands=frozenset(f"server {host}" for host in self.hosts))

    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """See OfSet."""
        if told := unserving(views):
            return Answer(holds=False, evidence=told)
        leading = primaries(views)
        if len(leading) == 1 and (told := unreached(views[leading[0]], self.leaving)):
            return Answer(holds=False, evidence=f"{leading[0]} sees {told}")
        said = f"primary is {' and '.join(leading) or 'nobody'}"
        return Answer(len(leading) == 1 and (not self.primary or leading[0] == self.primary), said)

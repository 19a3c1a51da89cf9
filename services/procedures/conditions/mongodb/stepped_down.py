"""A member has given up being primary, and another one is; or it need not."""

from __future__ import annotations

from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.conditions.mongodb.of_set import OfSet
from services.procedures.conditions.mongodb.release import RunsRelease
from services.procedures.conditions.mongodb.told import primaries
from services.procedures.plan.condition import Answer, OfHosts, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.another-leads", "another member to be primary")
class AnotherLeads(OfSet):
    """Exactly one of these members is primary by its own word, and it is not `but`."""

    but: str

    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """See OfSet."""
        leading = primaries(views)
        evidence = f"primary is {' and '.join(leading) or 'nobody'}"
        return Answer(len(leading) == 1 and leading[0] != self.but, evidence)


@condition("mongodb.need-not-step-down", "the primary to run the new version, or another member to be primary")
class NeedNotStepDown(OfHosts):
    """`but` runs the new version already, so that its server is not replaced, or another one of these leads."""

    but: str
    version: str

    def look(self, asking: Asking) -> Answer:
        """Ask the one for its version, then every member."""
        runs = RunsRelease(self.but, self.version).look(asking)
        return runs if runs.holds else AnotherLeads(self.hosts, self.but).look(asking)

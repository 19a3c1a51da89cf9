"""A member that may lead has what the primary has: without one a step-down holds the writes, and gives up at last."""

from __future__ import annotations

from services.connections.mongo.document import Stamp
from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.conditions.mongodb.told import own, told_by_all
from services.procedures.plan.condition import Answer, OfHosts, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.successor-follows", "an electable member to have the newest entry")
class SuccessorFollows(OfHosts):
    """Some member that may be elected has the primary's newest entry of the look before, and it is of the same term.

    Without one replSetStepDown holds every write for as long as it waits (secondaryCatchUpPeriodSecs) and is refused:
    45 s were seen, where both secondaries had still to roll back an entry of an older term (3.2.5).
    """

    def look(self, asking: Asking) -> Answer:
        """Ask every member; what the primary had at the look before is what the others must have."""
        views = told_by_all(asking, self.hosts)
        if isinstance(views, Answer):
            return views
        before = asking.memory.value(self)
        asking.memory.keep(self, _newest(views))
        if before is None or not isinstance(before, tuple):
            return Answer(holds=False, evidence="the newest entry of the primary was read only once")
        entry, term = before
        having = [host for host, view in views.items() if _may_lead(view) and _has(view, entry, term)]
        if not having:
            return Answer(holds=False, evidence="no electable member has the newest entry of the primary")
        return Answer(holds=True, evidence=f"{', '.join(having)}: has the newest entry of the primary")


def _newest(views: dict[str, ReplicaSet]) -> tuple[Stamp, int | None] | None:
    leading = next((own(view) for view in views.values() if own(view).state == "PRIMARY"), None)
    return (leading.optime, leading.optime_term) if leading is not None and leading.optime is not None else None


def _may_lead(view: ReplicaSet) -> bool:
    mine = own(view)
    return mine.state == "SECONDARY" and not mine.arbiter and (mine.priority or 0) > 0 and mine.votes != 0


def _has(view: ReplicaSet, entry: Stamp, term: int | None) -> bool:
    mine = own(view)
    return mine.optime is not None and mine.optime >= entry and mine.optime_term == term

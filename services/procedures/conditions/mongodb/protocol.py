"""Which election protocol a replica set runs, by every member's own word."""

from __future__ import annotations

from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.conditions.mongodb.of_set import OfSet
from services.procedures.conditions.mongodb.told import own, primaries
from services.procedures.plan.condition import Answer, Declared, condition


@condition("mongodb.protocol", "every member to run the wanted protocol version")
class ProtocolIs(OfSet):
    """Every member has a configuration with this protocolVersion, and one of them is primary.

    Under 1 every member knows a term (0 and up), under 0 none does (-1): tried on 3.2.5.
    """

    protocol: int

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), stands=frozenset(f"protocol {host}" for host in self.hosts))

    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """See OfSet."""
        other = [host for host, view in views.items() if not _runs(view, self.protocol)]
        if other:
            evidence = ", ".join(f"{h} has protocolVersion {views[h].protocol} and term {views[h].term}" for h in other)
            return Answer(holds=False, evidence=evidence)
        leading = primaries(views)
        said = f"protocolVersion {self.protocol} on {', '.join(views)}; primary is {' and '.join(leading) or 'nobody'}"
        return Answer(len(leading) == 1, said)


def _runs(view: ReplicaSet, protocol: int) -> bool:
    term = view.term
    return view.protocol == protocol and term is not None and (term >= 0) == (protocol == 1)


@condition("mongodb.optimes", "every member to have applied an entry of the wanted protocol")
class OptimesOf(OfSet):
    """Every member with data has applied an entry of this protocol: its optime has a term under 1, and none under 0."""

    protocol: int

    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """See OfSet."""
        terms = {host: own(view).optime_term for host, view in views.items() if not own(view).arbiter}
        if blind := [host for host, term in terms.items() if term is None]:
            return Answer(holds=None, evidence=f"{', '.join(blind)} reported no optime")
        other = [f"{host} (t: {term})" for host, term in terms.items() if (term != -1) != (self.protocol == 1)]
        if other:
            return Answer(holds=False, evidence=f"not yet: {', '.join(other)}")
        return Answer(holds=True, evidence=f"entries of protocolVersion {self.protocol} on {', '.join(terms)}")


@condition("mongodb.nobody-elected", "no election by terms to have taken place")
class NobodyElected(OfSet):
    """No member was elected by terms: the set is at the first one, with which protocolVersion 1 begins.

    Members keep the term in which they voted, also under 0 (3.2.5): of terms that begin at 0 again a later primary
    learns from them, and ends itself.
    """

    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """See OfSet."""
        if blind := [host for host, view in views.items() if view.term is None]:
            return Answer(holds=None, evidence=f"{', '.join(blind)} reported no term")
        newest = max(view.term for view in views.values() if view.term is not None)
        if newest > 0:
            return Answer(holds=False, evidence=f"an election by terms took place: the term is {newest}")
        return Answer(holds=True, evidence="no election by terms took place")

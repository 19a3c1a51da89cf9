"""A replica set can do without a member: the others elect and keep a primary while its server is away."""

from __future__ import annotations

from services.facts.mongodb.replica_set import SERVING, ReplicaSet
from services.procedures.conditions.mongodb.of_set import OfSet
from services.procedures.conditions.mongodb.told import primaries
from services.procedures.plan.condition import Answer, condition


def without(view: ReplicaSet, place: str) -> tuple[bool | None, str]:
    """Return whether a set can do without the member at a place, as its primary sees it, and why; None: not known."""
    gone = next((one for one in view.members if one.place.name == place), None)
    if gone is None:
        return False, f"{place} is no longer a member of {view.name}"
    if view.votes is None or view.majority is None:
        return None, f"the number of votes of {view.name} is not known"
    others = tuple(one for one in view.members if one is not gone and one.reached and one.state in SERVING)
    left = sum(one.votes or 0 for one in others)
    evidence = f"without {place} {left} of {view.votes} votes of {view.name} are left, {view.majority} are required"
    if left < view.majority:
        return False, f"{evidence}: restore votes first"
    able = any((one.priority or 0) > 0 and one.votes and not one.arbiter for one in others)
    if gone.state == "PRIMARY" and not able:
        return False, f"no other member of {view.name} is electable: give one a vote and a priority first"
    return True, evidence


@condition("mongodb.spared", "the set to keep a majority of its votes without the server that is stopped")
class Spared(OfSet):
    """The votes of the other members that serve are a majority, and where this one leads another one may.

    Attributes:
        place: how the set calls the member that goes away, 'host:port': an arbiter tells nobody anything.
    """

    place: str

    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """See OfSet."""
        leading = primaries(views)
        if len(leading) != 1:
            return Answer(holds=False, evidence=f"primary is {' and '.join(leading) or 'nobody'}")
        holds, told = without(views[leading[0]], self.place)
        return Answer(holds, told)

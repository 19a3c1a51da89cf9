"""That no member came to a replica set since the plan was made."""

from __future__ import annotations

from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.conditions.mongodb.of_set import OfSet
from services.procedures.plan.condition import Answer, condition


@condition("mongodb.no-other-member", "the set to have no member outside the plan")
class NoOtherMember(OfSet):
    """Each of these members has a configuration that names no other place than these.

    Attributes:
        places: how the set calls every member of the plan, 'host:port'.
    """

    places: tuple[str, ...]

    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """See OfSet."""
        named = dict.fromkeys(one.place.name for view in views.values() for one in view.members)
        name = next(iter(views.values())).name
        if other := [place for place in named if place not in self.places]:
            many = "are members" if len(other) > 1 else "is a member"
            return Answer(
                holds=False, evidence=f"{', '.join(other)} {many} of {name}, and not in the plan: make a new plan"
            )
        return Answer(holds=True, evidence=f"{name} consists of {', '.join(named)} only")

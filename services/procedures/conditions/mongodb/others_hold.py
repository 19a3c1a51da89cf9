"""The other members of a replica set have a majority while a person has one in hand: up or down, it counts not."""

from __future__ import annotations

from services.errors import UserError
from services.procedures.conditions.mongodb.spared import without
from services.procedures.conditions.mongodb.told import told_by
from services.procedures.plan.condition import Answer, Declared, OfHosts, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.others-hold", "the other members to have a majority")
class OthersHold(OfHosts):
    """One of these members, all but the one in hand, sees a majority of the set's votes without it.

    A view is as old as its last heartbeats, ten seconds at most. Not known where none of them tells anything.

    Attributes:
        place: how the set calls the member in hand, 'host:port'.
    """

    place: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), enough_of=frozenset(self.hosts))

    def look(self, asking: Asking) -> Answer:
        """Ask each of them."""
        found = asking.each(self.hosts, lambda host: told_by(asking, host))
        views = [one for one in found.values() if not isinstance(one, UserError)]
        seen = [Answer(*without(view, self.place)) for view in views]
        holding = next((one for one in seen if one.holds), None)
        lost = next((one for one in seen if one.holds is False), None)
        return holding or lost or Answer(holds=None, evidence=f"none of {', '.join(self.hosts)} reports its set")

"""The other members of a replica set keep up while a person has one in hand: writes may wait for a majority of them."""

from __future__ import annotations

from services.connections.mongo.document import Stamp
from services.errors import UserError
from services.facts.mongodb.replica_set import SERVING, ReplicaSet, SetMember
from services.procedures.conditions.mongodb.told import told_by
from services.procedures.plan.condition import Answer, Declared, OfHosts, condition
from services.procedures.plan.looks import Asking


def acknowledging(view: ReplicaSet, place: str) -> int:
    """Return the votes of members with data, but for the one at a place: only these acknowledge writes."""
    return sum(one.votes or 0 for one in view.members if one.place.name != place and not one.arbiter)


@condition("mongodb.others-follow", "the other members to keep up")
class OthersFollow(OfHosts):
    """Members with a majority of the votes have what the primary had at the look before, or lack it for seconds only.

    A write with w: "majority" waits for them (MongoDB manual, "Write Concern"): without the member in hand it would
    wait for one that is behind. Not known at the first look, and while nobody leads.

    Attributes:
        place: how the set calls the member in hand, 'host:port'. lag_s: so far behind may one be.
    """

    place: str
    lag_s: int = 10

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), enough_of=frozenset(self.hosts))

    def look(self, asking: Asking) -> Answer:
        """Ask each of them; who leads knows best how far the others are."""
        found = asking.each(self.hosts, lambda host: told_by(asking, host))
        views = [one for one in found.values() if not isinstance(one, UserError)]
        view = next((v for v in views if v.own is not None and v.own.state == "PRIMARY"), next(iter(views), None))
        primary = view.primary if view is not None else None
        before = asking.memory.value((self, "leading"))
        asking.memory.keep((self, "leading"), primary.optime if primary is not None else None)
        if view is None or primary is None or view.majority is None:
            return Answer(holds=None, evidence="the primary and the progress of the others are not known")
        if not isinstance(before, Stamp):
            return Answer(holds=None, evidence="the progress of the others is known from the second reading on")
        return self._judged(view, primary, before)

    def _judged(self, view: ReplicaSet, primary: SetMember, before: Stamp) -> Answer:
        others = [one for one in view.members if one.place.name != self.place and not one.arbiter and one.votes]
        lags = {one.place.name: self._lag(one, view, primary, before) for one in others}
        keeps_up = sum(
            one.votes or 0 for one in others if (lag := lags[one.place.name]) is not None and lag < self.lag_s
        )
        late = ", ".join(
            f"{name} is {lag} s behind" for name, lag in lags.items() if lag is not None and lag >= self.lag_s
        )
        evidence = f"without {self.place} {keeps_up} of {view.votes} votes keep up, {view.majority} are required"
        return Answer(keeps_up >= (view.majority or 0), f"{evidence}: {late}" if late else evidence)

    @staticmethod
    def _lag(one: SetMember, view: ReplicaSet, primary: SetMember, before: Stamp) -> int | None:
        """Return by how much one is behind the entry of the look before; None where it serves nobody, or is away."""
        if one is primary:
            return 0
        return one.behind_s(before, view.at) if one.reached and one.state in SERVING else None

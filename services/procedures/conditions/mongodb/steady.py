"""A replica set stays whole for a while: nobody lags, it does not elect again and again, and no lead is about to go."""

from __future__ import annotations

from dataclasses import replace

from services.connections.mongo.document import Stamp
from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.conditions.mongodb.told import (
    behind,
    leading_at,
    own,
    primaries,
    told_by_all,
    unserving,
    untold,
)
from services.procedures.plan.condition import Answer, Declared, OfHosts, condition
from services.procedures.plan.looks import Asking
from services.procedures.plan.remembering import most_gap_s

MOST_TERMS = 2
_ELECTION_MS, _TIMEOUTS, _PATIENCE_S = 10_000, 3, 200.0
"""electionTimeoutMillis where the configuration gives none (MongoDB manual, "Replica Set Configuration")."""


@condition("mongodb.steady", "the set to stay complete for a while")
class SetSteady(OfHosts):
    """At every look of `for_s` seconds each member serves, one is primary, and nobody is `lag_s` seconds behind.

    The term rises by two at most from the first look on.
    """

    for_s: float
    lag_s: int = 10

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), lasts_s=self.for_s)

    def look(self, asking: Asking) -> Answer:
        """Ask every member; it must have been so at every look."""
        views = told_by_all(asking, self.hosts)
        if isinstance(views, Answer):
            asking.memory.broke(self)
            return views
        before = asking.memory.value((self, "leading"))
        late = {h: lag for h, lag in behind(views, before if isinstance(before, Stamp) else None).items()
                if lag >= self.lag_s}  # fmt: skip
        asking.memory.keep((self, "leading"), leading_at(views))
        leading = primaries(views)
        fault = unserving(views) or ("" if len(leading) == 1 else f"{len(leading)} members are primary")
        fault = fault or ", ".join(f"{host} is {lag} s behind" for host, lag in late.items())
        blind = "" if fault else untold(views)
        if fault or blind:
            asking.memory.broke(self)
            return Answer(holds=None if blind else False, evidence=fault or blind)
        if fault := self._elections(asking, [view.term for view in views.values()]):
            return Answer(holds=False, evidence=fault, final=True)
        held = asking.memory.held_s(self, asking.clock, most_gap_s(self.for_s))
        evidence = f"{leading[0]} is primary, no member is {self.lag_s} s behind, for {held:.0f} of {self.for_s:g} s"
        left = max(0.0, self.for_s - held)
        done = min(held, self.for_s)
        return Answer(held >= self.for_s, evidence, done=done, total=self.for_s, unit="s", left_s=left, stays=True)

    def _elections(self, asking: Asking, terms: list[int | None]) -> str:
        """Return that it elects again and again, '' where it does not, or no terms are known (protocolVersion 0)."""
        now = max((term for term in terms if term is not None), default=-1)
        first = asking.memory.value((self, "term"))
        if not isinstance(first, int):
            asking.memory.keep((self, "term"), now)
            return ""
        return (
            f"the term rose from {first} to {now}: the set holds repeated elections" if now > first + MOST_TERMS else ""
        )


@condition("mongodb.led-for-good", "the member with the highest priority to be primary")
class LedForGood(OfHosts):
    """The set is steady for `calm_s` seconds, and nobody of a higher priority is about to take the lead.

    The preferred member does so one election timeout after it has seen another one lead, once it has caught up (3.2.5:
    "Scheduling priority takeover"). One that has not in three of them, the set steady meanwhile, is not waited for.
    """

    calm_s: float

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), lasts_s=self.calm_s)

    def look(self, asking: Asking) -> Answer:
        """Ask every member for its part and its priority."""
        views = told_by_all(asking, self.hosts)
        if isinstance(views, Answer):
            return views
        due = _about_to_lead(views)
        steady = SetSteady(self.hosts, _patience_s(views) if due else self.calm_s).look(asking)
        if not due:
            return steady
        return replace(steady, evidence=f"{', '.join(due)} may become primary by priority: {steady.evidence}")


def _about_to_lead(views: dict[str, ReplicaSet]) -> tuple[str, ...]:
    leading = max((own(views[host]).priority or 0 for host in primaries(views)), default=0)
    others = (host for host, view in views.items() if own(view).state == "SECONDARY")
    return tuple(host for host in others if (own(views[host]).priority or 0) > leading)


def _patience_s(views: dict[str, ReplicaSet]) -> float:
    timeout = max(view.election_ms or _ELECTION_MS for view in views.values())
    return min(_PATIENCE_S, _TIMEOUTS * timeout / 1000)

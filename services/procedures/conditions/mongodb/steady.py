"""A replica set stays whole for a while: nobody lags, and it does not elect again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.connections.mongo.document import Stamp
from services.procedures.conditions.mongodb.told import (
    behind,
    leading_at,
    primaries,
    together,
    told_by_all,
    unserving,
    untold,
)
from services.procedures.plan.condition import Answer, Declared, OfHosts
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.remembering import Memory, most_gap_s
from services.procedures.plan.scripted import World

MOST_TERMS = 2


@dataclass(frozen=True, slots=True)
class SetSteady(OfHosts):
    """At every look of `for_s` seconds each member serves, one is primary, and nobody is `lag_s` seconds behind.

    The term rises by two at most from the first look on.
    """

    tag: ClassVar[str] = "mongodb.steady"
    words: ClassVar[str] = "the set to stay whole for a while"

    for_s: float
    lag_s: int = 10

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), lasts_s=self.for_s)

    def look(self, asking: Asking, past: Past) -> Answer:
        """Ask every member; it must have been so at every look."""
        del past
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
        told = f"{leading[0]} is primary, nobody is {self.lag_s} s behind, for {held:.0f} of {self.for_s:g} s"
        left = max(0.0, self.for_s - held)
        return Answer(held >= self.for_s, told, done=min(held, self.for_s), total=self.for_s, unit="s", left_s=left)

    def _elections(self, asking: Asking, terms: list[int | None]) -> str:
        """Return that it elects again and again, '' where it does not, or no terms are known (protocolVersion 0)."""
        now = max((term for term in terms if term is not None), default=-1)
        first = asking.memory.value((self, "term"))
        if not isinstance(first, int):
            asking.memory.keep((self, "term"), now)
            return ""
        return f"the term rose from {first} to {now}: it elects again and again" if now > first + MOST_TERMS else ""

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        return self.told(together(world, self.hosts))

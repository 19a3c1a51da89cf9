"""A member has given up being primary, and another one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.procedures.conditions.mongodb.told import primaries, together, told_by_all
from services.procedures.plan.condition import Answer, OfHosts
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World


@dataclass(frozen=True, slots=True)
class AnotherLeads(OfHosts):
    """Exactly one of these members is primary by its own word, and it is not `but`."""

    tag: ClassVar[str] = "mongodb.another-leads"
    words: ClassVar[str] = "another member to be primary"

    but: str

    def look(self, asking: Asking, past: Past) -> Answer:
        """Ask every member."""
        del past
        views, silent = told_by_all(asking, self.hosts)
        if silent:
            return Answer(holds=None, evidence=silent)
        leading = primaries(views)
        told = f"primary is {' and '.join(leading) or 'nobody'}"
        return Answer(len(leading) == 1 and leading[0] != self.but, told)

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        return self.told(together(world, self.hosts) and world.replica_set["primary"] != self.but)

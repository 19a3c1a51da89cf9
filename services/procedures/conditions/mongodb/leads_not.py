"""The member in hand does not lead its set, or was replaced already and leads again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.procedures.conditions.mongodb.release import RunsRelease
from services.procedures.conditions.mongodb.told import own, told_by
from services.procedures.plan.condition import Answer, OfHost
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World


@dataclass(frozen=True, slots=True)
class LeadsNot(OfHost):
    """The server is no primary by its own word, or runs this version: its highest priority took the lead back then."""

    tag: ClassVar[str] = "mongodb.leads-not"
    words: ClassVar[str] = "{host} not to be primary"

    version: str

    def look(self, asking: Asking, past: Past) -> Answer:
        """Ask the server."""
        state = own(told_by(asking, self.host)).state
        if state != "PRIMARY":
            return Answer(holds=True, evidence=f"{self.host} is {state or 'in no known state'}")
        runs = RunsRelease(self.host, self.version).look(asking, past)
        return Answer(runs.holds, f"{self.host} is PRIMARY; {runs.evidence}")

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        leads, host = world.replica_set.get("primary") == self.host, world.hosts[self.host]
        return self.told(not leads or host.release == self.version)

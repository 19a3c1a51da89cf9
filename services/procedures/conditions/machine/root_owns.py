"""A file or folder is there, and it is root's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.connections.reads import commands
from services.facts.file_answers import is_absent
from services.facts.reading import count
from services.procedures.plan.condition import Answer, OfHost
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World


@dataclass(frozen=True, slots=True)
class RootOwns(OfHost):
    """Something lies at this path, and belongs to root: what a run has made there, of which nothing is read."""

    tag: ClassVar[str] = "machine.root-owns"
    words: ClassVar[str] = "a file of the run on {host}"

    path: str

    def look(self, asking: Asking, past: Past) -> Answer:
        """Ask stat for the owner."""
        del past
        output = asking.run(self.host, commands.OWNER.read(self.path, sudo=True))
        if is_absent(output):
            return Answer(holds=False, evidence=f"{self.path} is not there on {self.host}")
        owner = count(output.text.strip()) if output.exit_code == 0 else None
        if owner is None:
            return Answer(holds=None, evidence=output.error_text or f"the owner of {self.path} could not be read")
        return Answer(owner == 0, f"{self.path} on {self.host} belongs to user {owner}")

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        return self.told(world.exists(world.hosts[self.host], self.path))

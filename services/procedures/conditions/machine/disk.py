"""There is room on a disk."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts import reads
from services.facts.machine.machine import parse_df
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.free-disk", "room on the disk of {host}")
class FreeDisk(OfHost):
    """The file system of `path` has at least this many bytes for ordinary users."""

    path: str
    at_least: int

    def look(self, asking: Asking) -> Answer:
        """Ask df for what ordinary users may still take."""
        output = asking.run(self.host, commands.DISK.read(reads.clean(self.path), sudo=True))
        disks = parse_df(output.text)
        free = disks[0].free if disks else None
        if free is None:
            said = output.error_text
            return Answer(holds=None, evidence=said or f"the free disk of {self.host} could not be read")
        said = f"{free / 1e9:.2f} GB are free at {self.path} on {self.host}"
        return Answer(free >= self.at_least, f"{said}; at least {self.at_least / 1e9:.2f} GB are wanted")

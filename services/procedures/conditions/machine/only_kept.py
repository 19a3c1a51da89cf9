"""A folder holds what was kept inside it, and nothing else."""

from __future__ import annotations

import posixpath

from services.connections.reads import commands
from services.lines import lines_of
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking

LOST_AND_FOUND = "lost+found"
_MOST_SHOWN = 5


@condition("machine.only-kept", "a folder of {host} to contain only the kept data")
class OnlyKept(OfHost):
    """`folder` holds the folder `kept` inside it, and nothing beside it but a file system's own lost+found."""

    folder: str
    kept: str

    def look(self, asking: Asking) -> Answer:
        """List the folder, hidden names too."""
        listed = asking.run(self.host, commands.ALL_NAMES.read(self.folder, sudo=True))
        if listed.exit_code:
            return Answer(holds=None, evidence=listed.error_text or f"{self.folder} of {self.host} could not be listed")
        found = [name for name in lines_of(listed.text) if name and name != LOST_AND_FOUND]
        own = posixpath.basename(self.kept)
        others = [name for name in found if name != own]
        if own not in found:
            return Answer(holds=False, evidence=f"{self.kept} does not exist on {self.host}")
        if others:
            shown = ", ".join(others[:_MOST_SHOWN]) + (" ..." if len(others) > _MOST_SHOWN else "")
            return Answer(holds=False, evidence=f"{self.folder} on {self.host} also contains {shown}")
        return Answer(holds=True, evidence=f"{self.folder} on {self.host} contains only {own}")

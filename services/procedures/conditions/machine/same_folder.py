"""A folder is still the very one that the run saw, and nothing was taken out of it or put into it."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.machine.file_answers import is_absent
from services.procedures.plan.condition import Answer, Kept, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.same-folder", "the old data of {host} to be in their folder")
class SameFolder(OfHost):
    """The folder has the device, the inode and the time of its last change of entries that the run kept.

    What lies deeper than its own entries is not looked at.

    Attributes:
        seen: the name under which 'device:inode time' is kept.
    """

    path: str
    seen: Kept

    def look(self, asking: Asking) -> Answer:
        """Ask stat for what the folder is now."""
        before = asking.past.kept.get(self.seen.name, "")
        output = asking.run(self.host, commands.FOLDER_IDENTITY.read(self.path, sudo=True))
        if is_absent(output):
            return Answer(
                holds=False,
                evidence=f"{self.path} is gone from {self.host}, or a file system is mounted over it",
                final=True,
            )
        if output.exit_code or not before:
            said = output.error_text or f"the earlier state of {self.path} on {self.host} is not known"
            return Answer(holds=None, evidence=said)
        if output.text.strip() != before:
            return Answer(
                holds=False, evidence=f"{self.path} on {self.host} is not the same folder as before", final=True
            )
        return Answer(holds=True, evidence=f"{self.path} on {self.host} is the same folder as before")

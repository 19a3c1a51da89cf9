"""A folder is there; a folder holds nothing."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.machine.file_answers import is_absent
from services.lines import lines_of
from services.procedures.conditions.machine.only_kept import LOST_AND_FOUND
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.folder-there", "a folder to exist on {host}")
class FolderThere(OfHost):
    """There is a folder of this path."""

    path: str

    def look(self, asking: Asking) -> Answer:
        """Ask stat what it is."""
        output = asking.run(self.host, commands.FILE_KIND.read(self.path, sudo=True))
        if output.exit_code:
            absent = f"{self.path} does not exist on {self.host}"
            return Answer(False if is_absent(output) else None, absent if is_absent(output) else output.error_text)
        kind = output.text.strip()
        return Answer(kind == "directory", f"{self.path} on {self.host} is a {kind}")


@condition("machine.folder-empty", "a folder of {host} to be empty")
class FolderEmpty(OfHost):
    """The folder holds nothing but a file system's own lost+found. absent: one that is not there is as good."""

    path: str
    absent: bool = False

    def look(self, asking: Asking) -> Answer:
        """List the folder, hidden names too."""
        listed = asking.run(self.host, commands.ALL_NAMES.read(self.path, sudo=True))
        if listed.exit_code:
            return Answer(holds=self.absent if is_absent(listed) else None, evidence=listed.error_text)
        found = [name for name in lines_of(listed.text) if name and name != LOST_AND_FOUND]
        return Answer(not found, f"{self.path} on {self.host} holds {len(found)} names" if found else f"{self.path} on "
                      f"{self.host} is empty")  # fmt: skip

"""The files of a backup are whole beside one another: none lacks that belongs to another, which its copy half lost."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.backup.whole_data import Pairs, parse_pairs
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

LIMIT_S, MOST_TOLD = 70.0, 8


@condition("server.files-paired", "the backup's files on {host} to be complete")
class FilesPaired(OfHost):
    """Beside each file of a table in the folders `paths` of `host` lie those that belong to it.

    What lacks in the data folder `datadir` of the member `beside` too is no fault of the backup.
    """

    paths: tuple[str, ...]
    beside: str
    datadir: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host, self.beside}))

    def look(self, asking: Asking) -> Answer:
        """List the files of each folder, and where something lacks the member's."""
        lacking: set[str] = set()
        files = 0
        for path in self.paths:
            found = _pairs(asking, self.host, path)
            if isinstance(found, str):
                return Answer(holds=None, evidence=found)
            if found.absent:
                return Answer(holds=False, evidence=f"{path} does not exist on {self.host}", final=True)
            lacking |= found.lacking
            files += found.files
        if not lacking:
            return Answer(holds=True, evidence=f"none of {files} files of tables is incomplete")
        theirs = _pairs(asking, self.beside, self.datadir)
        if isinstance(theirs, str):
            return Answer(holds=None, evidence=f"{_told(lacking)}; {theirs}")
        if left := lacking - theirs.lacking:
            return Answer(holds=False, evidence=f"the backup is incomplete: {_told(left)}", final=True)
        return Answer(holds=True, evidence=f"the missing files are missing on {self.beside} too: {_told(lacking)}")


def _pairs(asking: Asking, host: str, path: str) -> Pairs | str:
    output = asking.run(host, commands.FILES_PAIRED.read(path, sudo=True), limit_s=LIMIT_S)
    found = parse_pairs(output.text) if output.exit_code == 0 else None
    return found or output.error_text or f"the files in {path} of {host} could not be listed"


def _told(lacking: set[str]) -> str:
    return told(sorted(lacking))


def told(found: list[str] | tuple[str, ...]) -> str:
    """Return the first of them, and how many more there are."""
    more = f"; and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
    return "; ".join(found[:MOST_TOLD]) + more

"""An undo has left nothing in a folder that somebody else put there."""

from __future__ import annotations

from dataclasses import replace

from services.connections.operator.made_by_run import left_note
from services.procedures.conditions.machine.there import FolderEmpty, FolderThere
from services.procedures.looking.files import read_file
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking

_MOST = 600


@condition("machine.nothing-left", "nothing to be left of a folder of {host}")
class NothingLeft(OfHost):
    """What the undo of a folder could not remove, for no run made it, is nothing (made_by_run.py)."""

    path: str

    def look(self, asking: Asking) -> Answer:
        """Read what the undo has noted on the host."""
        told, why = read_file(asking, self.host, left_note(self.path))
        if told is None:
            return Answer(None if why else True, why or f"nothing is left of {self.path} on {self.host}")
        return Answer(False, f"on {self.host} remain contents that no run created: {told.strip()[:_MOST]}")


@condition("machine.swept", "nothing of this run to be left in a folder of {host}")
class Swept(OfHost):
    """A folder that the run made is gone, or an undo has noted what of it no run made, and stays.

    The note of an earlier run goes when the folder is made (folders_of_others.py).

    Attributes:
        emptied: the run only filled it: that it is empty is enough.
    """

    path: str
    emptied: bool = False

    def look(self, asking: Asking) -> Answer:
        """Ask for the folder, and where something is there for the note."""
        if self.emptied:
            gone = FolderEmpty(self.host, self.path, absent=True).look(asking)
        else:
            there = FolderThere(self.host, self.path).look(asking)
            gone = replace(there, holds=None if there.holds is None else not there.holds)
        if gone.holds is not False:
            return gone
        left = NothingLeft(self.host, self.path).look(asking)
        noted = replace(left, holds=True)
        return noted if left.holds is False else replace(gone, holds=None if left.holds is None else False)

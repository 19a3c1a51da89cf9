"""An undo has left nothing in a folder that somebody else put there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.connections.made_by_run import left_note
from services.procedures.looking.files import read_file
from services.procedures.plan.condition import Answer, OfHost
from services.procedures.plan.looks import Asking, Past

_MOST = 600


@dataclass(frozen=True, slots=True)
class NothingLeft(OfHost):
    """What the undo of a folder could not remove, for no run made it, is nothing (made_by_run.py)."""

    tag: ClassVar[str] = "machine.nothing-left"
    words: ClassVar[str] = "nothing to be left of a folder of {host}"

    path: str

    def look(self, asking: Asking, past: Past) -> Answer:
        """Read what the undo has noted on the host."""
        del past
        told, why = read_file(asking, self.host, left_note(self.path))
        if told is None:
            return Answer(None if why else True, why or f"nothing was left of {self.path} on {self.host}")
        return Answer(False, f"on {self.host} stays what no run made: {told.strip()[:_MOST]}")

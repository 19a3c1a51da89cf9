"""Nothing works in a folder any more: no process of the host has it among its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.connections.reads import commands
from services.lines import lines_of
from services.procedures.plan.condition import Answer, OfHost
from services.procedures.plan.looks import Asking, Past

ENDING = "pilothouse-end"
"""The name that the program which ends such work goes by: it has the folder among its words too."""


@dataclass(frozen=True, slots=True)
class NoWork(OfHost):
    """No process of the host names `path`, or what lies in it, on its command line."""

    tag: ClassVar[str] = "machine.no-work"
    words: ClassVar[str] = "the work in a folder of {host} to be over"

    path: str

    def look(self, asking: Asking, past: Past) -> Answer:
        """Look through the process table."""
        del past
        table = asking.run(self.host, commands.PROCESSES)
        if table.exit_code or not table.text.strip():
            return Answer(holds=None, evidence=f"the processes of {self.host} could not be read")
        busy = [line.split(None, 1)[0] for line in lines_of(table.text) if self._names(line)]
        if busy:
            return Answer(holds=False, evidence=f"process {', '.join(busy[:3])} works in {self.path} on {self.host}")
        return Answer(holds=True, evidence=f"no process works in {self.path} on {self.host}")

    def _names(self, line: str) -> bool:
        here = f"{self.path}/" in line or f" {self.path} " in f"{line} "
        return here and ENDING not in line

"""What of a stopped node's data lies outside its data folder, reached through a link or a mount in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.lines import lines_of
from services.procedures.plan.part import Part, Reading, Way
from services.procedures.plan.parts.galera.data_folder import DataFolder

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

ELSEWHERE_LIMIT_S = 35.0
_MARKS = {"link": "", "mount": "a mount at "}


@dataclass(frozen=True, slots=True)
class Elsewhere(Part):
    """Read with find, over SSH and as root (connections/programs/folder_programs.py). A running server's is left alone.

    Attributes:
        found: links, *.isl files and mounts, the first 20 of the former; None = not known.
    """

    way: ClassVar[Way] = Way.SSH
    made_from: ClassVar[tuple[type[Part], ...]] = (DataFolder,)

    found: tuple[str, ...] | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        folder = host[DataFolder].path.rstrip("/")
        if host.server_up or not folder:
            return None
        output = reading.run("datadir", commands.LIES_ELSEWHERE.read(folder, sudo=True), limit_s=ELSEWHERE_LIMIT_S)
        return None if output is None else cls(parse_elsewhere(output.text))


def parse_elsewhere(text: str) -> tuple[str, ...] | None:
    """Return what was found; None where the program did not come to its end and found nothing by then."""
    found, lines = [], lines_of(text)
    for line in lines:
        kind, _, name = line.partition(" ")
        if kind in _MARKS and name:
            found.append(f"{_MARKS[kind]}{name}")
    return tuple(found) if found or (lines and lines[-1].strip() == "end") else None

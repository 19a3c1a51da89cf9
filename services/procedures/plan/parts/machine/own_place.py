"""May others than root put another folder in the place of a host's data folder?"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts.reading import words
from services.procedures.plan.part import Part, Reading, Way
from services.procedures.plan.parts.galera.data_folder import DataFolder

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class OwnPlace(Part):
    """Read over SSH and as root: see OWN_PLACE in connections/programs/folder_programs.py.

    Attributes:
        others: where others than root may write; '' = nowhere on the way to the data folder, None = not known.
    """

    way: ClassVar[Way] = Way.SSH
    made_from: ClassVar[tuple[type[Part], ...]] = (DataFolder,)

    others: str | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        folder = host[DataFolder].path.rstrip("/")
        if host.server_up or not folder:
            return None
        output = reading.run("datadir", commands.PLACE_OWNED.read(posixpath.dirname(folder), sudo=True))
        if output is None or (reading.sudo_works is not True and not host.is_root):
            return None
        text = words(output.text.strip(), 300)
        return cls("" if output.exit_code == 0 else text or None)

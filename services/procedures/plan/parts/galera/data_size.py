"""How large a host's data are: what an SST would copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts.machine.machine import parse_du
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.galera.data_folder import DataFolder

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

DU_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class DataSize(Part):
    """Read with du over SSH, which may take many seconds. None = not known."""

    made_from: ClassVar[tuple[type[Part], ...]] = (DataFolder,)

    in_bytes: int | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        folder = host[DataFolder]
        if folder.entries is None:
            return None
        output = reading.run("datadir", commands.SIZE.read(folder.path, sudo=True), limit_s=DU_LIMIT_S)
        if output is None:
            return None
        return cls(parse_du(output.text))  # files that vanish meanwhile make its exit code 1

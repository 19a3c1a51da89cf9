"""Which drop-ins of a run lie beside a server's unit: what somebody holds its start off with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts.file_answers import is_absent
from services.lines import lines_of
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.starting import start_unit

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_MOST = 100


@dataclass(frozen=True, slots=True)
class DropIns(Part):
    """Read with ls of /run/systemd/system/UNIT.d over SSH: its files; None = not known, () = none."""

    made_from: ClassVar[tuple[type[Part], ...]] = (Unit,)

    files: tuple[str, ...] | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        output = reading.run("drop-ins", commands.NAMES.read(f"/run/systemd/system/{start_unit(host)}.d", sudo=True))
        if output is None or (output.exit_code and not is_absent(output)):
            return None
        return cls(() if output.exit_code else tuple(lines_of(output.text)[:_MOST]))

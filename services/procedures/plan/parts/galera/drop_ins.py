"""Which drop-ins lie beside a server's unit where a run holds its starts off (steps/sst_section.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts.machine.file_answers import is_absent
from services.facts.server.start_line import holds_off
from services.lines import lines_of
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.starting import start_unit

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

HOLD = "90-pilothouse-joins.conf"
_MOST = 100


def hold_folder(unit: str) -> str:
    """Return the folder of the drop-in that holds a unit's starts off: one that a boot does not empty."""
    return f"/etc/systemd/system/{unit}.d"


@dataclass(frozen=True, slots=True)
class DropIns(Part):
    """Read with ls of the folder of holds over SSH: its files; None = not known, () = none.

    A hold of which only what somebody else wrote is left holds nothing off, and does not count.
    """

    made_from: ClassVar[tuple[type[Part], ...]] = (Unit,)

    files: tuple[str, ...] | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        folder = hold_folder(start_unit(host))
        output = reading.run("drop-ins", commands.NAMES.read(folder, sudo=True))
        if output is None or (output.exit_code and not is_absent(output)):
            return None
        names = () if output.exit_code else tuple(lines_of(output.text)[:_MOST])
        if HOLD in names:
            path = f"{folder}/{HOLD}"
            text = reading.run("drop-ins", commands.CONTENT.read(path, sudo=True))
            if text is not None and not text.exit_code and not holds_off(path, text.text):
                names = tuple(name for name in names if name != HOLD)
        return cls(names)

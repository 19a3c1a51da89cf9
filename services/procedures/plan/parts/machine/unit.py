"""What systemd knows of a server's unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.reads import commands
from services.facts import system
from services.procedures.plan.part import Part, Reading

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Unit(Part):
    """Read with `systemctl show`, over SSH.

    Attributes:
        name: 'mariadb.service'; active_state, sub_state: systemd's own words: 'active' and 'running'.
        result: Result= of its last run: 'success', 'signal', 'oom-kill', ...; restart: Restart=.
        timeout_stop_s: TimeoutStopSec= in seconds, None = not known.
    """

    name: str = ""
    active_state: str = ""
    sub_state: str = ""
    result: str = ""
    restart: str = ""
    timeout_stop_s: float | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part. The unit is the one that discovery found the server in, else MariaDB's own."""
        machine = host.node.machine if host.node is not None else None
        found = machine.unit if machine is not None else ""
        active, _, sub = (machine.unit_state if machine is not None else "").partition("/")
        name = found or "mariadb.service"
        shown = system.properties(reading.text("unit", commands.UNIT_SETTINGS.read(name)) or "")
        return cls(
            name=name if shown.get("LoadState") == "loaded" else found,
            active_state=shown.get("ActiveState", "") or active,
            sub_state=shown.get("SubState", "") if "ActiveState" in shown else sub,
            result=shown.get("Result", ""),
            restart=shown.get("Restart", ""),
            timeout_stop_s=system.seconds_of(shown.get("TimeoutStopUSec", "")),
        )

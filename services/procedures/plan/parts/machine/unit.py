"""What systemd knows of a server's unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.reads import commands
from services.facts.machine import system
from services.procedures.plan.part import Part, Reading

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


KILLS = {"yes": True, "no": False}
"""SendSIGKILL= as systemd tells it."""


def at_the_limit(kills: bool | None) -> str:
    """Return what systemd does with a server that has not ended within TimeoutStopSec; '' not known.

    Debian's unit has SendSIGKILL=no. Seen on the lab (systemd 252): it waits that long twice, for 'stop-sigterm' and
    for 'final-sigterm', then calls the unit failed, and the server runs on.
    """
    return {True: ", then kills it", False: ", twice, and kills nothing (SendSIGKILL=no)", None: ""}[kills]


@dataclass(frozen=True, slots=True)
class Unit(Part):
    """Read with `systemctl show`, over SSH.

    Attributes:
        name: 'mariadb.service'; active_state, sub_state: systemd's own words: 'active' and 'running'.
        result: Result= of its last run: 'success', 'signal', 'oom-kill', ...; restart: Restart=.
        timeout_stop_s: TimeoutStopSec= in seconds, None = not known, or infinity.
        kills: SendSIGKILL=: what has not ended by then is killed; None = not known.
    """

    name: str = ""
    active_state: str = ""
    sub_state: str = ""
    result: str = ""
    restart: str = ""
    timeout_stop_s: float | None = None
    kills: bool | None = None

    @property
    def waits(self) -> bool:
        """Return whether its server is up and not ready: it waits for its cluster or a donor, or recovers.

        One that systemd only waits to start again has no process.
        """
        return self.active_state == "activating" and not self.sub_state.startswith("auto-restart")

    @property
    def stop_limit(self) -> str:
        """Return TimeoutStopSec in words, '' where it could not be read."""
        if self.timeout_stop_s is not None:
            return f"{self.timeout_stop_s:g} s"
        return "infinity" if self.restart else ""

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
            kills=KILLS.get(shown.get("SendSIGKILL", "")),
        )

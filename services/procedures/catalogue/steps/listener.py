"""Ports that a run opens on a host for a trial: socat in transient units, which also end by themselves. All pure.

Sources: systemd-run(1) (--collect: nothing of a unit that failed is left), systemd.service(5) (RuntimeMaxSec=).
"""

from __future__ import annotations

from dataclasses import dataclass

from services.connections.command import Command
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.unit import UnitSetting
from services.procedures.plan.actions import Run, Several

_NO_SUCH_UNIT = 5
"""systemctl's exit code (LSB: program is not installed)."""


@dataclass(frozen=True, slots=True)
class Listener:
    """One such port.

    Attributes:
        name: of the unit, without '.service'; seconds: it ends by itself after so many.
        words: socat's own; user: whose process it is, '' root; description: of the unit, where a proof looks for it.
    """

    host: str
    name: str
    seconds: int
    words: tuple[str, ...]
    user: str = ""
    description: str = ""

    @property
    def unit(self) -> str:
        """Return the unit's whole name."""
        return f"{self.name}.service"

    @property
    def runs(self) -> UnitSetting:
        """Return what proves that its unit runs."""
        return UnitSetting(self.host, self.unit, "ActiveState", "active")

    @property
    def ended(self) -> UnitSetting:
        """Return what proves that it runs no more."""
        return UnitSetting(self.host, self.unit, "ActiveState", "inactive")

    @property
    def closing(self) -> Run:
        """Return the act that closes it; one that is not there is closed."""
        return Run(Command(("systemctl", "stop", self.unit), sudo=True), ok=(0, _NO_SUCH_UNIT))

    @property
    def opening(self) -> Run:
        """Return the act that opens it."""
        description = (f"--description={self.description}",) if self.description else ()
        user = (f"--uid={self.user}",) if self.user else ()
        unit = (f"--unit={self.name}", "--collect", *description, *user, f"--property=RuntimeMaxSec={self.seconds}")
        return Run(Command(("systemd-run", *unit, "socat", *self.words), sudo=True))


def opened(*listeners: Listener) -> Several:
    """Return the act that opens these, anew where earlier ones are still there."""
    return Several((*(one.closing for one in listeners), *(one.opening for one in listeners)))


def open_for_a_trial(*listeners: Listener, key: str, sentence: str, danger: str) -> Temporary:
    """Return these ports of one host as what the run has to close again. Arguments: as in Temporary."""
    closings = tuple(one.closing for one in listeners)
    return Temporary(
        key=key,
        host=listeners[0].host,
        sentence=sentence,
        danger=danger,
        release=closings[0] if len(closings) == 1 else Several(closings),
        released=tuple(one.ended for one in listeners),
    )

"""systemd follows a drop-in of a unit."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.machine.system import properties
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.drop-in-followed", "systemd of {host} to use a drop-in file")
class DropInFollowed(OfHost):
    """systemd has read this drop-in of a unit, and nothing was changed behind it since (NeedDaemonReload).

    Source: org.freedesktop.systemd1(5), DropInPaths and NeedDaemonReload.
    """

    unit: str
    path: str

    def look(self, asking: Asking) -> Answer:
        """Ask systemd for both properties."""
        found: dict[str, str] = {}
        for name in ("DropInPaths", "NeedDaemonReload"):
            output = asking.run(self.host, commands.UNIT_PROPERTY.read(name, self.unit))
            found |= properties(output.text)
            if output.exit_code or name not in found:
                evidence = output.error_text or f"systemd reports no {name} of {self.unit}"
                return Answer(holds=None, evidence=evidence)
        there = self.path in found["DropInPaths"].split()
        fresh = found["NeedDaemonReload"] == "no"
        evidence = "follows" if there and fresh else "must still reload" if there else "does not know"
        return Answer(there and fresh, f"systemd of {self.host} {evidence} {self.path}")

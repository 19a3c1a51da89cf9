"""What systemd says of a unit."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.machine.system import properties
from services.facts.reading import count
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.unit-setting", "a systemd setting of {host}")
class UnitSetting(OfHost):
    """systemd property of a unit equals a value, e.g. Restart=no."""

    unit: str
    prop: str
    value: str

    def look(self, asking: Asking) -> Answer:
        """Ask systemd for one property of a unit."""
        output = asking.run(self.host, commands.UNIT_PROPERTY.read(self.prop, self.unit))
        found = properties(output.text)
        if output.exit_code or self.prop not in found:
            said = output.error_text
            return Answer(holds=None, evidence=said or f"systemd reports no {self.prop} of {self.unit}")
        value = found[self.prop]
        return Answer(value == self.value, f"{self.prop} of {self.unit} is {value} on {self.host}")


@condition("machine.unit-not-enabled", "a unit of {host} not to start at boot")
class UnitNotEnabled(OfHost):
    """systemd does not start a unit with the host by a link of its own.

    A unit without [Install] is never 'disabled' but 'static'; one that is made of an init script (3.2's own packages
    for Debian and Red Hat have some) stays 'generated', or 'bad' in older releases: systemctl switches the script off.
    """

    unit: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), stands=frozenset({f"start with its host {self.host} {self.unit}"}))

    def look(self, asking: Asking) -> Answer:
        """Ask systemd for the state of its file."""
        output = asking.run(self.host, commands.UNIT_PROPERTY.read("UnitFileState", self.unit))
        state = properties(output.text).get("UnitFileState")
        if output.exit_code or state is None:
            said = output.error_text
            return Answer(holds=None, evidence=said or f"systemd reports no UnitFileState of {self.unit}")
        on = state.startswith(("enabled", "linked"))
        return Answer(not on, f"UnitFileState of {self.unit} is {state or 'empty'} on {self.host}")


@condition("machine.unit-fresh", "its systemd unit on {host}")
class UnitFresh(OfHost):
    """A unit is active under exactly this description, and its main process runs for at most so many seconds."""

    unit: str
    description: str
    at_most_s: float

    def look(self, asking: Asking) -> Answer:
        """Ask systemd for the unit's description and main process, and ps(1) for how long that runs (etimes)."""
        host, unit = self.host, self.unit
        output = asking.run(host, commands.UNIT_PROCESS.read(unit))
        found = properties(output.text)
        if output.exit_code or "ActiveState" not in found:
            said = output.error_text
            return Answer(holds=None, evidence=said or f"systemd reports no state of {unit} on {host}")
        if found["ActiveState"] != "active":
            return Answer(holds=False, evidence=f"{unit} is {found['ActiveState']} on {host}")
        pid = count(found.get("MainPID", ""))
        age = count(asking.run(host, commands.PROCESS_AGE.read(pid)).text.strip()) if pid else None
        if age is None:
            return Answer(holds=None, evidence=f"the start time of {unit} on {host} is not known")
        told = found.get("Description", "")
        holds = told == self.description and age <= self.at_most_s
        return Answer(holds, f"{unit} runs on {host} for {age} s: {told or 'no description'}")

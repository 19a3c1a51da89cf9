"""What a YAML configuration file of a host sets."""

from __future__ import annotations

from services.errors import BadInput
from services.facts.yaml_files.settings import settings_of
from services.procedures.looking.files import read_file
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.yaml-setting", "the configuration file of {host} to have the required settings")
class SettingIs(OfHost):
    """The file sets this setting, by its dotted name, to this value; not at all where the value is ''.

    A file that is not there sets nothing.
    """

    path: str
    name: str
    value: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), stands=frozenset({f"setting {self.host} {self.path} {self.name}"}))

    def look(self, asking: Asking) -> Answer:
        """Read the file."""
        content, why = read_file(asking, self.host, self.path)
        if content is None and why:
            return Answer(holds=None, evidence=why)
        try:
            told = str(settings_of(content or "").get(self.name, ""))
        except BadInput as problem:
            return Answer(holds=None, evidence=f"{self.path} on {self.host}: {problem.sentence}")
        said = f"sets {self.name} to {told}" if told else f"does not set {self.name}"
        return Answer(told == self.value, f"{self.path} on {self.host} {said}")

"""The option files of a host give an option a value."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.server.harmless_options import is_secret, normal
from services.facts.server.option_files import SERVER_GROUPS, printed
from services.facts.server.values import same
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("server.option", "an option in the files of {host}")
class OptionIs(OfHost):
    """The option files give this value to an option of a section (my_print_defaults); None: not set."""

    section: str
    option: str
    value: str | None

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), stands=frozenset({f"option {self.host} {self.section} {self.option}"}))

    def look(self, asking: Asking) -> Answer:
        """Ask my_print_defaults what the server would read: the last value counts."""
        of_group = commands.GROUP_OPTIONS.read(self.section, sudo=True)
        output = asking.run(self.host, commands.SERVER_OPTIONS if self.section == "mysqld" else of_group)
        if output.exit_code and self.section == "mysqld":  # MySQL's program has no --mysqld
            output = asking.run(self.host, commands.GROUP_OPTIONS.read(*SERVER_GROUPS, sudo=True))
        if output.exit_code:
            said = output.error_text
            return Answer(holds=None, evidence=said or f"my_print_defaults ended with exit code {output.exit_code}")
        wanted = normal(self.option)
        value = printed(output.text).get(wanted)
        where = f"{self.option} of [{self.section}] on {self.host}"
        if value is None:
            return Answer(self.value is None, f"{where} is not set")
        holds = self.value is not None and same(value or "ON", self.value or "ON")
        return Answer(holds, f"{where} is {'set' if is_secret(wanted) else value or 'ON'}")

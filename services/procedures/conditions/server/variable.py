"""A server variable has a value."""

from __future__ import annotations

from services.errors import UserError
from services.facts.server.harmless_options import is_secret
from services.facts.server.values import same
from services.procedures.conditions.server.option import OptionIs
from services.procedures.looking.dead import told_dead
from services.procedures.looking.standing import Absent, absent
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import AT_THE_END, Asking


@condition("server.variable", "the variable to be set on {host}")
class VariableIs(OfHost):
    """A server variable has this value (case-insensitive; ON = 1; 1G = 1073741824).

    `if_there`: it holds too where the server has no variable of this name (an option that can't be read back).
    `was`: it holds too at a third value while the option files give `value`: the server made this of it.
    `fixed`: a running server can't change it: another value ends the wait.
    `or_ended`: it holds too where no server runs: what was set at runtime lasts as long as the server does.
    """

    variable: str
    value: str
    if_there: bool = False
    was: str = ""
    fixed: bool = False
    or_ended: bool = False

    def declared(self) -> Declared:
        """See Condition."""
        host = frozenset({self.host})
        return Declared(host, stands=frozenset({f"variable {self.host} {self.variable}"}), told_by=host)

    @told_dead
    def look(self, asking: Asking) -> Answer:
        """Look at one variable."""
        try:
            value = asking.variable(self.host, self.variable)
        except UserError:
            if not self.or_ended or absent(asking, self.host) is not Absent.NONE:
                raise
            evidence = f"no server runs on {self.host}: the runtime value of {self.variable} was lost with it"
            return Answer(holds=True, evidence=evidence)
        if value is None:
            evidence = f"{self.host} has no variable {self.variable}"
            if self.if_there:
                return Answer(holds=True, evidence=f"{evidence}: the option cannot be read back")
            return Answer(holds=False, evidence=evidence, final=True)
        shown = "set" if is_secret(self.variable) else value or "empty"
        evidence = f"{self.variable} is {shown} on {self.host}"
        holds = same(value, self.value)
        if not holds and self.was and not same(value, self.was):
            return _third(self, asking, value)
        return Answer(holds, evidence, final=self.fixed and not holds)


def _third(condition: VariableIs, asking: Asking, value: str) -> Answer:
    """Judge a value that is neither the wanted one nor the old one: the files tell a rounding from another's change."""
    host, name, secret = condition.host, condition.variable, is_secret(condition.variable)
    wanted, now = ("that", "another value") if secret else (condition.value, value or "empty")
    said = OptionIs(host, "mysqld", name, condition.value).look(asking)
    if said.holds is None:
        return Answer(holds=None, evidence=f"{name} is {now} on {host}, requested: {wanted}: {said.evidence}")
    if not said.holds:
        evidence = f"{name} is {now} on {host}, requested: {wanted}: the files were changed ({said.evidence})"
        return Answer(holds=False, evidence=evidence, final=True)
    evidence = f"requested {name} = {wanted}, the server on {host} set {now}"
    return Answer(holds=True, evidence=evidence, kept=((f"{AT_THE_END}{name} on {host}", f"R{evidence[1:]}."),))

"""An option of the wsrep provider compares so with a value."""

from __future__ import annotations

from services.errors import UserError
from services.facts.galera.provider_options import option_number, provider_options
from services.facts.server.values import compared
from services.procedures.looking.dead import told_dead
from services.procedures.looking.standing import Absent, absent
from services.procedures.plan.condition import Answer, Comparison, Declared, OfHost, condition, names
from services.procedures.plan.looks import Asking


@condition("galera.provider-option", "the provider option to be set on {host}")
class ProviderOption(OfHost):
    """A wsrep provider option compares so with a value (text for = and !=, number else). Kept under `keep`.

    `or_ended`: it holds too where no server runs: what was set at runtime lasts as long as the server does.
    """

    option: str
    comparison: Comparison
    value: str
    keep: str = ""
    or_ended: bool = False

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), keeps=names(self.keep))

    @told_dead
    def look(self, asking: Asking) -> Answer:
        """Look at one option of the provider; a provider without it can never fulfil the self."""
        try:
            options = provider_options(asking.variable(self.host, "wsrep_provider_options") or "")
        except UserError:
            if not self.or_ended or absent(asking, self.host) is not Absent.NONE:
                raise
            evidence = f"no server runs on {self.host}: the runtime value of {self.option} was lost with it"
            return Answer(holds=True, evidence=evidence)
        value = options.get(self.option)
        if value is None:
            said = f"the provider of {self.host} has no option {self.option}"
            return Answer(holds=False, evidence=said, final=bool(options))
        number = option_number(value)
        whole_value = value if number is None else str(number)
        kept = ((self.keep, whole_value),) if self.keep else ()
        holds = compared(value, self.comparison, self.value)
        return Answer(holds, f"{self.option} is {whole_value} on {self.host}", kept=kept)

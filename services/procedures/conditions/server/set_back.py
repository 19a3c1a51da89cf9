"""A running server is rid of what a run had it start with."""

from __future__ import annotations

from services.errors import UserError
from services.facts.server.values import same
from services.procedures.looking.standing import Absent, absent
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("server.set-back", "the variable to be as before on {host}")
class SetBack(OfHost):
    """The server does not run with the value that a run had it start with.

    It holds at `before`, at a third value (somebody set that since; it is not the run's to change), and where no server
    runs: the next start reads the option files. While a server starts it is not known what it has read.

    Attributes:
        ours: what the run wrote; before: what the server ran with when the run found it.
    """

    variable: str
    ours: str
    before: str

    def look(self, asking: Asking) -> Answer:
        """Read the variable; where nobody answers, ask the host whether a server runs at all."""
        host, name = self.host, self.variable
        try:
            value = asking.variable(host, name)
        except UserError:
            why = absent(asking, host)
            if why is Absent.NOT:
                raise
            if why is Absent.STARTING:
                evidence = f"the server of {host} is starting: its {name} is known when it accepts connections"
                return Answer(holds=False, evidence=evidence)
            return Answer(holds=True, evidence=f"no server runs on {host}: its next start reads {name} from its files")
        evidence = f"{name} is {value or 'empty'} on {host}"
        if value is None or same(value, self.before):
            return Answer(holds=True, evidence=f"{evidence}, as before the run")
        if same(value, self.ours):
            return Answer(holds=False, evidence=f"{evidence}, as the run set it")
        return Answer(holds=True, evidence=f"{evidence}: someone else has changed it since, and it is left unchanged")

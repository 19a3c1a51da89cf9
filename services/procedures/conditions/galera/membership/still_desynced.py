"""A node that was taken out of flow control is out of it still."""

from __future__ import annotations

from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.still-desynced", "{host} to be desynced")
class StillDesynced(OfHost):
    """wsrep_desync is ON. A server that does not answer tells nothing: it is not said to be back in flow control."""

    def look(self, asking: Asking) -> Answer:
        """Look at the variable."""
        value = asking.variable(self.host, "wsrep_desync")
        evidence = f"wsrep_desync is {value or 'not there'} on {self.host}"
        return Answer(value.upper() in {"ON", "1"} if value is not None else None, evidence)

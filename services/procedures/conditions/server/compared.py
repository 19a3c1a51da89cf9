"""The data that a run put in place were held against a member's, to the end."""

from __future__ import annotations

from services.procedures.conditions.machine.files import FileAbsent
from services.procedures.plan.condition import Answer, Kept, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("server.compared", "the restored data of {host} to be compared with a member's")
class Compared(OfHost):
    """Either the comparison of `host` with a member came to its end, or no other data lie in place of its own.

    Attributes:
        aside: where the run keeps the old data; seen: what the comparison tells at its end.
    """

    aside: str
    seen: Kept

    def look(self, asking: Asking) -> Answer:
        """Look for what the comparison told, then for what is kept aside."""
        if told := asking.past.kept.get(self.seen.name, ""):
            return Answer(holds=True, evidence=told)
        own = FileAbsent(self.host, self.aside).look(asking)
        if own.holds is not False:
            return own
        told = f"the restored data of {self.host} were not completely compared with a member's"
        return Answer(holds=False, evidence=f"{told}; the old data are in {self.aside}")

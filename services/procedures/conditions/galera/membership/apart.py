"""Has a member a Primary Component of its own beside the others?"""

from __future__ import annotations

from services.errors import UserError
from services.procedures.looking.component import beside
from services.procedures.looking.founding import founded_words
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.not-apart", "{host} not to form a Primary Component of its own")
class NotApart(OfHost):
    """The node is no Primary Component of its own beside these hosts; a server that does not answer is none.

    Where it is one, the evidence is kept as a value of the run (TWO_PRIMARIES).
    """

    hosts: tuple[str, ...]
    state_uuid: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host, *self.hosts}), enough_of=frozenset(self.hosts))

    def look(self, asking: Asking) -> Answer:
        """Look at the node and the others; a view that differs for a moment is looked at again."""
        if not self.hosts:
            return Answer(holds=True, evidence=f"{self.host} is the only node of its cluster")
        try:
            status = asking.status(self.host)
        except UserError:
            if evidence := founded_words(asking, self.host):  # it may refuse our login alone, and serve others
                return Answer(holds=False, evidence=evidence, final=True)
            return Answer(holds=True, evidence=f"the server of {self.host} does not answer: it has no clients")
        if status.get("wsrep_cluster_status") != "Primary":
            return Answer(holds=True, evidence=f"{self.host} is in no Primary Component")
        return beside(self.host, status, self.hosts, self.state_uuid, asking)

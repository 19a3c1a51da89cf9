"""Was anything written on a node since it was bootstrapped?"""

from __future__ import annotations

from services.errors import UserError
from services.facts.reading import count
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.nothing-written", "the position of {host}: no writes on it")
class NothingWritten(OfHost):
    """No write set was committed on the node since it was bootstrapped at the seqno `since`.

    Each change of its component takes a seqno too, and is counted by wsrep_cluster_conf_id from 1 on (Galera 4).
    """

    since: int

    def look(self, asking: Asking) -> Answer:
        """Return whether the seqnos since the bootstrap are changes of the component alone."""
        host = self.host
        try:
            status = asking.status(host)
        except UserError as problem:
            return Answer(holds=None, evidence=f"whether {host} has had writes since is not known ({problem})")
        last, views = count(status.get("wsrep_last_committed", "")), count(status.get("wsrep_cluster_conf_id", ""))
        if last is None or views is None:
            return Answer(holds=None, evidence=f"whether {host} has had writes since is not known")
        written = last - self.since - views
        if written > 0:
            said = f"{written} write sets were committed on {host} since it was bootstrapped at seqno {self.since}"
            return Answer(holds=False, evidence=said)
        return Answer(holds=True, evidence=f"{host} has had no writes since it was bootstrapped")

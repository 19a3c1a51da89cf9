"""A node has all that was known."""

from __future__ import annotations

from services.facts.reading import whole_number
from services.procedures.looking.asked import number_of
from services.procedures.looking.dead import told_dead
from services.procedures.plan.condition import Answer, Declared, Number, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.position", "{host} to have every committed write set")
class Position(OfHost):
    """The node's wsrep_last_committed is at least this (after a bootstrap: nothing that was known is missing)."""

    at_least: Number

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}))

    @told_dead
    def look(self, asking: Asking) -> Answer:
        """Compare wsrep_last_committed with a position that was known."""
        wanted = number_of(self.at_least, asking.past)
        if wanted is None:
            return Answer(holds=None, evidence="this run did not store the position to compare with")
        seqno = whole_number(asking.status(self.host).get("wsrep_last_committed", ""))
        if seqno is None:
            return Answer(holds=None, evidence=f"{self.host} reports no wsrep_last_committed")
        return Answer(seqno >= wanted, f"wsrep_last_committed is {seqno} on {self.host}, at least {wanted} is required")

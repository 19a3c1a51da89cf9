"""A node has all that was known."""

from __future__ import annotations

from services.facts.reading import whole_number
from services.procedures.looking.asked import number_of
from services.procedures.looking.dead import told_dead
from services.procedures.plan.condition import Answer, Declared, Number, OfHost, condition
from services.procedures.plan.looks import Asking, Past


@condition("galera.position", "{host} to have all that was committed")
class Position(OfHost):
    """The node's wsrep_last_committed is at least this (after a bootstrap: nothing that was known is missing)."""

    at_least: Number

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}))

    @told_dead
    def look(self, asking: Asking, past: Past) -> Answer:
        """Compare wsrep_last_committed with a position that was known."""
        wanted = number_of(self.at_least, past)
        if wanted is None:
            return Answer(holds=None, evidence="the position to compare with was not kept by this run")
        seqno = whole_number(asking.status(self.host).get("wsrep_last_committed", ""))
        if seqno is None:
            return Answer(holds=None, evidence=f"{self.host} gives no wsrep_last_committed")
        return Answer(seqno >= wanted, f"wsrep_last_committed is {seqno} on {self.host}, at least {wanted} is wanted")

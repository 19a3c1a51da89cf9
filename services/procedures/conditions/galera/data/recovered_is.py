"""The position that a server recovered is the one that its data should have."""

from __future__ import annotations

from services.facts.galera.state_files import position_of
from services.procedures.looking.asked import number_of
from services.procedures.plan.condition import Answer, Kept, Number, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.recovered-is", "the recovered position of {host} to be the expected one")
class RecoveredIs(OfHost):
    """What this run had the server recover (InnoDB's own position) is this UUID and seqno, to the number.

    Attributes:
        seqno: what a backup or a replay says; recovered: the name under which the recovered position is kept.
    """

    state_uuid: str
    seqno: Number
    recovered: Kept

    def look(self, asking: Asking) -> Answer:
        """Compare two numbers that are known already; nothing is read."""
        wanted, found = number_of(self.seqno, asking.past), position_of(asking.past.kept.get(self.recovered.name, ""))
        if wanted is None or found is None:
            what = "its expected position" if wanted is None else "its recovered position"
            return Answer(holds=None, evidence=f"{what} is not known: this run stored no position of {self.host}")
        evidence = f"InnoDB of {self.host} recovered {found[0]}:{found[1]}, expected {self.state_uuid}:{wanted}"
        equal = (found[0].lower(), found[1]) == (self.state_uuid.lower(), wanted)
        return Answer(holds=equal, evidence=evidence, final=not equal)

"""Are these binary logs of the members' past, and is nothing missing in them? By the members' own binary logs.

The last transaction of the chain is laid beside what the members have at its seqno, a hole in the chain beside what
they have in it: a transaction with sql_log_bin = 0 takes a seqno and stands in every log but its own server's (seen on
the lab, MariaDB 10.11.18).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.facts.binlog_marks import Mark
from services.procedures.conditions.galera.restored_history import marks_of
from services.procedures.plan.condition import Answer, Declared, OfHosts
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World

MOST_HOLES = 3
"""So many holes are looked into: each costs a read of a member's binary log."""


@dataclass(frozen=True, slots=True)
class ChainKnown(OfHosts):
    """A member's binary log has the chain's last transaction at its seqno, and nothing where the chain has holes.

    Server and time say whether it is the same: a GTID's number may differ, each server counts what it writes for itself
    too.

    Attributes:
        target, server_id, time: of the chain's last transaction, time as marks have it; gtid: for the evidence.
        holes: (first, last) seqnos that nothing in the chain took.
        accepted: that the members' logs tell nothing is accepted; what they tell against it never is.
    """

    tag: ClassVar[str] = "galera.chain-known"
    words: ClassVar[str] = "a member's binary log to have the same last transaction"

    target: int
    gtid: str
    server_id: int
    time: str
    holes: tuple[tuple[int, int], ...] = ()
    accepted: bool = False

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), enough_of=frozenset(self.hosts))

    def look(self, asking: Asking, past: Past) -> Answer:
        """Ask each member's binary log."""
        del past
        found = asking.each(self.hosts, lambda name: marks_of(asking, name, self.target))
        held = {name: self.at_target(one if isinstance(one, tuple) else ()) for name, one in found.items()}
        ours = f"the chain ends with Xid {self.target}, GTID {self.gtid} of {self.time}"
        for name, mark in held.items():
            if mark is not None and not self.is_same(mark):
                told = f"{ours}; the binary log of {name} has {mark.text} of {mark.time} there: another past"
                return Answer(holds=False, evidence=told, final=True)
        lost, told = self._lost(asking)
        if lost:
            return Answer(holds=False, evidence=lost, final=True)
        if same := next((name for name, mark in held.items() if mark is not None), ""):
            said = f"{ours}, and the binary log of {same} has the same there"
            return Answer(holds=True, evidence="; ".join(filter(None, (said, told))))
        said = f"{ours}; no binary log of {', '.join(self.hosts)} tells of that seqno"
        if self.accepted:
            return Answer(holds=True, evidence=f"you accepted that it is not known: {said}")
        return Answer(holds=None, evidence=f"nothing shows that the binary logs are of the members' past: {said}")

    def at_target(self, marks: tuple[Mark, ...]) -> Mark | None:
        """Return the mark that stands at the target, None where none does."""
        return next((mark for mark in marks if mark.xid == self.target), None)

    def is_same(self, mark: Mark) -> bool:
        """Return whether a mark is the chain's last transaction."""
        return (mark.server_id, mark.time) == (self.server_id, self.time)

    def _lost(self, asking: Asking) -> tuple[str, str]:
        """Return what a member has in a hole of the chain, and what is known of the holes where none has anything."""
        empty = 0
        for first, last in self.holes[:MOST_HOLES]:
            for name in self.hosts:
                xids = [mark.xid for mark in marks_of(asking, name, last) or () if mark.xid is not None]
                there = [xid for xid in xids if first <= xid <= last]
                if there:
                    return f"seqno {there[0]} is in the binary log of {name}, and in none of the files", ""
                if xids and min(xids) < first and max(xids) > last:
                    empty += 1
                    break
        many = len(self.holes)
        return "", f"{empty} of {many} holes are empty in a member's log too" if many else ""

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        return self.told(not any(world.hosts[name].parted for name in self.hosts))

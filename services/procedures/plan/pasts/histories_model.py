"""What a comparison of two pasts takes, and what it tells. The comparison: `histories.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.procedures.plan.parts.galera.traces import Trace

Outcome = Literal["same", "forked", "not known"]


@dataclass(frozen=True, slots=True)
class Histories:
    """How the pasts of two nodes stand to each other.

    Attributes:
        evidence: by what: 'the binary logs of s1 and s3 agree at Xid 18 (GTID 0-41-14)'.
        shared_to: the last seqno that both surely share, None where that is not known (forked only).
        by_logs: shared_to stands in both binary logs, what comes next is of two servers, and no view contradicts it.
        missing: what would have to be read to know, one sentence each (not known only).
        logs: whether binary logs of both, laid beside each other, agree as far as they go; '' where they weren't.
        own: so many transactions were read at least that one of them wrote with wsrep off, and the other has not.
        outside: a server outside the cluster ran on the data of one, or that could not be read: no position makes it
            known (not known only).
    """

    outcome: Outcome
    evidence: str
    shared_to: int | None = None
    missing: tuple[str, ...] = ()
    logs: Literal["", "agree", "differ"] = ""
    own: int = 0
    outside: bool = False
    by_logs: bool = False

    @property
    def rank(self) -> int:
        """Return its place among others, 0 outweighs all: 'same' by views alone gives way to logs that differ."""
        if self.outcome == "forked":
            return 0
        order = (("same", "agree"), ("not known", "differ"), ("same", ""))
        return next((place for place, kind in enumerate(order, 1) if kind == (self.outcome, self.logs)), 4)


@dataclass(frozen=True, slots=True)
class Side:
    """One node of a comparison.

    Attributes:
        seqno: its position, None unknown; serves: it is a member of a Primary Component now, and goes on.
        alone_by_hand: its gvwstate.dat holds a view of itself alone that a person made Primary.
        left_out: what leaves transactions out of its binary log, one sentence each: one that lacks there was there.
    """

    host: str
    state_uuid: str
    seqno: int | None
    serves: bool
    trace: Trace
    alone_by_hand: bool = False
    left_out: tuple[str, ...] = ()

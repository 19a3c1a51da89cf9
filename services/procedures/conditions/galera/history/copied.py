"""May a node be started on data that were copied from a member in this run: is that member's past still the cluster's?

The copy is the donor's own data at the position that was read under its lock (proven apart: `RecoveredIs`), so its past
is the donor's. What may have happened since: the donor left the cluster, was given other data by an SST, or a part of
the cluster went on by itself. So two things are read right before the start: the donor's server has run without a break
since before the snapshot and is a Synced Primary member now, or its binary log has the same change at that seqno as
another member's; and no member's binary log has another server's change there.
Where nodes share a server id, both sides of a fork count the same GTIDs: the same one shows nothing then.
"""

from __future__ import annotations

from services.errors import UserError
from services.facts.galera.whole import SYNCED
from services.facts.reading import count, real
from services.procedures.conditions.galera.history.restored import (
    Held,
    RestoredHistory,
    held_against,
    ids_differ,
    mark_at,
    marks_of,
    names_another,
)
from services.procedures.looking.asked import number_of
from services.procedures.plan.condition import Answer, Declared, condition
from services.procedures.plan.looks import Asking

_SLACK_S = 2.0
"""Uptime counts whole seconds, and the answer has its way."""


@condition("galera.copied-history", "the history of the copied data of {host}")
class CopiedHistory(RestoredHistory):
    """The data of `host` were copied from `source` in the step `since_step`; its past is that of `hosts` still.

    grastate.dat must name `state_uuid` with -1: the position is InnoDB's own then.
    """

    source: str = ""
    since_step: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(
            frozenset({self.host, self.source, *self.hosts}),
            shows_past_of=frozenset({self.host}),
            enough_of=frozenset(self.hosts),
            since_steps=(self.since_step,),
        )

    def look(self, asking: Asking) -> Answer:
        """Read grastate.dat of the copy, the donor's state and uptime, and what the binary logs have at the seqno."""
        seqno = number_of(self.stopped_at, asking.past)
        if seqno is None:
            return Answer(holds=None, evidence=f"the position of the copied data of {self.host} is not known")
        if wrong := names_another(self, asking):
            return wrong
        stayed, said = _stayed(self, asking)
        last = mark_at(marks_of(asking, self.source, seqno) or (), seqno)
        gtid = last.gtid if last is not None else ""

        def against(name: str) -> Held:
            return held_against(gtid, seqno, name, marks_of(asking, name, seqno))

        found = asking.each(tuple(name for name in self.hosts if name != self.source), against)
        seen = [one for one in found.values() if isinstance(one, Held)]
        exact = last is not None and last.xid == seqno  # else its log has not that change: nothing differs from it
        if exact and (forked := next((one for one in seen if one.outcome == "forked"), None)):
            return Answer(holds=False, evidence=forked.told, final=True)
        same = next((one for one in seen if gtid and one.outcome == "same"), None)
        lines = tuple(one.told for one in seen)
        if same is not None and not ids_differ(asking, self.host, self.hosts):
            same, lines = None, (*lines, "nodes share a server id: both sides of a fork would have the same GTIDs")
        if stayed or same is not None:
            proof = f"; at seqno {seqno} the binary logs agree on GTID {gtid}" if same is not None else ""
            return Answer(holds=True, evidence=f"one history: {said}{proof}", lines=lines)
        return Answer(
            holds=None, evidence=f"{said}, but no binary log shows whether its history is theirs", lines=lines
        )


def _stayed(condition: CopiedHistory, asking: Asking) -> tuple[bool, str]:
    """Return whether the donor's server has run since before the snapshot and is a full member now, and the words."""
    name, began = condition.source, asking.past.began.get(condition.since_step)
    try:
        status = asking.status(name)
    except UserError as problem:
        return False, f"{name} does not answer ({problem.sentence.rstrip('.')})"
    uuid = status.get("wsrep_cluster_state_uuid", "").lower()
    primary = status.get("wsrep_cluster_status") == "Primary" and uuid == condition.state_uuid.lower()
    if not primary or count(status.get("wsrep_local_state", "")) != SYNCED:
        return False, f"{name} is not a Synced member of this cluster now"
    up = real(status.get("Uptime", ""))
    if up is None or began is None:
        return False, f"the uptime of the server of {name} is not known"
    since = asking.clock.wall() - began
    if up + _SLACK_S < since:
        return False, f"the server of {name} was started {up:.0f} s ago, after the snapshot"
    return True, f"the server of {name} has run for {up:.0f} s, and was a member when the snapshot was taken"

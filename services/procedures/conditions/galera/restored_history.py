"""May a node be started on restored data: is what they hold a part of the donors' past? Read right before its start.

The node's own log and binary log tell of the data that lay there before, so they are no evidence. What is: the GTID of
the last change that a backup holds, laid beside what the members' binary logs have at its seqno (in Galera the Xid of a
transaction is its seqno on every node, with log_slave_updates). The same UUID and seqno alone show nothing.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import ClassVar

from services.connections.reads import commands, statements
from services.errors import UserError
from services.facts.binlog_marks import MARKS_LIMIT_S, Mark, marks_read, parse_marks
from services.facts.state_files import parse_grastate
from services.lines import lines_of
from services.procedures.looking.asked import number_of
from services.procedures.plan.condition import Answer, Declared, Kept, Number, OfHost
from services.procedures.plan.looks import SQL_LIMIT_S, Asking, Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World

BEFORE = 24
"""So many seqnos before the position are read too: a statement (DDL) has no Xid, and stands after one that has."""


@dataclass(frozen=True, slots=True)
class RestoredHistory(OfHost):
    """The restored data of `host` hold a part of the past of `hosts`: what follows `stopped_at` continues it.

    grastate.dat must name `state_uuid` with -1. A member whose binary log has another server's change at that seqno
    shows a fork: it never holds then. Where no log tells it is not known, and holds where a person accepted that.

    Attributes:
        gtid: of the last change that the backup holds, by its own files; '' = not known. Several with commas.
        recovered: the name under which the recovered position is kept; accepted: the past may stay not known.
    """

    tag: ClassVar[str] = "galera.restored-history"
    words: ClassVar[str] = "the history of the restored data of {host}"

    hosts: tuple[str, ...]
    state_uuid: str
    datadir: str
    stopped_at: Number
    recovered: Kept
    gtid: str = ""
    accepted: bool = False

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(
            frozenset({self.host, *self.hosts}),
            shows_past_of=frozenset({self.host}),
            enough_of=frozenset(self.hosts),
        )

    def look(self, asking: Asking, past: Past) -> Answer:
        """Read grastate.dat, then what the members' binary logs have at the position."""
        path, seqno = posixpath.join(self.datadir, "grastate.dat"), number_of(self.stopped_at, past)
        output = asking.run(self.host, commands.CONTENT.read(path, sudo=True))
        state = parse_grastate(output.text) if output.exit_code == 0 else None
        if state is None or seqno is None:
            what = f"{path} of {self.host}" if state is None else "the position of the restored data"
            return Answer(holds=None, evidence=f"{what} is not known")
        if (state.uuid, state.seqno) != (self.state_uuid.lower(), -1):
            told = f"grastate.dat of {self.host} says {state.uuid}:{state.seqno}, not {self.state_uuid}:-1: plan anew"
            return Answer(holds=False, evidence=told, final=True)
        found = asking.each(
            self.hosts, lambda name: held_against(self.gtid, seqno, name, marks_of_member(asking, name, seqno))
        )
        seen = [one for one in found.values() if isinstance(one, Held)]
        if forked := next((one for one in seen if one.outcome == "forked"), None):
            return Answer(holds=False, evidence=forked.told, final=True)
        if same := next((one for one in seen if one.outcome == "same"), None):
            return Answer(holds=True, evidence=f"one past: {same.told}")
        missing = tuple(dict.fromkeys(one.told for one in seen)) or ("no member answered",)
        said = f"nothing shows that the restored data of {self.host} are of the members' past"
        if self.accepted:
            return Answer(holds=True, evidence=f"you accepted that it is not known: {said}", lines=missing)
        return Answer(holds=None, evidence=f"{said}: {'; '.join(missing)}", lines=missing)

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        return self.told(not world.hosts[self.host].parted)


@dataclass(frozen=True, slots=True)
class Held:
    """What one member's binary log says of a backup's last change: 'same', 'forked' or 'not known', and why."""

    outcome: str
    told: str


def held_against(gtid: str, seqno: int, member: str, marks: tuple[Mark, ...] | None) -> Held:
    """Lay a backup's last GTID beside a member's binary log around the backup's seqno. Pure.

    A GTID whose number alone differs is no fork: without wsrep_gtid_mode a node counts what it writes for itself too
    (MariaDB KB, "Using MariaDB Replication with MariaDB Galera Cluster").

    Args:
        marks: the member's, from somewhat before that seqno on; None: its binary log can't be read.
    """
    ours = tuple(one.strip() for one in gtid.split(",") if one.strip())
    if not ours:
        return Held("not known", "the backup names no GTID of its last change (its server wrote no binary log)")
    at = mark_at(marks or (), seqno)
    if at is None:
        return Held("not known", f"the binary log of {member} tells nothing of seqno {seqno}")
    if at.gtid in ours:
        return Held("same", f"the backup and the binary log of {member} have GTID {at.gtid} at seqno {seqno}")
    beside = next((one for one in ours if one.split("-")[0] == at.gtid.split("-")[0]), ours[0])
    told = f"at seqno {seqno} the backup has GTID {beside}, the binary log of {member} {at.text}"
    exact = at.xid == seqno
    if exact and at.gtid.count("-") == 2 and beside.count("-") == 2 and beside.split("-")[1] != at.gtid.split("-")[1]:
        return Held("forked", f"{told}: another server's change")
    return Held("not known", told)


def mark_at(marks: tuple[Mark, ...], seqno: int) -> Mark | None:
    """Return the last mark up to a seqno, None where the marks don't reach over it."""
    if not marks or (marks[0].xid or 0) > seqno:
        return None
    last = None
    for mark in marks:
        if mark.xid is not None and mark.xid > seqno:
            return last
        last = mark
    return last


def marks_of_member(asking: Asking, name: str, seqno: int) -> tuple[Mark, ...] | None:
    """Return a member's marks around a seqno; None where it has no binary log, or it can't be read."""
    try:
        index = asking.session(name).query(statements.LOG_SETTINGS, limit_s=SQL_LIMIT_S).pairs().get("log_bin_index")
        if not index:
            return None
        read = marks_read(index, max(0, seqno - BEFORE))
        output = asking.run(name, read, limit_s=MARKS_LIMIT_S)
    except UserError:
        return None
    return parse_marks(lines_of(output.text)) if output.exit_code == 0 else None

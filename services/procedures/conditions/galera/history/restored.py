"""May a node be started on restored data: is what they hold a part of the donors' past? Read right before its start.

What the node's own logs tell of the data that lay there before is no evidence by itself. What is: the GTID of the last
change that a backup holds, laid beside what the members' binary logs have at its seqno (in Galera the Xid of a
transaction is its seqno on every node, with log_slave_updates). Nodes may count GTIDs differently, and each writes a
statement (DDL) under its own server id (seen on MariaDB 10.11.18): then the node's old binary log leads from the GTID
to a transaction's Xid, server and time, if it has that GTID at that seqno. The same UUID and seqno alone show nothing.

Both sides of a fork may count the same GTID at the same seqno: where its middle names no server (nodes that share a
server id; wsrep_gtid_mode, with which all write under their founder's), and where the server that wrote the losing side
came back and wrote on. So the middle must name a server, and no change of a backup is younger than the backup.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from datetime import UTC, datetime

from services.connections.reads import commands, statements
from services.errors import UserError
from services.facts.binlog.marks import MARKS_LIMIT_S, NO_INDEX, Mark, marks_read, parse_marks
from services.facts.galera.state_files import parse_grastate
from services.facts.replication.gtid import parts_of
from services.facts.server.values import OFF_WORDS
from services.lines import lines_of
from services.procedures.looking.asked import number_of
from services.procedures.plan.actions import WHERE_SET
from services.procedures.plan.condition import Answer, Declared, Kept, Number, OfHost, condition
from services.procedures.plan.looks import SQL_LIMIT_S, Asking
from services.procedures.plan.parts.server.options import Options

BEFORE = 24
"""So many seqnos before the position are read too: a statement (DDL) has no Xid, and stands after one that has."""
_GTID_MODE = "wsrep_gtid_mode"
CLOCKS_S = 60.0
"""So far apart the nodes' clocks may have been when the backup was made."""


@condition("galera.restored-history", "the history of the restored data of {host}")
class RestoredHistory(OfHost):
    """The restored data of `host` hold a part of the past of `hosts`: what follows `stopped_at` continues it.

    A member whose binary log has another server's change at that seqno shows a fork: it never holds then. Where no log
    tells it is not known, and holds where a person accepted that.

    Attributes:
        datadir: its grastate.dat must name `state_uuid` with -1; '' where the data are not in place yet.
        gtid: of the last change that the backup holds, by its own files; '' = not known. Several with commas.
        server, time: of that change, where it is a transaction and the files tell both: by them it is the same on
            nodes that count GTIDs differently.
        listed: the newest change of each server that the backup holds, with commas; '' = not known.
        way: what a person may do where the past stays not known, a sentence.
        until: when the backup held its last change, as a mark's time; '' = not known: no time is compared.
        old_log: index of the binary log of the data that lay there before, where it lies now; '' = none.
        recovered: the name under which the recovered position is kept; accepted: the past may stay not known.
    """

    hosts: tuple[str, ...]
    state_uuid: str
    datadir: str
    stopped_at: Number
    recovered: Kept | None = None
    gtid: str = ""
    old_log: str = ""
    accepted: bool = False
    server: int = 0
    time: str = ""
    until: str = field(default="", metadata={WHERE_SET: True})
    listed: str = field(default="", metadata={WHERE_SET: True})
    way: str = field(default="", metadata={WHERE_SET: True})

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(
            frozenset({self.host, *self.hosts}),
            shows_past_of=frozenset({self.host}),
            enough_of=frozenset(self.hosts),
        )

    def look(self, asking: Asking) -> Answer:
        """Read grastate.dat, then what the members' binary logs have at the position."""
        seqno = number_of(self.stopped_at, asking.past)
        if seqno is None:
            return Answer(holds=None, evidence=f"the position of the restored data of {self.host} is not known")
        if self.datadir and (wrong := names_another(self, asking)):
            return wrong
        leads = self.old_log and self.gtid and not self.time
        own = _read(asking, self.host, self.old_log, seqno, gone=()) if leads else None

        unnamed = names_no_server(asking, self.host, self.hosts) if self.gtid else ""

        def one(name: str) -> Held:
            theirs = marks_of(asking, name, seqno)
            held = by_change((self.server, self.time), seqno, name, theirs) if self.time else None
            held = held or held_against(self.gtid, seqno, name, theirs, self.listed)
            bridged = by_old_log(self.gtid, seqno, (self.host, own or ()), (name, theirs or ()))
            if held.outcome != "forked" and bridged is not None:
                held = bridged
            if held.outcome != "same":
                return held
            younger = written_after(self.until, seqno, name, theirs or ()) or written_after(
                self.until, seqno, self.host, own or ()
            )
            return younger or (Held("not known", f"{held.told}; {unnamed}") if unnamed else held)

        found = asking.each(self.hosts, one)
        seen = [held for held in found.values() if isinstance(held, Held)]
        if forked := next((held for held in seen if held.outcome == "forked"), None):
            return Answer(holds=False, evidence=forked.told, final=True)
        if same := next((held for held in seen if held.outcome == "same"), None):
            return Answer(holds=True, evidence=f"one past: {same.told}")
        missing = tuple(dict.fromkeys(held.told for held in seen)) or ("no member answered",)
        said = f"nothing shows that the restored data of {self.host} belong to the members' history"
        if self.accepted:
            return Answer(holds=True, evidence=f"you accepted an unknown history: {said}", lines=missing)
        way = f". {self.way}" if self.way else ""
        never = len(seen) == len(self.hosts) and all(held.settled for held in seen) and (not leads or own is not None)
        return Answer(holds=None, evidence=f"{said}: {'; '.join(missing)}{way}", final=never, lines=missing)


def names_no_server(asking: Asking, host: str, hosts: tuple[str, ...]) -> str:
    """Return why the middle of a GTID does not tell which server wrote it, '' where it does.

    With wsrep_gtid_mode every node writes GTID and event under one server id (tried, MariaDB 10.11.18).
    """
    seen = asking.facts.host(host) if asking.facts is not None else None
    options = seen[Options] if seen is not None else Options()
    own_mode = options.option("mysqld", "wsrep_gtid_mode")
    found = asking.each(hosts, lambda name: (asking.variable(name, "server_id"), asking.variable(name, _GTID_MODE)))
    told = [value if isinstance(value, tuple) else (None, None) for value in found.values()]
    ids = [options.option("mysqld", "server_id") or "1", *(number for number, _ in told)]  # 1 is the default
    # A product that has no such variable writes under no shared id.
    if any(mode is not None and mode.strip().lower() not in OFF_WORDS for mode in (own_mode, *(m for _, m in told))):
        return "with wsrep_gtid_mode it does not identify a server"
    return "" if all(ids) and len(set(ids)) == len(ids) else "nodes share a server id, so it does not identify a server"


def ids_differ(asking: Asking, host: str, hosts: tuple[str, ...]) -> bool:
    """Return whether a GTID tells which server wrote it."""
    return not names_no_server(asking, host, hosts)


def names_another(condition: RestoredHistory, asking: Asking) -> Answer | None:
    """Return what is wrong with grastate.dat: it must name the cluster, and leave the seqno to InnoDB."""
    path = posixpath.join(condition.datadir, "grastate.dat")
    output = asking.run(condition.host, commands.CONTENT.read(path, sudo=True))
    state = parse_grastate(output.text) if output.exit_code == 0 else None
    if state is None:
        return Answer(holds=None, evidence=f"{path} of {condition.host} is not known")
    if (state.uuid, state.seqno) == (condition.state_uuid.lower(), -1):
        return None
    evidence = f"grastate.dat of {condition.host} says {state.uuid}:{state.seqno}, not {condition.state_uuid}:-1"
    return Answer(holds=False, evidence=f"{evidence}: make a new plan", final=True)


@dataclass(frozen=True, slots=True)
class Held:
    """What one member's binary log says of a backup's last change: 'same', 'forked' or 'not known', and why.

    `settled`: its log was read at that seqno, or begins behind it: no later look finds anything else.
    """

    outcome: str
    told: str
    settled: bool = False


def held_against(gtid: str, seqno: int, member: str, marks: tuple[Mark, ...] | None, listed: str = "") -> Held:
    """Lay a backup's last GTID beside a member's binary log around the backup's seqno. Pure.

    A GTID whose number alone differs is no fork: without wsrep_gtid_mode a node counts what it writes for itself too
    (MariaDB KB, "Using MariaDB Replication with MariaDB Galera Cluster").

    Args:
        marks: the member's, from somewhat before that seqno on; None: its binary log can't be read.
        listed: as in RestoredHistory: a last change that was local (wsrep_on = OFF, a table that is not InnoDB's) hides
            the group's own, which stands there as its server's newest.
    """
    ours = tuple(one.strip() for one in gtid.split(",") if one.strip())
    if not ours:
        return Held("not known", "the backup contains neither the GTID of its last change nor a binary log with it")
    at = mark_at(marks or (), seqno)
    if at is None:
        later = (marks[0].xid or 0) > seqno if marks else False
        return Held("not known", f"the binary log of {member} does not contain seqno {seqno}", settled=later)
    exact = at.xid == seqno
    if at.gtid in ours and (exact or len(ours) == 1):  # of several domains only one has the last change
        return Held("same", f"the backup and the binary log of {member} have GTID {at.gtid} at seqno {seqno}")
    if exact and _hidden(at.gtid, ours, listed):
        evidence = f"the backup and the binary log of {member} have GTID {at.gtid} at seqno {seqno}"
        return Held("same", f"{evidence}; the backup's last change, {', '.join(ours)}, was made on its node alone")
    beside = next((one for one in ours if one.split("-")[0] == at.gtid.split("-")[0]), ours[0])
    evidence = f"at seqno {seqno} the backup has GTID {beside}, the binary log of {member} {at.text}"
    if exact and at.gtid.count("-") == 2 and beside.count("-") == 2 and beside.split("-")[1] != at.gtid.split("-")[1]:
        return Held("forked", f"{evidence}: another server's change")
    return Held("not known", evidence, settled=exact)


def _hidden(gtid: str, ours: tuple[str, ...], listed: str) -> bool:
    """Return whether the backup holds this change of a member's log, and younger ones of another server after it. Pure.

    On the losing side of a fork the newest change of the member's server is one from before the fork: a lower number.
    """
    theirs = parts_of(gtid)
    if theirs is None or gtid not in {one.strip() for one in listed.split(",")}:
        return False
    later = [found for one in ours if (found := parts_of(one)) is not None and found[0] == theirs[0]]
    return bool(later) and all(server != theirs[1] and number > theirs[2] for _, server, number in later)


def written_after(until: str, seqno: int, member: str, marks: tuple[Mark, ...]) -> Held | None:
    """Return that the change at a seqno was written when the backup had its last one already; None where not. Pure."""
    at = mark_at(marks, seqno)
    if at is None or not until:
        return None
    late = (_moment(at.time) - _moment(until)).total_seconds()
    if late <= CLOCKS_S:
        return None
    evidence = f"at seqno {seqno} the binary log of {member} has {at.text}, written {at.time} UTC"
    return Held(
        "forked",
        f"{evidence}, {late:.0f} s after the backup was made: a different transaction, unless a clock was wrong",
    )


def _moment(time: str) -> datetime:
    return datetime.strptime(time, "%y%m%d %H:%M:%S").replace(tzinfo=UTC)


def by_change(change: tuple[int, str], seqno: int, member: str, marks: tuple[Mark, ...] | None) -> Held | None:
    """Lay server and time of a transaction beside the member's of the same Xid; None where it has none of it. Pure."""
    at = next((mark for mark in marks or () if mark.xid == seqno), None)
    if at is None:
        return None
    evidence = f"at Xid {seqno} the binary log of {member} has a transaction of server {at.server_id}, {at.time}"
    if (at.server_id, at.time) == change:
        return Held("same", f"{evidence}, as the restored data")
    return Held("forked", f"{evidence}, the restored data one of server {change[0]}, {change[1]}")


def by_old_log(
    gtid: str, seqno: int, own: tuple[str, tuple[Mark, ...]], other: tuple[str, tuple[Mark, ...]]
) -> Held | None:
    """Lead from a backup's GTID over the old binary log of its node to a transaction that a member has too. Pure.

    None where that log does not have the GTID at that seqno, or nothing to compare. After the last transaction both
    must have the same statements, by their times: those have no Xid.
    """
    (host, mine), (member, theirs) = own, other
    at = mark_at(mine, seqno)
    if at is None or at.gtid not in {one.strip() for one in gtid.split(",")}:
        return None
    ours, there = _since_last_xid(mine, seqno), _since_last_xid(theirs, seqno)
    if not ours or not there or ours[0].xid is None or there[0].xid is None:
        return None
    evidence = f"the backup's GTID {at.gtid} is in {host}'s old binary log"
    first, other_first = ours[0], there[0]
    if first.xid == other_first.xid and (first.server_id, first.time) != (other_first.server_id, other_first.time):
        return Held("forked", f"{evidence}; at Xid {first.xid} {member} has another transaction ({other_first.text})")
    if first.xid != other_first.xid or [one.time for one in ours[1:]] != [one.time for one in there[1:]]:
        return Held("not known", f"{evidence}, and {member}'s log does not continue to seqno {seqno} as that one does")
    return Held("same", f"{evidence}, which agrees with {member}'s at Xid {first.xid} and up to seqno {seqno}")


def _since_last_xid(marks: tuple[Mark, ...], seqno: int) -> tuple[Mark, ...]:
    """Return the marks up to a seqno from the last one with an Xid on, () where there is none.

    A statement that is replicated takes a seqno and has no Xid: what stands behind as many as fit came later.
    """
    over = next((at for at, mark in enumerate(marks) if mark.xid is not None and mark.xid > seqno), len(marks))
    known = marks[:over]
    start = next((at for at in range(len(known) - 1, -1, -1) if known[at].xid is not None), None)
    if start is None:
        return ()
    return known[start : start + 1 + seqno - (known[start].xid or 0)]


def mark_at(marks: tuple[Mark, ...], seqno: int) -> Mark | None:
    """Return the mark at a seqno, None where the marks don't reach over it.

    The transaction that has it as its Xid: a statement behind that one has a seqno of its own, or none. Where no
    transaction has it, a statement has: the last one up to the next Xid.
    """
    if not marks or (marks[0].xid or 0) > seqno:
        return None
    if exact := next((mark for mark in marks if mark.xid == seqno), None):
        return exact
    last = None
    for mark in marks:
        if mark.xid is not None and mark.xid > seqno:
            return last
        last = mark
    return last


def marks_of(asking: Asking, name: str, seqno: int) -> tuple[Mark, ...] | None:
    """Return a member's marks around a seqno; None where it has no binary log, or it can't be read."""
    try:
        found = asking.session(name).query(statements.LOG_SETTINGS, limit_s=SQL_LIMIT_S).pairs()
    except UserError:
        return None
    return _read(asking, name, found.get("log_bin_index", ""), seqno)


def _read(
    asking: Asking, host: str, index: str, seqno: int, gone: tuple[Mark, ...] | None = None
) -> tuple[Mark, ...] | None:
    """Return the marks of a log; `gone` where it has no index any more, None where it can't be read now."""
    if not index:
        return None
    try:
        output = asking.run(host, marks_read(index, max(0, seqno - BEFORE)), limit_s=MARKS_LIMIT_S)
    except UserError:
        return None
    if output.exit_code == NO_INDEX:
        return gone
    return parse_marks(lines_of(output.text)) if output.exit_code == 0 else None

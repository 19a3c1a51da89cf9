"""Do two nodes share their past? The same state UUID and seqno alone never show it. Pure.

After a partition and a bootstrap on one side both sides count on from the same seqno under the same UUID, and IST
"succeeds" between the forks while their data differ. 'Not known' is an answer; 'same' needs evidence, and one piece of
evidence for a fork outweighs all that speaks for one past. Who may name a table or a login can forge lines of an error
log: views are no proof where binary logs of both were read and don't agree. Sources and trials: page "Conventions",
architecture.md.
"""

from __future__ import annotations

from dataclasses import replace

from services.facts.binlog.marks import Mark
from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.traces import Trace, Traces
from services.procedures.plan.parts.server.log_filters import left_out_of_log
from services.procedures.plan.pasts.histories_model import Histories, Side
from services.procedures.plan.pasts.own_transactions import all_in, before_turn, own_after
from services.procedures.plan.pasts.positions import recovered_position

WINDOW = 32
"""So many of a node's newest marks are laid beside the other's: half of what one read tells; it sees further."""


def histories(facts: Facts, joiner: str, donor: str) -> Histories:
    """Compare what the two nodes' own traces tell; a node that was never seen before has none.

    Members of one Primary Component go on together: what is known of one of them holds for a donor beside it.
    """
    ours, asked = side_of(facts, facts.host(joiner)), side_of(facts, facts.host(donor))
    beside = [side_of(facts, facts.host(name)) for name in facts.members if name not in {joiner, donor}]
    together = (asked, *(s for s in beside if asked.serves and s.serves and s.state_uuid == asked.state_uuid))
    told = among(tuple(compared(ours, other) for other in together))
    for seen in facts.two_primaries:
        mine = [place for place, hosts in enumerate(seen.sides) if joiner in hosts]
        theirs = [place for place, hosts in enumerate(seen.sides) if any(s.host in hosts for s in together)]
        if mine and theirs and mine != theirs:
            said = seen.evidence or f"two Primary Components were seen, {joiner} in one of them"
            if told.outcome != "forked":
                return Histories("forked", said)
            return replace(told, evidence=f"{said}; {told.evidence}")  # what was seen doesn't tell from where on
    return told


def among(found: tuple[Histories, ...]) -> Histories:
    """Return what holds against a whole group: one fork is a fork, else one proof is a proof."""
    if not found:
        return Histories("not known", "there is no member to compare with")
    told = with_shared(min(found, key=lambda one: one.rank), found)
    missing = tuple(dict.fromkeys(sentence for one in found for sentence in one.missing))
    return replace(told, missing=missing if told.outcome == "not known" else ())


def with_shared(told: Histories, found: tuple[Histories, ...]) -> Histories:
    """Return it with the last seqno that a node shares with others of one past, by all that was compared of them.

    A log that begins later, or a node that was away meanwhile, tells less than is shared: what binary logs show of one
    of them holds for all. Without that it is the least that any tells: nothing that may be lost is called shared.
    """
    ends = [(one.shared_to, one.by_logs) for one in found if one.outcome == told.outcome and one.shared_to is not None]
    shown = max((seqno for seqno, by_logs in ends if by_logs), default=None)
    least = min((seqno for seqno, _ in ends), default=None)
    return replace(told, shared_to=least if shown is None else shown, by_logs=shown is not None)


def side_of(facts: Facts, host: HostFacts) -> Side:
    """Return what a comparison needs of a host.

    What a run had its server recover wins over grastate.dat, whose seqno counts where its own traces account for it.
    """
    galera = host.node.galera if host.node is not None else None
    folder, trace = host[DataFolder], host[Traces].trace
    primary = galera is not None and galera.cluster_status == "Primary"
    recovered = recovered_position(facts, host.host)
    uuid, seqno = "", None
    if galera is not None and (host.server_up or primary):
        uuid, seqno = galera.state_uuid or galera.local_state_uuid, galera.last_committed
    elif recovered is not None:
        uuid, seqno = recovered
    elif folder.grastate is not None:
        uuid = folder.grastate.uuid
        seqno = folder.grastate.seqno if claim_is_confirmed(folder.grastate, trace) else None
    if state_is_lost(host) and recovered is None and not primary:
        uuid, seqno = facts.cluster_id, None  # its traces may still show a fork: whose data it is is asked then
    known = None if seqno is None or seqno < 0 else seqno
    alone = folder.gvwstate is not None and len(folder.gvwstate[1]) == 1 and folder.gvwstate_by_hand is True
    told = trace or Trace(unread=(_no_trace(host.host),))
    return Side(host.host, uuid, known, primary, told, alone, left_out_of_log(host))


def state_is_lost(host: HostFacts) -> bool:
    """Return whether a stopped node's data folder is not empty and no state stands in its grastate.dat."""
    folder = host[DataFolder]
    left = host.server_up is not True and folder.entries != 0 and not folder.erased_by_transfer
    return left and not folder.names_state and bool(folder.path)


def _no_trace(host: str) -> str:
    return f"the log and the binary log of {host} were not read"


def compared(joiner: Side, donor: Side) -> Histories:
    """Compare two nodes by every trace; what a server outside the cluster left behind need stand in none of them."""
    found = _by_traces(joiner, donor)
    sides = [(side.host, side.trace.other_server) for side in (joiner, donor) if not side.serves]
    doubts = tuple(other.told(host) for host, other in sides if other is not None)
    if found.outcome == "forked" or not doubts:
        return found
    if found.outcome == "not known":
        return replace(found, missing=(*doubts, *found.missing), outside=True)
    ran = any(other is not None and other.certain for _, other in sides)
    words = "another server ran on the data behind it" if ran else (
        "whether another server ran on the data behind it is not known"
    )  # fmt: skip
    said = f"what was read shows one past ({found.evidence}), and {words}"
    return Histories("not known", said, missing=doubts, outside=True)


def _by_traces(joiner: Side, donor: Side) -> Histories:
    if joiner.state_uuid in {"", ZERO_UUID}:
        return Histories(
            "not known", f"{joiner.host} has no usable position", missing=(f"a position of {joiner.host}",)
        )
    if donor.state_uuid and joiner.state_uuid != donor.state_uuid:
        words = f"{joiner.host} has the state UUID {joiner.state_uuid}, {donor.host} {donor.state_uuid}"
        return Histories("forked", words)
    marks, views = by_marks(joiner, donor), by_views(joiner, donor)
    forks = [one for one in (marks, views, _by_gvwstate(joiner, donor)) if one.outcome == "forked"]
    if forks:
        shared = [one.shared_to for one in forks if one.shared_to is not None]
        said, least = "; ".join(one.evidence for one in forks), min(shared, default=None)
        shown = marks.by_logs and least is not None and marks.shared_to == least
        return Histories("forked", said, least, own=marks.own, by_logs=shown)
    if "same" in {marks.outcome, views.outcome} and marks.logs != "differ":
        return _one_past(marks, views)
    missing = tuple(dict.fromkeys((*joiner.trace.unread, *donor.trace.unread, marks.evidence, views.evidence)))
    said = f"nothing that was read shows that {joiner.host} and {donor.host} share their past"
    if views.outcome == "same":
        missing = (marks.evidence,)
        said = f"the error logs of {joiner.host} and {donor.host} show one history, but their binary logs disagree"
    return Histories("not known", said, missing=missing, logs=marks.logs)


def _one_past(marks: Histories, views: Histories) -> Histories:
    """Return 'same' with what it rests on: views alone are said to be alone, and why no transaction stands by them."""
    if marks.outcome == "same" or marks.logs == "agree":
        told = [one.evidence for one in (marks, views) if one is marks or one.outcome == "same"]
        return Histories("same", "; ".join(told), logs="agree")
    return Histories("same", f"{views.evidence}; only the error logs show this: {marks.evidence}")


# -- binary logs -------------------------------------------------------------------------------------------------------


def by_marks(joiner: Side, donor: Side) -> Histories:
    """Lay the joiner's newest transactions beside the donor's, and what it wrote for itself with wsrep off."""
    found = _newest(joiner, donor)
    if not before_turn(joiner.trace.marks):
        return found
    read = next((marks for host, marks in donor.trace.at_turn if host == joiner.host), ())
    own = own_after(joiner.trace.marks, read)
    agrees = found.outcome == "same" or found.logs == "agree"
    if own is None or (agrees and not own.other_has):
        return found
    said = f"the binary log of {joiner.host} holds {own.text}"
    if own.shown and own.other_has and not own.followed and not donor.trace.partial:
        lacks = f"{said}, and that of {donor.host}, which has that one, has none of them"
        return Histories("forked", lacks, own.last.xid, logs="differ", own=own.count)
    if found.outcome == "forked":
        return replace(found, evidence=f"{said}; {found.evidence}", shared_to=None, by_logs=False)
    if not own.shown:
        return Histories("not known", said, logs="differ")
    shared = (
        f", and then what {donor.host} has too" if own.followed else f", and {donor.host}'s log does not contain it"
    )
    return Histories("not known", f"{said}{shared}", logs="differ")


def _newest(joiner: Side, donor: Side) -> Histories:
    """Lay the joiner's newest transactions beside the donor's, minding what a filter left out of either's log."""
    found = _laid_beside(joiner, donor)
    left_out = (*joiner.left_out, *donor.left_out)
    if found.outcome != "not known" or not left_out:
        return found
    return replace(found, evidence=f"{found.evidence} ({'; '.join(left_out)})", logs="")


def _laid_beside(joiner: Side, donor: Side) -> Histories:
    """Lay the joiner's newest transactions beside the donor's. 'Same' only up to the joiner's very position."""
    logs = f"the binary logs of {joiner.host} and {donor.host}"
    if alone := next((side.host for side in (joiner, donor) if side.trace.partial), ""):
        said = f"the binary log of {alone} has only what was written on {alone} itself (log_slave_updates is off)"
        return Histories("not known", said)
    ours = window(joiner.trace.marks, joiner.seqno)
    theirs = next((marks for host, marks in donor.trace.since if host == joiner.host), None)
    if not ours or not theirs:
        lacking = joiner.host if not ours else donor.host
        ends = ours and theirs is not None and donor.trace.marks and not _went_before(donor, ours)
        newest = window(joiner.trace.marks, None)  # beyond its position: commits that InnoDB lost are the other's too
        beyond = not ours and theirs is not None and not all_in(newest, theirs)
        said = f"the binary log of {lacking} contains no transaction to compare"
        return Histories("not known", said, logs="differ" if ends or beyond else "")
    start = next((at for at, mark in enumerate(ours) if mark.xid is not None and mark.xid == theirs[0].xid), None)
    if start is None:
        purged = (theirs[0].xid or 0) > (_last_xid(ours) or 0)
        said = f"{logs} have no Xid of {joiner.host}'s newest {len(ours)} in common"
        return Histories("not known", said, logs="" if purged and _reaches_position(ours, joiner) else "differ")
    run = newest_run(joiner.trace.marks)
    after = run[run.index(ours[-1]) + 1 :] if donor.serves else ()  # its own count may have begun above its position
    conflict = _conflict((*ours[start:], *after), theirs, joiner, donor)
    return conflict or _gaps(ours[start:], theirs, joiner, donor) or _beside(ours[start:], theirs, joiner, donor)


def _went_before(donor: Side, ours: tuple[Mark, ...]) -> bool:
    """Return whether the other node stopped before the first of these, and its log has statements (DDL) alone.

    Else a log that holds others, and none of these or after them, differs.
    """
    stopped = not donor.serves and donor.seqno is not None
    return stopped and (donor.seqno or 0) < (ours[0].xid or 0) and _last_xid(donor.trace.marks) is None


def _gaps(ours: tuple[Mark, ...], theirs: tuple[Mark, ...], joiner: Side, donor: Side) -> Histories | None:
    """Return 'not known' where a log lacks what the other one has, and its server leaves transactions out of it."""
    end = min(_last_xid(ours) or 0, _last_xid(theirs) or 0)
    mine, others = ({mark.xid for mark in marks if (mark.xid or end) < end} for marks in (ours, theirs))
    lacks = [side.host for side, gap in ((joiner, others - mine), (donor, mine - others)) if side.left_out and gap]
    said = (
        f"the binary logs of {joiner.host} and {donor.host} agree, apart from the transactions "
        f"that {' and '.join(lacks)} left out"
    )
    return Histories("not known", said) if lacks else None


def _beside(ours: tuple[Mark, ...], theirs: tuple[Mark, ...], joiner: Side, donor: Side) -> Histories:
    """Compare marks that begin at one Xid and have no conflict."""
    logs, last = f"the binary logs of {joiner.host} and {donor.host}", ours[-1]
    reached = _reach(ours, theirs)
    if any(not mark.is_same(other) for mark, other in zip(ours, theirs, strict=False)):
        upto = "" if reached else " up to a point"
        said = f"{logs} agree in Xids, servers and times{upto}, and count their GTIDs differently"
        return Histories("not known", said, logs="agree" if reached else "differ")
    if len(theirs) < len(ours) and donor.serves:
        said = f"the binary log of {donor.host} ends at {theirs[-1].text}, that of {joiner.host} at {last.text}"
        return Histories("not known", said, logs="differ")
    if not _nothing_between(ours, theirs[len(ours) :], joiner):
        said = f"{logs} agree at {last.text}, and what came between it and {joiner.host}'s position is not known"
        return Histories("not known", said, logs="agree" if reached else "")
    if len(theirs) < len(ours):
        said = f"{logs} agree at {theirs[-1].text}, where that of {donor.host} ends, and {donor.host} serves no clients"
        return Histories("same", said, logs="agree")
    return Histories("same", f"{logs} agree at {last.text}", logs="agree")


def _reach(ours: tuple[Mark, ...], theirs: tuple[Mark, ...]) -> bool:
    """Return whether theirs has our last transaction and the statements after it, by server and time, GTIDs apart."""
    at = next(place for place in range(len(ours) - 1, -1, -1) if ours[place].xid is not None)
    there = next((place for place, mark in enumerate(theirs) if mark.xid == ours[at].xid), None)
    if there is None:
        return False
    beside = theirs[there : there + len(ours) - at]
    return [(m.xid, m.server_id, m.time) for m in ours[at:]] == [(m.xid, m.server_id, m.time) for m in beside]


def _conflict(ours: tuple[Mark, ...], theirs: tuple[Mark, ...], joiner: Side, donor: Side) -> Histories | None:
    """Return the fork that one Xid shows: of two servers or times, or missing where the other log went past it.

    A server that leaves transactions out of its log (binlog_ignore_db) lacks some of one past too.

    A GTID that differs alone is none: without wsrep_gtid_mode a node counts what it writes for itself too (MariaDB KB,
    "Using MariaDB Replication with MariaDB Galera Cluster").
    """
    known = {mark.xid: mark for mark in theirs if mark.xid is not None}
    reached = max(max(known, default=0), (donor.seqno or 0) if donor.serves and len(theirs) < WINDOW else 0)
    shared: int | None = None
    for mark in ours:
        if mark.xid is None or mark.xid > reached:
            continue
        other = known.get(mark.xid)
        if other is None and donor.left_out:
            continue
        if other is None or (mark.server_id, mark.time) != (other.server_id, other.time):
            searched = next((xid for host, xid in donor.trace.shared if host == joiner.host), None)
            told = other.text if other is not None else "no such Xid"
            said = f"the binary logs of {joiner.host} and {donor.host} differ: {mark.text} on {joiner.host}, "
            ends = searched if shared is None else shared
            # Servers of one id that wrote at one second look alike: there the next one is no proof of this one.
            by_logs = ends is not None and other is not None and other.server_id != mark.server_id
            return Histories("forked", f"{said}{told} on {donor.host}", ends, by_logs=by_logs)
        shared = mark.xid
    return None


def window(marks: tuple[Mark, ...], seqno: int | None) -> tuple[Mark, ...]:
    """Return the newest marks up to a position, from one with an Xid on: what the other log is asked for.

    What stands before a step back is not of them: of another state UUID, given up, or before what is the node's own.
    """
    marks = newest_run(marks)
    over = next((at for at, m in enumerate(marks) if seqno is not None and (m.xid or 0) > seqno), len(marks))
    known = marks[:over][-WINDOW:]
    start = next((at for at, mark in enumerate(known) if mark.xid is not None), len(known))
    return known[start:]


def _nothing_between(ours: tuple[Mark, ...], after: tuple[Mark, ...], joiner: Side) -> bool:
    """Return whether no transaction of the donor's can stand between the joiner's last one and its position.

    Views that the joiner went through take a seqno each: nodes that left one after the other leave only those behind.
    """
    seqno = joiner.seqno
    accounted = None if seqno is None else _accounted_to(ours, _views(joiner), seqno)
    if seqno is None or accounted is None:
        return False
    if seqno <= accounted or not after:
        return True
    return after[0].xid is not None and after[0].xid > seqno


def _reaches_position(ours: tuple[Mark, ...], joiner: Side) -> bool:
    """Return whether a log accounts for each seqno up to the position: else its end may be the server's own count."""
    seqno = joiner.seqno
    accounted = None if seqno is None else _accounted_to(ours, _views(joiner), seqno)
    return seqno is not None and accounted is not None and accounted >= seqno


def _accounted_to(marks: tuple[Mark, ...], views: tuple[PrimaryView, ...], seqno: int) -> int | None:
    """Return how far a node's traces account for each seqno up to `seqno`; None where its log has no Xid.

    A seqno is a transaction with its Xid, a statement in total order (DDL), or a Primary view (Galera 4).
    """
    last = _last_xid(marks)
    if last is None:
        return None
    statements = next(at for at, mark in enumerate(reversed(marks)) if mark.xid is not None)
    return last + statements + sum(last < view.seqno <= seqno for view in views)


def _last_xid(marks: tuple[Mark, ...]) -> int | None:
    return next((mark.xid for mark in reversed(marks) if mark.xid is not None), None)


def newest_run(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """Return the newest marks whose Xids only grow: what stands before a step back is of a state that was given up."""
    start, last = 0, 0
    for at, mark in enumerate(marks):
        if mark.xid is not None:
            start, last = (at if mark.xid <= last else start), mark.xid
    return marks[start:]


def claim_is_confirmed(state: Grastate, trace: Trace | None) -> bool:
    """Return whether a node's own traces account for every seqno up to the one that its grastate.dat claims.

    A file that somebody edited, or that stems from another moment, claims more or less than these. A write set that
    failed its certification took a seqno too: then this is not confirmed, and InnoDB is asked.
    """
    if trace is None or state.seqno is None or newest_run(trace.marks) != trace.marks:
        return False
    views = tuple(view for view in trace.views if view.state_uuid == state.uuid)
    return state.seqno == _accounted_to(trace.marks, views, state.seqno)


# -- views -------------------------------------------------------------------------------------------------------------


def by_views(joiner: Side, donor: Side) -> Histories:
    """Follow both through their Primary Components: after the last one in common nobody may have gone on otherwise."""
    ours, theirs = _views(joiner), _views(donor)
    if not ours or not theirs:
        lacking = joiner.host if not ours else donor.host
        return Histories("not known", f"the log of {lacking} contains no Primary Component")
    common = next((mine for mine in reversed(ours) if any(mine.is_same(other) for other in theirs)), None)
    if common is None:
        return _without_common(joiner, donor, ours, theirs)
    mine = next((view for view in ours if view.seqno > common.seqno), None)
    their = next((view for view in theirs if view.seqno > common.seqno), None)
    met = f"both were in the Primary Component of {', '.join(common.names)} that began at seqno {common.seqno}"
    if mine is not None and (their is not None or donor.serves):
        shared = min(view.seqno for view in (mine, their) if view is not None) - 1
        went = f"{donor.host} into {_told(their)}" if their is not None else f"{donor.host} stayed"
        return Histories("forked", f"{met}; then {joiner.host} went on into {_told(mine)}, {went}", shared)
    left, follower, stays = (their, donor, joiner) if mine is None else (mine, joiner, donor)
    if left is None:
        return Histories("same", met)
    if stays.seqno is None:
        return Histories("not known", f"{met}, and how far {stays.host} went in it is not known")
    if stays.seqno >= left.seqno:
        said = f"{met}; {follower.host} left it at {left.seqno - 1}, {stays.host} has {stays.seqno} of it"
        return Histories("forked", said, left.seqno - 1)
    return Histories("same", f"{met}, {stays.host} up to {stays.seqno}, {follower.host} on from there to {left.seqno}")


def _views(side: Side) -> tuple[PrimaryView, ...]:
    """Return the views up to the node's position: later ones are of a state that its data folder no longer has."""
    views = [view for view in side.trace.views if view.state_uuid == side.state_uuid]
    return tuple(view for view in views if side.seqno is None or view.seqno <= side.seqno)


def _without_common(
    joiner: Side, donor: Side, ours: tuple[PrimaryView, ...], theirs: tuple[PrimaryView, ...]
) -> Histories:
    last = ours[-1]
    other = next((view for view in theirs if view.seqno == last.seqno), None)
    if other is not None:
        said = f"at seqno {last.seqno} {joiner.host} went into {_told(last)}, {donor.host} into {_told(other)}"
        return Histories("forked", said)
    if theirs[0].seqno < last.seqno and (donor.serves or (donor.seqno or 0) >= last.seqno):
        said = f"{joiner.host} was in {_told(last)}, and {donor.host}, whose log goes further back, never was"
        return Histories("forked", said)
    return Histories(
        "not known", f"the logs of {joiner.host} and {donor.host} contain no Primary Component with both nodes"
    )


def _told(view: PrimaryView) -> str:
    hand = ", made Primary by hand," if view.by_hand else ""
    return f"the Primary Component of {', '.join(view.names)}{hand} at seqno {view.seqno}"


def _by_gvwstate(joiner: Side, donor: Side) -> Histories:
    """A node that a person made Primary alone, and that stopped so, wrote what no other has, if it wrote."""
    if joiner.alone_by_hand and donor.serves:
        said = f"gvwstate.dat of {joiner.host}: a person made it Primary alone (bootstrap: 1); {donor.host} went on"
        return Histories("forked", said)
    return Histories("not known", "")

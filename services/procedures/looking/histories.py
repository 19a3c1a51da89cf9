"""Reading what nodes' own traces tell of their past, where a comparison can matter: two rounds over Observer sessions.

Round 1: the views of each log, and the newest marks of each binary log. Round 2: the marks from there on in the others'
binary logs, and where both differ before that, the last one that both have.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from services.connections.ports import Output
from services.connections.programs.read_programs import LEFT_OUT
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.binlog.files import binlog_files, index_of, is_of_mariadb
from services.facts.binlog.marks import MARKS_LIMIT_S, Mark, marks_read, parse_marks, why_unread
from services.facts.galera.log_peers import LogPeer, parse_peers
from services.facts.galera.other_server import NotRead, OtherServer
from services.facts.galera.primary_views import LOG_LIMIT_S, PrimaryView, how_far, parse_views, views_read
from services.facts.galera.ran_alone import RanAlone, ran_alone
from services.facts.reading import count, flag
from services.lines import lines_of
from services.procedures.looking.other_server import log_file, read_other_server
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.traces import Other, Trace, Traces
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.pasts.histories import by_marks, newest_run, side_of, window
from services.procedures.plan.pasts.own_transactions import asked_next, same_event

_OUT_OF_TIME = 124
_UPDATES = ("log_slave_updates", "log_replica_updates")


class Road(Protocol):
    """A way to one host's reads; None when a read could not be made."""

    def __call__(self, read: CommandRead, limit_s: float) -> Output | None:
        """Run one read."""


Each = Callable[[tuple[str, ...], Callable[[str], Trace]], list[Trace]]
"""Calls a function for each of some hosts, at once, and returns what it returned, in their order."""


def to_compare(facts: Facts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (joiners, donors): who is away from the cluster with a position, and whom their past is held against.

    Members that are up in one Primary Component have one past: nothing is read of them alone. Where nobody is Primary
    each is held against each.
    """
    there = [host for host in facts.hosts if host.host in facts.members and _can_be_read(host)]
    serving = tuple(host.host for host in there if side_of(facts, host).serves)
    away = tuple(host.host for host in there if host.host not in serving and side_of(facts, host).state_uuid)
    if not away:
        return (), ()
    return away, serving or away


def with_histories(facts: Facts, roads: Mapping[str, Road], each: Each) -> Facts:
    """Return the facts with the traces of those whose pasts are compared; nothing is read where there is nobody.

    Args:
        roads: host -> its reads; each: calls a function for each name, at once, and returns what it returned in order.
    """
    return compare_between(facts, *to_compare(facts), roads, each)


def compare_between(
    facts: Facts, joiners: tuple[str, ...], donors: tuple[str, ...], roads: Mapping[str, Road], each: Each
) -> Facts:
    """Return the facts with the traces that tell these joiners and donors apart."""
    joiners, donors = (tuple(name for name in names if name in roads) for names in (joiners, donors))
    both = tuple(dict.fromkeys((*joiners, *donors)))
    facts = _with(facts, dict(zip(both, each(both, lambda n: first_round(facts.host(n), roads[n])), strict=True)))
    away = {name: facts.host(name) for name in joiners}
    found = each(donors, lambda n: second_round(facts, facts.host(n), away, roads[n]))
    facts = _with(facts, dict(zip(donors, found, strict=True)))
    for joiner in joiners:  # one after the other: each search asks two hosts in turn
        for donor in (name for name in donors if name != joiner):
            ways = (roads[joiner], roads[donor])
            facts = _with(facts, {donor: searched(facts, facts.host(joiner), facts.host(donor), ways)})
    return facts


def _with(facts: Facts, traces: Mapping[str, Trace]) -> Facts:
    hosts = tuple(h.with_part(Traces(traces[h.host])) if h.host in traces else h for h in facts.hosts)
    return replace(facts, hosts=hosts)


def _can_be_read(host: HostFacts) -> bool:
    return host.node is not None and host.node.machine is not None and bool(host[DataFolder].path)


def first_round(host: HostFacts, run: Road) -> Trace:
    """Read a host's views, its newest marks, and whether a server ran on its data outside the cluster."""
    unread: list[str] = []
    views, alone, peers = read_views(host, run, unread)
    other = _other(read_other_server(host, run), alone if host.server_up is not True else None)
    index = binlog_index(host, run, unread)
    if index is None:
        return Trace(views, other_server=other, unread=tuple(unread), peers=peers)
    marks = read_marks(host.host, index, None, run, unread) if index else ()
    partial = has_only_its_own(host, marks or ())
    told = Trace(views, marks or (), index=index, log_told=marks is not None, partial=partial, unread=tuple(unread))
    return replace(told, other_server=other, peers=peers)


def _other(by_time: OtherServer | NotRead | None, alone: RanAlone | NotRead | None) -> Other:
    """Return what was seen before what could not be read."""
    seen = (one for one in (by_time, alone) if one is not None)
    return min(seen, key=lambda one: isinstance(one, NotRead), default=None)


def has_only_its_own(host: HostFacts, marks: tuple[Mark, ...]) -> bool:
    """Return whether a binary log lacks what was written on other nodes: log_slave_updates is off.

    Off is MariaDB's default, on is MySQL's since 8.0.3 (MariaDB KB, "log_slave_updates"; MySQL manual,
    "log_replica_updates"). Where no option says it, a log that holds another server's transactions has it on.
    """
    options = host[Options]
    live = next((value for name in _UPDATES if (value := host[Variables].value(name))), "")
    if live:
        return flag(live) is False
    given = [options.option("mysqld", name) for name in _UPDATES]
    if any(options.option("mysqld", f"skip_{name}") is not None for name in _UPDATES):
        return True
    if any(value is not None for value in given):
        return any(value and flag(value) is False for value in given)
    own = count(host[Options].option("mysqld", "server_id") or "")
    return any(is_of_mariadb(mark.gtid) for mark in marks) and {mark.server_id for mark in marks} == {own}


def read_views(
    host: HostFacts, run: Road, unread: list[str]
) -> tuple[tuple[PrimaryView, ...], RanAlone | NotRead | None, tuple[LogPeer, ...]]:
    """Return the views that the host's log tells of, a server that ran without the cluster, and whom its provider met.

    Why the views are not known goes to `unread`.
    """
    output = run(views_read(host[Unit].name or "mariadb.service", log_file(host)), LOG_LIMIT_S)
    if output is None or output.exit_code not in {0, 1, _OUT_OF_TIME}:  # 1: grep found nothing
        unread.append(f"the log of {host.host} could not be read")
        return (), NotRead("its log") if output is None else None, ()
    lines = lines_of(output.text)
    found = parse_views(lines)
    if output.exit_code == _OUT_OF_TIME:
        unread.append(_out_of_time(host.host, how_far(lines)))
    elif not found:
        hidden = " after the newest place where it may stand among clients' words" if LEFT_OUT in lines else ""
        unread.append(f"the log of {host.host} contains no Primary Component{hidden}")
    return found, ran_alone(lines), parse_peers(lines)


def _out_of_time(host: str, read: tuple[int, int] | None) -> str:
    """Return how far back a log was read, what fills it, and that views before it are not known."""
    if read is None:
        return f"the log of {host} could not be read in 20 s: its views are not known"
    size, refused = read
    fills = f" and hold {refused} refused logins" if refused else ""
    return f"the newest {size // 1_000_000} MB of the log of {host} took 20 s{fills}; views before them were not read"


def binlog_index(host: HostFacts, run: Road, unread: list[str]) -> str | None:
    """Return the path of the binary log's index: by the running server, the option files, else the data folder.

    '' where there is none, None where that is not known; why goes to `unread`.
    """
    folder = host[DataFolder]
    live = host[Variables].value("log_bin_index")
    if live:
        return live
    if host[Variables].value("log_bin") in {"OFF", "0"}:
        unread.append(f"{host.host} writes no binary log")
        return ""
    named = host[Options].option("mysqld", "log_bin_index") or index_of(host[Options].option("mysqld", "log_bin") or "")
    if named:
        return posixpath.normpath(posixpath.join(folder.path, named))
    listing = run(commands.NAMES.read(folder.path, sudo=True), 8.0)
    if listing is None or listing.exit_code:
        unread.append(f"{folder.path} of {host.host} could not be listed")
        return None
    found = binlog_files(listing.text)
    there = found.indexes
    if len(there) == 1:
        return posixpath.join(host[DataFolder].path, there[0])
    if not there and found.file:
        unread.append(f"{host[DataFolder].path} of {host.host} has a binary log ({found.file}) without an index file")
        return None
    unread.append(f"{host.host} has no binary log in {folder.path}" if not there else
                  f"which of {', '.join(there)} is the binary log of {host.host} is not known")  # fmt: skip
    return None if there else ""


def read_marks(host: str, index: str, since: int | None, run: Road, unread: list[str]) -> tuple[Mark, ...] | None:
    """Return a binary log's newest marks, or those from an Xid on; None where it can't be read: why, in `unread`."""
    output = run(marks_read(index, since), MARKS_LIMIT_S)
    if output is None or output.exit_code:
        errors = output.stderr.decode("utf-8", "replace") if output is not None else ""
        said = why_unread(output.exit_code, errors, output.text) if output is not None else ""
        unread.append(f"the binary log of {host} could not be read{f': {said}' if said else ''}")
        return None
    found = parse_marks(lines_of(output.text))
    if not found and since is None:
        unread.append(f"the binary log of {host} holds no transaction")
    return found


def second_round(facts: Facts, host: HostFacts, joiners: Mapping[str, HostFacts], run: Road) -> Trace:
    """Read what this host's binary log has beside the joiners' newest marks."""
    trace = host[Traces].trace or Trace()
    unread = list(trace.unread)
    since, at_turn = list(trace.since), list(trace.at_turn)
    for name, joiner in joiners.items():
        its_own = joiner[Traces].trace
        if name == host.host or not trace.index or its_own is None:
            continue
        beside = _beside_turns(host.host, trace.index, its_own.marks, run, unread)
        at_turn += [(name, beside)] if beside else []
        ours = window(its_own.marks, side_of(facts, joiner).seqno) or window(its_own.marks, None)
        if not ours or ours[0].xid is None:
            continue
        theirs = read_marks(host.host, trace.index, ours[0].xid, run, unread)
        if theirs is not None:
            since.append((name, theirs))
    return replace(trace, since=tuple(since), at_turn=tuple(at_turn), unread=tuple(dict.fromkeys(unread)))


def _beside_turns(host: str, index: str, ours: tuple[Mark, ...], run: Road, unread: list[str]) -> tuple[Mark, ...]:
    """Return a binary log's marks about each step back of another's, up to the first that they don't account for."""
    found: tuple[Mark, ...] = ()
    asked: set[int] = set()
    while wanted := [xid for xid in asked_next(ours, found) if xid not in asked]:
        for xid in wanted:
            asked.add(xid)
            if xid not in {mark.xid for mark in found}:
                found += read_marks(host, index, xid, run, unread) or ()
    return found


def last_shared(
    ours: Callable[[int], tuple[Mark, ...]], theirs: Callable[[int], tuple[Mark, ...]], high: int, low: int = 0
) -> int | None:
    """Return the last Xid of `low` to `high` that two binary logs have alike, None where none was found; by halving.

    Both differ at `high`. It begins at the first place that both reach back to: below it one of them was purged, or
    began with an SST.

    Args:
        ours, theirs: give the marks from an Xid on.
    """
    first = [next((m.xid for m in marks if m.xid is not None), None) for marks in (ours(0), theirs(0))]
    begin = max(low, *(xid or 0 for xid in first))
    if None in first or begin >= high or (found := _alike(ours, theirs, begin)) is None:
        return None
    low, above = found, high
    while above - low > 1:
        middle = (low + above) // 2
        found = _alike(ours, theirs, middle)
        low, above = (found, above) if found is not None else (low, middle)
    return low


def _alike(ours: Callable[[int], tuple[Mark, ...]], theirs: Callable[[int], tuple[Mark, ...]], xid: int) -> int | None:
    """Return the first Xid of `xid` or more, where both logs have the same transaction there."""
    mine, other = (next((m for m in marks if m.xid is not None), None) for marks in (ours(xid), theirs(xid)))
    return mine.xid if mine is not None and other is not None and same_event(mine, other) else None


def _to_search(ours: tuple[Mark, ...], theirs: tuple[Mark, ...], seqno: int | None) -> tuple[tuple[int, int], ...]:
    """Return the ranges of Xids in which the last shared one may lie: below the first that was laid beside the other's.

    Older marks may be shared, and are searched too. Where a log steps back one number stands for two transactions, and
    its first is found: only beyond them all does it tell where the newest run has parted, else below them all.
    """
    high = next((mark.xid for mark in window(ours, seqno) if mark.xid), 0)
    back = [marks for marks in (ours, theirs) if newest_run(marks) != marks]
    if not back:
        return ((0, high),)
    before = [mark.xid or 0 for marks in back for mark in marks[: len(marks) - len(newest_run(marks))]]
    lowest = min((mark.xid for marks in back for mark in marks if mark.xid), default=0)
    return ((max(before) + 1, high), (0, min(high, lowest)))


class _NotReadError(Exception):
    """A host's binary log was not read: what it holds there is not known."""


def searched(facts: Facts, joiner: HostFacts, donor: HostFacts, ways: tuple[Road, Road]) -> Trace:
    """Return the donor's trace with the last Xid that both have, where they differ in all that was read.

    A read that was not answered ends the search: taken for a log without the transaction it gave a place far below.
    """
    trace, ours = donor[Traces].trace or Trace(), (joiner[Traces].trace or Trace()).marks
    ranges = _to_search(ours, trace.marks, side_of(facts, joiner).seqno)
    found = by_marks(side_of(facts, joiner), side_of(facts, donor))
    if found.outcome != "forked" or found.shared_to is not None:
        return trace

    def reading(host: HostFacts, run: Road) -> Callable[[int], tuple[Mark, ...]]:
        index = (host[Traces].trace or Trace()).index

        def marks(xid: int) -> tuple[Mark, ...]:
            found = read_marks(host.host, index, xid, run, []) if index else ()
            if found is None:
                raise _NotReadError(host.host)
            return found

        return marks

    ours_from, theirs_from = reading(joiner, ways[0]), reading(donor, ways[1])
    each = (last_shared(ours_from, theirs_from, high, low) for low, high in ranges)
    try:
        shared = next((xid for xid in each if xid is not None), None)
    except _NotReadError as problem:
        evidence = (
            f"where the binary logs of {joiner.host} and {donor.host} part: the log of {problem} was not read there"
        )
        return replace(trace, unread=(*trace.unread, evidence))
    return trace if shared is None else replace(trace, shared=(*trace.shared, (joiner.host, shared)))

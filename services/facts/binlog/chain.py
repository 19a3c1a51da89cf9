"""A chain of binary logs that a replay reads: is it whole, from where, up to where, and what speaks against it. Pure.

In Galera the Xid of a transaction is its seqno on every node; a DDL statement takes one too and has none (tried on
MariaDB 10.11.18: 'Xid = 15008' between statements without). So a replay ends at a transaction, never at a statement:
the last Xid of the chain is the target, and what stands behind it comes by IST.

Seen on the lab (MariaDB 10.11.18): a transaction with wsrep off has a local number as its Xid (299849 among 15019 and
15020); one with sql_log_bin = 0 takes a seqno and stands in the others' logs, not in its server's: a hole; a file
begins with the GTIDs up to which those before it go, which shows that none is missing, also behind a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.facts.backup.backups import newest

MOST_VIEWS = 8
"""Each change of view takes a seqno and stands in no log: so many right behind a backup are no wonder."""
MOST_STRETCHES = 400
"""So many stretches are laid beside the members' logs: each costs a read there, neighbours one for all of them."""
RECENT = 4
"""So many transactions at the end of a chain are laid beside the members' logs."""


@dataclass(frozen=True, slots=True)
class ChainFile:
    """One file of the chain; only what comes behind the backup's seqno is counted.

    Attributes:
        size, reached: bytes, and up to where its events go; version: of the server that wrote it, '10.11.18'.
        begins_after: GTIDs up to which the files before go, as the file itself says.
        first, last: its first and last Xid (the first also of what is before the backup); last_end: where it ends.
        below, below_end: its last Xid at or before the backup, and where that transaction ends; below_gtid,
            below_when: of that one, as gtid and when are of the last.
        above, above_from: the first one behind it, and where that begins.
        loose, loose_rows: statements, and groups of rows, without an Xid between those two; at_backup: the place that
            the backup names stands there.
        count: transactions; head, tail: statements before the first and behind the last of them.
        statements: all without an Xid; in_rows: groups that hold statements among or for rows, first at `in_rows_at`.
        local: groups of rows without an Xid (of Aria or MyISAM, or the step of a sequence, which takes a seqno);
            xa, back: XA, Xids that step back.
        missing: seqnos that neither a transaction nor a statement of the file took, behind its first Xid.
        stretches, stretched: (Xid, next Xid, statements between) where both aren't neighbours or statements stand
            between, and how many there are: not more than MOST_STRETCHES are told.
        recent: (Xid, server id, time) of the last RECENT transactions; writer: id of the server whose log it is.
        next_name: the file that it names as the next; ending: 'rotate', 'stop', 'open'.
        invoked, invoked_at: statements that depend on who does them, or where (CURRENT_USER, a role's first admin,
            events), and where the first of them stands.
        odd: its events stand in no order; cut, broken: its last group is not whole, it can't be read to its end.
        begun: when its server began it, UTC epoch seconds by its own clock, None = not known; at_startup: that was
            the server's start.
        gtid, when: of the last transaction: '0-41-14', ('261124', '18:24:01', server id); end_gtid: of the last group.
    """

    name: str
    size: int
    version: str
    begins_after: tuple[str, ...]
    first: int | None
    below: int | None
    below_end: int | None
    above: int | None
    above_from: int | None
    loose: int
    at_backup: bool
    count: int
    last: int | None
    last_end: int | None
    gtid: str
    when: tuple[str, str, int] | None
    end_gtid: str
    head: int
    tail: int
    statements: int
    local: int
    in_rows: int
    in_rows_at: int | None
    xa: int
    back: int
    missing: int
    stretches: tuple[tuple[int, int, int], ...]
    stretched: int
    recent: tuple[tuple[int, int, str], ...]
    writer: int | None
    ending: str
    next_name: str
    reached: int
    odd: bool
    cut: bool
    broken: bool
    loose_rows: int = 0
    invoked: int = 0
    invoked_at: int | None = None
    below_gtid: str = "-"
    below_when: tuple[str, str, int] | None = None
    begun: int | None = None
    at_startup: bool = False


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup says of itself: state UUID and seqno, its server's version and place in its own binary log.

    Attributes:
        kind: mariadb-backup's word ('full-backuped', 'full-prepared'), or what makes it none: 'incremental', 'partial',
            'packed' (files of it are compressed or encrypted), 'unknown'; size: bytes of its files.
        links, old_links: links and *.isl files in it, and in the old data folder beside it; None = not known.
        gtid: of the last change that it holds, by the log that it brought, several with commas; since: when that log
            was begun, as a mark's time; listed: the newest change of each server in it. '' = not known.
    """

    uuid: str
    seqno: int
    version: str = ""
    file: str = ""
    position: int | None = None
    kind: str = "full-backuped"
    size: int = 0
    links: int | None = 0
    old_links: int | None = 0
    gtid: str = ""
    since: str = ""
    listed: str = ""


@dataclass(frozen=True, slots=True)
class Wrong:
    """What speaks against a chain: a stable code and the evidence."""

    code: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain as far as it is known.

    Attributes:
        files: those to be replayed, in their order; start: where in the first of them; how: by what that is known.
        target: the last Xid, and `stop` where its transaction ends in the last file; gtid, when: of it.
        transactions, statements: to be replayed; behind: statements behind the target, which come by IST.
        local: groups of rows without an Xid; missing: how many seqnos nothing in the chain took.
        stretches: (Xid, next Xid, statements between) wherever something could be missing; untold: how many more.
        own: (Xid, GTID, server id, time) of the last transaction at or before the backup; None = in none of the files.
        recent: (Xid, server id, time) of its last transactions; writers: ids of the servers whose logs these are,
            () where one is not known; wrong: what refuses it.
        begun: when the first of `files` was begun, as in ChainFile; starts: how often its server was started in them.
    """

    files: tuple[ChainFile, ...] = ()
    start: int = 0
    how: str = ""
    target: int | None = None
    stop: int = 0
    gtid: str = ""
    when: tuple[str, str, int] | None = None
    transactions: int = 0
    statements: int = 0
    behind: int = 0
    local: int = 0
    missing: int = 0
    stretches: tuple[tuple[int, int, int], ...] = ()
    untold: int = 0
    own: tuple[int, str, int, str] | None = None
    recent: tuple[tuple[int, int, str], ...] = ()
    writers: tuple[int, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    begun: int | None = None
    starts: int = 0

    @property
    def bytes(self) -> int:
        """Return how much of the files is replayed."""
        whole = sum(file.reached for file in self.files[:-1]) + self.stop
        return max(0, whole - self.start)


def chain_of(files: Sequence[ChainFile], backup: Backup) -> Chain:
    """Return the chain from a backup on, with all that speaks against it."""
    wrong = [*_linked(backup), *_gaps(files), *_servers(files), *_unread(files), *_versions(files, backup)]
    at = next((place for place, file in enumerate(files) if file.above is not None), None)
    if at is None:
        newest = max((file.last for file in files if file.last is not None), default=None)
        words = f"their last transaction is {newest}" if newest is not None else "they hold no transaction"
        return Chain(wrong=(*wrong, Wrong("NO-TARGET", f"the backup stands at {backup.seqno}, and {words}")))
    found = _start(files, at, backup)
    if isinstance(found, Wrong):
        return Chain(wrong=(*wrong, found))
    first, start, how = found
    last = max(place for place, file in enumerate(files) if file.above is not None)
    end = files[last]
    used = tuple(files[first : last + 1])
    missing, stretches = _between(files[: last + 1], backup)
    hidden = sum(file.stretched - len(file.stretches) for file in files[: last + 1])
    untold = hidden + max(0, len(stretches) - MOST_STRETCHES)
    return Chain(
        files=used, start=start, how=how, target=end.last, stop=end.last_end or 0, gtid=end.gtid, when=end.when,
        transactions=sum(file.count for file in used), statements=sum(file.statements for file in used) - end.tail,
        behind=end.tail + sum(file.statements for file in files[last + 1 :]), local=sum(file.local for file in used),
        missing=missing, stretches=stretches[:MOST_STRETCHES], untold=untold,
        own=_own(files[: at + 1]), recent=tuple(one for file in used for one in file.recent)[-RECENT:],
        writers=_writers(files), wrong=(*wrong, *_inside(used)),
        begun=used[0].begun, starts=sum(file.at_startup for file in used),
    )  # fmt: skip


def _own(zone: Sequence[ChainFile]) -> tuple[int, str, int, str] | None:
    last = next((file for file in reversed(zone) if file.below is not None), None)
    if last is None or last.below is None or last.below_when is None:
        return None
    day, hour, server = last.below_when
    return last.below, last.below_gtid, server, f"{day} {hour}"


def _gaps(files: Sequence[ChainFile]) -> list[Wrong]:
    """Each file names the next, or was stopped or cut; the next says up to which GTIDs those before it go."""
    found = []
    for before, after in pairwise(files):
        base, _, number = before.name.rpartition(".")
        expected = f"{base}.{int(number) + 1:0{len(number)}d}"
        if after.name != expected or (before.next_name and before.next_name != after.name):
            found.append(f"behind {before.name} comes {after.name}, not {before.next_name or expected}")
        elif before.end_gtid not in {"-", *after.begins_after} or (
            before.end_gtid == "-" and set(before.begins_after) != set(after.begins_after)
        ):
            ended = before.end_gtid if before.end_gtid != "-" else ", ".join(before.begins_after) or "nothing"
            found.append(
                f"{before.name} ends with GTID {ended}, and {after.name} goes on after "
                f"{', '.join(after.begins_after) or 'nothing'}"
            )
        elif before.broken or before.cut:
            found.append(f"{before.name} can not be read to its end")
    return [Wrong("BINLOG-GAP", text) for text in found[:3]]


def _unread(files: Sequence[ChainFile]) -> list[Wrong]:
    odd = [file.name for file in files if file.odd]
    words = f"events stand in no order of their places in {', '.join(odd[:3])}: a line in it may be a client's"
    found = [Wrong("BINLOG-UNREAD", words)] if odd else []
    dark = next((file for file in files if file.broken and file.end_gtid == "-" and not file.begins_after), None)
    if dark is not None:
        words = f"{dark.name} can not be read beyond its first {dark.reached} bytes: it is encrypted, or damaged"
        found.append(Wrong("BINLOG-UNREAD", words))
    return found


def _servers(files: Sequence[ChainFile]) -> list[Wrong]:
    """Files of two servers are no chain, even where one seems to go on where the other ends."""
    ids = sorted({file.writer for file in files if file.writer is not None})
    words = f"they were written by servers of several ids: {', '.join(map(str, ids[:5]))}"
    return [Wrong("BINLOG-GAP", words)] if len(ids) > 1 else []


def _versions(files: Sequence[ChainFile], backup: Backup) -> list[Wrong]:
    written = sorted({file.version for file in files})
    if written == [backup.version]:
        return []
    words = f"the backup is of {backup.version or 'a version not known'}, the binary logs of {', '.join(written)}"
    return [Wrong("SERVER-VERSION", words)]


def _start(files: Sequence[ChainFile], at: int, backup: Backup) -> tuple[int, int, str] | Wrong:
    """Return (place of the first file, position in it, by what it is known): right behind the backup, not beside it.

    An Xid at or below the backup's that is a local number (wsrep off) is no place of it: that shows as a wide hole.
    What has no Xid and stands right behind the backup is not left out: rows of a sequence take a seqno too.
    """
    above = files[at]
    zone = files[: at + 1]
    loose, rows = sum(file.loose for file in zone), sum(file.loose_rows for file in zone)
    below = next(((place, file) for place, file in reversed(list(enumerate(zone))) if file.below is not None), None)
    by_backup = next((place for place, file in enumerate(zone) if _goes_on(file, backup)), None)
    assert above.above is not None
    assert above.above_from is not None
    if below is None and by_backup is None and above.above != backup.seqno + 1:
        began = f"the first transaction in {files[0].name} is {above.above}, the backup stands at {backup.seqno}"
        return Wrong("BACKUP-POSITION", f"{began}: what lies between is in none of the files")
    if (wide := above.above - backup.seqno - 1 - loose) > MOST_VIEWS:
        words = f"{wide} seqnos between the backup's {backup.seqno} and the first transaction behind it, {above.above}"
        return Wrong("BACKUP-POSITION", f"{words}, are in none of the files")
    if not loose and not rows:
        return at, above.above_from, f"Xid {above.above} is the first behind the backup's {backup.seqno}"
    if by_backup is not None and backup.position is not None and (below is None or below[0] <= by_backup):
        return by_backup, backup.position, f"the backup names it, and Xid {above.above} is the first behind it"
    if below is not None and below[1].below == backup.seqno:
        return below[0], below[1].below_end or 0, f"right behind Xid {backup.seqno}, the backup's own"
    begin = below[1].below if below else "the begin"
    words = f"{loose + rows} statements or groups of rows without an Xid stand between {begin} and {above.above}"
    return Wrong("BACKUP-POSITION", f"{words}; whether the backup at {backup.seqno} has them is not known")


def _goes_on(file: ChainFile, backup: Backup) -> bool:
    """Return whether the place that the backup names is one of this file: another server's may have the same name.

    Each backup with --galera-info begins a new file: its last change is what the file says to go on after.
    """
    return file.at_backup and bool(backup.gtid) and backup.gtid == newest(",".join(file.begins_after))


def _between(files: Sequence[ChainFile], backup: Backup) -> tuple[int, tuple[tuple[int, int, int], ...]]:
    """Return how many seqnos behind the backup nothing in the files took, and every stretch that could lack some.

    The first one begins at the last Xid before the backup where the files have one: else at the backup's own seqno.
    """
    missing, found = 0, list[tuple[int, int, int]]()
    before, loose = backup.seqno, 0
    for file in files:
        if file.below is not None:
            before, loose = file.below, 0
        if file.above is None:
            loose += file.statements
            continue
        loose += file.loose if file.below is not None else file.head
        base = max(before, backup.seqno)
        missing += max(0, file.above - base - 1 - loose) + file.missing
        if file.above - base > 1 or loose:
            found.append((before, file.above, loose))
        found += file.stretches
        before, loose = file.last or before, file.tail
    return missing, tuple(found)


def _writers(files: Sequence[ChainFile]) -> tuple[int, ...]:
    found = {file.writer for file in files}
    return () if None in found else tuple(sorted(one for one in found if one is not None))


def _linked(backup: Backup) -> list[Wrong]:
    """What lies elsewhere is neither copied nor kept aside: the restored data would lead to the old ones' files."""
    found = []
    for code, count, where in (
        ("BACKUP-LINKED", backup.links, "the backup"),
        ("OLD-LINKED", backup.old_links, "the old data folder"),
    ):
        if count != 0:
            told = "not known" if count is None else str(count)
            found.append(Wrong(code, f"links and *.isl files in {where}: {told}"))
    return found


def _inside(files: Sequence[ChainFile]) -> list[Wrong]:
    """Return what stands in the files that a replay must not take."""
    found = []
    back = [file.name for file in files if file.back]
    steps = [
        b.name
        for a, b in pairwise(files)
        if a.above is not None and (b.below is not None or (a.last and b.above and b.above <= a.last))
    ]
    if back or steps:
        found.append(
            Wrong(
                "XID-ORDER", f"Xids step back in {', '.join([*back, *steps][:3])}: written with wsrep off, or another"
            )
        )
    for file in files:
        if file.in_rows:
            words = f"{file.in_rows} transactions of {file.name} hold statements, the first at {file.in_rows_at}"
            found.append(Wrong("STATEMENT-EVENTS", words))
            break
    if any(file.xa for file in files):
        found.append(Wrong("XA", "XA transactions stand in the binary logs"))
    return found

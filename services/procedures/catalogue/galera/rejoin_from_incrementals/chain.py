"""Which backups go together: a full one and its incrementals, in the order in which they are prepared. Pure.

An incremental begins where the one before ended (from_lsn = to_lsn). That alone orders nothing: where no checkpoint
came between two of them both have the same LSNs (seen with mariadb-backup 10.11.18), so last_lsn, time and position
must rise too.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from itertools import pairwise

from services.facts.backup.backups import Backup


@dataclass(frozen=True, slots=True)
class Chain:
    """A full backup and its incrementals, oldest first; () where none was chosen.

    Attributes:
        lacking: folders that were named and in which nothing was found.
    """

    backups: tuple[Backup, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def last(self) -> Backup | None:
        """Return the newest of it."""
        return self.backups[-1] if self.backups else None

    @property
    def size(self) -> int | None:
        """Return the bytes of all, None where one is not known."""
        sizes = [one.size for one in self.backups]
        return None if None in sizes or not sizes else sum(size for size in sizes if size is not None)


def usable(backup: Backup) -> bool:
    """Return whether a backup may stand in a chain at all: never used, whole, with its position."""
    right = backup.is_full or (backup.is_incremental and backup.spent == 0 and bool(backup.metas))
    odd = backup.is_linked or backup.hard != 0 or backup.is_packed or backup.partial
    return right and not odd and bool(backup.position)


def follows(before: Backup, after: Backup) -> bool:
    """Return whether an incremental may be prepared right after another backup."""
    return not (missing(before, after) or overlaps(before, after) or out_of_order(before, after)
                or before.state_uuid != after.state_uuid or before.server != after.server
                or of_other_data(before, after))  # fmt: skip


def missing(before: Backup, after: Backup) -> bool:
    """Return whether what lies between two backups is in neither of them: an incremental is missing."""
    return before.to_lsn is None or after.from_lsn is None or after.from_lsn > before.to_lsn


def overlaps(before: Backup, after: Backup) -> bool:
    """Return whether one begins before the other ended: it was made against another backup."""
    return before.to_lsn is not None and after.from_lsn is not None and after.from_lsn < before.to_lsn


def out_of_order(before: Backup, after: Backup) -> bool:
    """Return whether something that can only rise goes back from one to the next."""
    rising = (
        (before.to_lsn, after.to_lsn),
        (before.last_lsn, after.last_lsn),
        (before.seqno, after.seqno),
    )
    back = any(one is None or other is None or other < one for one, other in rising)
    return back or not before.began or after.began < before.began or before.uuid == after.uuid


def of_other_data(before: Backup, after: Backup) -> bool:
    """Return whether other data came into the node between two backups, or they are of two nodes.

    A backup begins a new binary log: its number goes on where the data do. An SST brings another node's log with that
    one's number. mariadb-backup heeds neither, and a prepare of such a chain ends well, its position right (tried,
    10.11.18, a full backup and an incremental with an SST between them): pages of two nodes are mixed in it.
    """
    first, second = before.log_number, after.log_number
    back = False
    if first is not None and second is not None and _base(before) == _base(after):
        begun_twice = "" not in (before.since, after.since) and before.since != after.since
        back = second < first or (second == first and begun_twice)
    return back or (None not in (before.by, after.by) and before.by != after.by)


def _base(one: Backup) -> str:
    return one.log.rpartition(".")[0]


def against_another(before: Backup, after: Backup) -> bool:
    """Return whether its own words say that it was made against a folder of another name."""
    return bool(after.base) and posixpath.basename(after.base) != posixpath.basename(before.path)


def chain_of(found: tuple[Backup, ...], full: str, incrementals: tuple[str, ...]) -> Chain:
    """Return the chain that a person named, in that very order."""
    by_path = {one.path: one for one in found}
    paths = tuple(path.rstrip("/") for path in (full, *incrementals) if path)
    known = tuple(by_path[path] for path in paths if path in by_path)
    return Chain(known, tuple(path for path in paths if path not in by_path))


def best_chain(found: tuple[Backup, ...], full: str = "") -> tuple[Backup, ...]:
    """Return the chain that reaches furthest, the shortest of those; of one full backup where it is named.

    What others than root and the server's account may have laid there is never proposed: a person names it.
    Of two that begin at the same LSNs the one that says it was made against the backup before it is taken.
    """
    good = tuple(one for one in found if usable(one) and (one.is_guarded or one.path == full))
    begins = [one for one in good if one.is_full and full in {"", one.path}]
    rest = tuple(sorted((one for one in good if one.is_incremental), key=lambda one: (one.began, one.path)))
    chains = [_longest(one, rest) for one in begins]
    return max(chains, key=lambda chain: (chain[-1].seqno or 0, -len(chain), chain[0].path), default=())


def _longest(full: Backup, rest: tuple[Backup, ...]) -> tuple[Backup, ...]:
    """Return the way through the incrementals that ends at the highest position. Each is entered once: the best way."""
    best: dict[str, tuple[Backup, ...]] = {full.uuid: (full,)}
    for one in rest:  # by time: whatever it may follow was judged before
        before = [way for way in best.values() if follows(way[-1], one)]
        if before:
            way = min(before, key=lambda way: (against_another(way[-1], one), -(way[-1].seqno or 0)))
            best[one.uuid] = (*way, one)
    return max(best.values(), key=lambda way: (way[-1].seqno or 0, -len(way)))


def steps_of(chain: Chain) -> tuple[tuple[Backup, Backup], ...]:
    """Return each pair that is prepared one after the other."""
    return tuple(pairwise(chain.backups))

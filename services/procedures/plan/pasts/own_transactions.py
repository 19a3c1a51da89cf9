"""Transactions that a node wrote for itself, with wsrep off: its binary log goes on with them, and no member has them.

Their Xids are the server's own count and not seqnos, so after the last write set they step back (MariaDB 10.11.18,
tried: 22, then 3, 5 and 7 of a server started with --wsrep-on=OFF); InnoDB's position and the views stay as they
were. An older state that was started from steps back too: its write sets are older than what stands before them.

So does a log that an SST under writes began (mariabackup, MariaDB 10.11.18, recorded: sst-under-writes-*.marks): the
donor goes on to a new file, and a copy of that is sent with what was committed after InnoDB's position. The joiner's
log begins with the copy, 1470 here, and goes on with what the IST brings from the position on, 1469 and 1470 once
more, counted anew as 0-41-1465 and 0-41-1466. They are told from a node's own by the other log alone. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from services.facts.binlog.marks import NEWEST, Mark

CONTEXT = 8
"""So many marks before a step back are laid beside the other log."""
CROSSING = timedelta(minutes=1)
"""A transaction has the time when its statement began: by so much at most the times of two that cross go back."""


@dataclass(frozen=True, slots=True)
class Own:
    """What a binary log holds after a step back of its Xids.

    Attributes:
        last: the last mark before it; count: transactions of the node's own, as many as were read.
        followed: write sets of the cluster come after them: the node was a member again since.
        other_has: whether the other log has `last`, and so is known to lack them.
        shown: they are its own for sure; else the other log does not tell them from some that an SST brought twice.
    """

    last: Mark
    count: int
    followed: bool
    other_has: bool
    shown: bool

    @property
    def text(self) -> str:
        """Return it for a sentence."""
        plural = "s" if self.count != 1 else ""
        if self.shown:
            return f"{self.count} transaction{plural} or more written with wsrep off, after {self.last.text}"
        return (
            f"{self.count} transaction{plural} or more after a step back of its Xids at {self.last.text}: whether they "
            "were written with wsrep off, or are listed twice, as after an SST under writes, is not known"
        )


@dataclass(frozen=True, slots=True)
class _Turn:
    """A step back: the last marks `before` it, from one with an Xid to one; those with an Xid `after` it."""

    before: tuple[Mark, ...]
    after: tuple[Mark, ...]

    @property
    def last(self) -> Mark:
        return self.before[-1]


def before_turn(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """Return the last marks before the Xids step back first, from one with an Xid to one; () where they never do."""
    return next((turn.before for turn in _turns(marks)), ())


def asked_next(marks: tuple[Mark, ...], theirs: tuple[Mark, ...]) -> tuple[int, ...]:
    """Return the Xids from which on the other log tells of the first step back that `theirs` does not account for.

    What stands twice may begin below all that is known from before the step back. (): each is accounted for.
    """
    turn = _unaccounted(marks, theirs)
    known = {mark.xid or 0 for mark in (turn.before[0], turn.last, turn.after[0])} if turn is not None else set()
    return tuple(sorted(xid for xid in known if xid))


def own_after(marks: tuple[Mark, ...], theirs: tuple[Mark, ...]) -> Own | None:
    """Return what a log holds of its own after it stepped back, None where nothing says that it is its own.

    Args:
        theirs: the other log's marks from each of `asked_next` on, () where they were not read.
    """
    turn = _unaccounted(marks, theirs)
    if turn is None:
        return None
    other, after = {_event(mark) for mark in theirs}, turn.after
    shared = next((at for at, mark in enumerate(after) if _event(mark) in other), len(after))
    local = [mark for mark in after[:shared] if mark.server_id == after[0].server_id]
    return Own(turn.last, len(local), shared < len(after), _event(turn.last) in other, _are_its_own(turn, theirs))


def _unaccounted(marks: tuple[Mark, ...], theirs: tuple[Mark, ...]) -> _Turn | None:
    """Return the first step back after which something stands that the other log has not."""
    other = {_event(mark) for mark in theirs}
    return next((turn for turn in _turns(marks) if _event(turn.after[0]) not in other), None)


def _are_its_own(turn: _Turn, theirs: tuple[Mark, ...]) -> bool:
    """Return whether what the other log lacks after a step back did not come by an SST before the other was purged.

    The other one reaches back to it; or the last one from before did not come again, as an IST would bring it; or,
    where what came next is not shown, it is later than all before: commits that cross each other differ by less.
    """
    first = turn.after[0]
    if not first.xid or any(mark.xid is not None and mark.xid <= first.xid for mark in theirs):
        return True
    if len(turn.after) < NEWEST:
        return _event(turn.last) not in {_event(mark) for mark in turn.after}
    began = _moment(first)
    earlier = [_moment(mark) for mark in turn.before if mark.xid is not None]
    return began is not None and all(at is not None and began > at + CROSSING for at in earlier)


def _turns(marks: tuple[Mark, ...]) -> tuple[_Turn, ...]:
    """Return each place where the Xids step back, and time goes on: an older state's write sets are older."""
    found: list[_Turn] = []
    last: Mark | None = None
    for at, mark in enumerate(marks):
        if mark.xid is None:
            continue
        if last is not None and mark.xid <= (last.xid or 0) and _when(mark) >= _when(last):
            found.append(_Turn(_before(marks, at), tuple(m for m in marks[at:] if m.xid is not None)))
        last = mark
    return tuple(found)


def _before(marks: tuple[Mark, ...], turn: int) -> tuple[Mark, ...]:
    """Return the last marks before a place whose Xids only grow, from one with an Xid to one."""
    end = next(at for at in range(turn, 0, -1) if marks[at - 1].xid is not None)
    start = end - 1
    for at in range(end - 2, max(-1, end - 1 - CONTEXT), -1):
        if (marks[at].xid or 0) >= (marks[start].xid or 0):
            break
        start = at if marks[at].xid is not None else start
    return marks[start:end]


def same_event(one: Mark, other: Mark) -> bool:
    """Return whether both are one transaction: without wsrep_gtid_mode each node counts GTIDs for itself."""
    return _event(one) == _event(other)


def all_in(marks: tuple[Mark, ...], theirs: tuple[Mark, ...]) -> bool:
    """Return whether another log has each of these transactions too; statements have no Xid, and are not looked at."""
    return {_event(mark) for mark in marks if mark.xid is not None} <= {_event(mark) for mark in theirs}


def _event(mark: Mark) -> tuple[int | None, int, str]:
    return mark.xid, mark.server_id, mark.time


def _when(mark: Mark) -> tuple[str, str]:
    """Return a mark's time so that it sorts: '261122 6:20:00' has an hour of one digit."""
    day, _, clock = mark.time.partition(" ")
    return day, clock.strip().rjust(8, "0")


def _moment(mark: Mark) -> datetime | None:
    try:
        return datetime.strptime(" ".join(_when(mark)), "%y%m%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None

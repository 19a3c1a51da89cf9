"""Transactions that a node wrote for itself, with wsrep off: its binary log goes on with them, and no member has them.

Their Xids are the server's own count and not seqnos, so after the last write set they step back (MariaDB 10.11.18,
tried: 22, then 3, 5 and 7 of a server started with --wsrep-on=OFF); InnoDB's position and the views stay as they
were. An older state that was started from steps back too: its write sets are older than what stands before them. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.facts.binlog_marks import Mark

CONTEXT = 8
"""So many marks before a step back are laid beside the other log."""


@dataclass(frozen=True, slots=True)
class Own:
    """What a binary log holds after a step back of its Xids.

    Attributes:
        last: the last mark before it; count: transactions of the node's own, as many as were read.
        followed: write sets of the cluster come after them: the node was a member again since.
        other_has: whether the other log has `last`, and so is known to lack them.
    """

    last: Mark
    count: int
    followed: bool
    other_has: bool

    @property
    def text(self) -> str:
        """Return it for a sentence."""
        plural = "s" if self.count != 1 else ""
        return f"{self.count} transaction{plural} or more written with wsrep off, after {self.last.text}"


def before_turn(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """Return the last marks before the Xids step back, from one with an Xid to one; () where they never do."""
    turn = _turn(marks)
    if turn is None:
        return ()
    end = next(at for at in range(turn, 0, -1) if marks[at - 1].xid is not None)
    start = end - 1
    for at in range(end - 2, max(-1, end - 1 - CONTEXT), -1):
        if (marks[at].xid or 0) >= (marks[start].xid or 0):
            break
        start = at if marks[at].xid is not None else start
    return marks[start:end]


def own_after(marks: tuple[Mark, ...], theirs: tuple[Mark, ...]) -> Own | None:
    """Return what a log holds of its own after it stepped back, None where nothing says that it is its own.

    Args:
        theirs: the other log's marks from the first of `before_turn` on, () where they were not read.
    """
    turn, before = _turn(marks), before_turn(marks)
    if turn is None or not before:
        return None
    last, other = before[-1], {_event(mark) for mark in theirs}
    after = [mark for mark in marks[turn:] if mark.xid is not None]
    shared = next((at for at, mark in enumerate(after) if _event(mark) in other), len(after))
    if shared == 0:
        return None
    local = [mark for mark in after[:shared] if mark.server_id == after[0].server_id]
    return Own(last, len(local), shared < len(after), _event(last) in other)


def _turn(marks: tuple[Mark, ...]) -> int | None:
    """Return where the Xids step back, and time goes on: write sets of an older state are older than those before."""
    last: Mark | None = None
    for at, mark in enumerate(marks):
        if mark.xid is None:
            continue
        if last is not None and mark.xid <= (last.xid or 0) and _when(mark) >= _when(last):
            return at
        last = mark
    return None


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

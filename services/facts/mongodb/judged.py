"""What follows from a replica set's facts: majority, even votes, lag, and whether an oplog still reaches. Pure.

Every judgement is of one member's view, as old as its last heartbeats. What is not known is None or 'not-known', never
a number: a member that is not reached has no lag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from services.facts.mongodb.oplog import Oplog
from services.facts.mongodb.replica_set import VOTING, ReplicaSet, SetMember

Reach = Literal["within", "near", "beyond", "not-known"]
NEAR: Final = 0.5
"""A member that is behind by half of what the oplog reaches back: the other half is left to act in."""
_READING = frozenset({"SECONDARY", "RECOVERING"})
"""States in which a member applies the oplog, so that its place in it says how far behind it is."""


@dataclass(frozen=True, slots=True)
class Votes:
    """Who can elect, in one member's view.

    Attributes:
        reached: votes of members that answer and may vote. whole: all votes. majority: what an election takes.
        has: whether there is a majority; None: not known. spare: how many more votes may go. even: a majority of an
            even number stands no more losses than one of a vote less.
        lonely: the asked member calls itself primary and reaches no majority: it steps down, its writes may be undone.
    """

    reached: int | None = None
    whole: int | None = None
    majority: int | None = None
    has: bool | None = None
    spare: int | None = None
    even: bool | None = None
    lonely: bool = False


def votes_of(view: ReplicaSet) -> Votes:
    """Return the votes in this view; without status or configuration what can't be told is None."""
    whole, majority = view.votes, view.majority
    even = whole % 2 == 0 if whole else None
    known = not view.missing and whole is not None and majority is not None
    if not known or majority is None:
        return Votes(whole=whole, majority=majority, even=even)
    reached = sum(one.votes or 0 for one in view.members if one.reached and one.state in VOTING)
    has = reached >= majority
    own = view.own
    lonely = own is not None and own.state == "PRIMARY" and not has
    return Votes(reached, whole, majority, has, max(0, reached - majority) if has else 0, even, lonely)


def lag_s(view: ReplicaSet, member: SetMember) -> int | None:
    """Return by how many seconds a member is behind the primary of this view, beyond its configured delay.

    None where it can't be told: no primary in this view, the member is not reached, is no reader of the oplog (primary,
    arbiter, initial sync), or left the common history (ROLLBACK). Whole seconds, as the oplog counts; what was heard of
    another member is as old as its heartbeat. After a pause in the writes the first new operation makes a member look
    behind by the whole pause until it is applied: a figure that stays is lag, one that is gone at the next look is not.
    """
    primary = view.primary
    if primary is None:
        return None
    return _behind(primary, member, member.heard_at if primary.own else None)


def lag_by_own_words_s(primary: ReplicaSet, member: ReplicaSet) -> int | None:
    """Return the same out of what both say of themselves: free of heartbeats, right to the time between the two reads.

    None where the first is no primary in its own eyes, or the second is not of that set.
    """
    first, second = primary.own, member.own
    if first is None or second is None or first.state != "PRIMARY" or primary.name != member.name:
        return None
    return _behind(first, second, primary.at)


def _behind(primary: SetMember, member: SetMember, at: float | None) -> int | None:
    """See SetMember.behind_s."""
    if not member.reached or member.state not in _READING:
        return None
    return member.behind_s(primary.optime, at)


@dataclass(frozen=True, slots=True)
class Left:
    """Whether a member can still catch up from others' oplogs.

    Attributes:
        left_s: seconds of their oplog behind its own place: when they are used up it needs an initial sync; None where
            it is not known, or nothing is left.
    """

    reach: Reach
    left_s: int | None = None


def left_of(member: SetMember, sources: Sequence[Oplog | None]) -> Left:
    """Return whether the oplogs of the members that it could read still hold its place.

    Args:
        sources: of every other member with data; None where one was not read. 'beyond' is said only when all are known:
            an oplog that was not seen may reach further.
    """
    place = member.optime
    if place is None or not member.reached or member.state not in _READING:
        return Left("not-known")
    known = [one for one in sources if one is not None and one.first is not None and one.window_s is not None]
    holding = [one for one in known if one.first is not None and one.first <= place]
    if not holding:
        all_known = bool(sources) and len(known) == len(sources)
        return Left("beyond" if all_known else "not-known")
    longest = min(holding, key=lambda one: one.first or place)
    assert longest.first is not None
    left, window = place.seconds - longest.first.seconds, longest.window_s or 0
    behind = window - left
    return Left("near" if behind > 0 and behind >= window * NEAR else "within", left)

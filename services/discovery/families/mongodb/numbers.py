"""The numbers on the cards: how far a member is behind, how long it may be away, what engine a process has.

Metrics reference, 9. A lag is of what both say of themselves where both answer, else of the primary's view; one that
can't be told is 'not known', never 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.mongodb.places import facts_of
from services.discovery.families.mongodb.views import SetOf
from services.discovery.families.shared.numbers import Number, graded, with_disk
from services.discovery.nodes import Node
from services.facts.mongodb.judged import Left, lag_by_own_words_s, lag_s, left_of
from services.facts.mongodb.replica_set import ReplicaSet, SetMember
from services.i18n import mark, tr
from services.moments import duration
from services.types import Health

LAG_WARN_S, LAG_BAD_S = 10, 60
"""Metrics reference, 9: below ten seconds it is the noise of heartbeats and no-op entries."""
WINDOW_WARN_S = 24 * 3600
_NO_LAG = frozenset({"PRIMARY", "ARBITER", ""})


def lag_of(node: Node, one: SetOf) -> int | None:
    """Return how many seconds a member is behind beyond its delay, None where it can't be told."""
    own = facts_of(node)
    primary = next((v for v in one.views if v.observer.node_id == one.primary), None)
    if own is not None and own.set is not None and node.sql_fresh and primary is not None:
        return lag_by_own_words_s(_said_before(primary.observer, node) or primary.set, own.set)
    if primary is not None and (member := one.configured.get(node.node_id)) is not None:
        seen = next((m for m in primary.set.members if m.id == member.id), None)
        return lag_s(primary.set, seen) if seen is not None else None
    view = one.view_of(node)
    return lag_s(view.set, view.set.own) if view is not None and view.set.own is not None else None


def _said_before(primary: Node, member: Node) -> ReplicaSet | None:
    """Return what the primary said of itself last before the member was asked, None where nobody remembers it.

    A write between the two readings is none that the member could have told of: after a pause of an hour it would look
    an hour behind until it is asked again.
    """
    asked = member.facts.sql_at if member.facts is not None else None
    old = primary.previous.facts if primary.previous is not None else None
    told = [one for one in (primary.facts, old) if one is not None and one.mongo is not None]
    earlier = [one for one in told if asked is not None and one.sql_at is not None and one.sql_at <= asked]
    newest = max(earlier, key=lambda one: one.sql_at or 0.0, default=None)
    said = newest.mongo.set if newest is not None and newest.mongo is not None else None
    return said if said is not None and said.own is not None and said.own.state == "PRIMARY" else None


def lag_health(behind: int | None, member: SetMember | None) -> Health:
    """Return how bad it is to be so far behind, beyond a configured delay.

    Of a delayed member nobody can tell: after a pause in the writes it is behind by the whole pause until its delay is
    over, and looks as one that is stuck.
    """
    if behind is None:
        return Health.UNKNOWN
    health = graded(behind, LAG_WARN_S, LAG_BAD_S)
    delayed = member is not None and bool(member.delay_s)
    return Health.UNKNOWN if delayed and health is not Health.GOOD else health


def left_for(node: Node, one: SetOf) -> Left:
    """Return whether the others' oplogs still hold a member's place."""
    view = one.view_of(node)
    own = view.set.own if view is not None else None
    if own is None:
        return Left("not-known")
    others = [n for n in one.nodes if n is not node and n.node_id in one.configured and not _is_arbiter(n, one)]
    return left_of(own, [f.oplog if (f := facts_of(n)) is not None and n.sql_fresh else None for n in others])


def member_numbers(node: Node, one: SetOf) -> tuple[Number, ...]:
    """Return lag and oplog window of a member that answers, as far as they are known."""
    facts, view = facts_of(node), one.view_of(node)
    if facts is None or view is None:
        return ()
    found: list[Number] = []
    if view.own_state not in _NO_LAG:
        behind = lag_of(node, one)
        health = lag_health(behind, view.set.own)
        found.append((mark("lag"), tr("not known") if behind is None else duration(behind), health))
    window = facts.oplog.window_s if facts.oplog is not None else None
    if window is not None:
        full = facts.oplog is not None and facts.oplog.full
        told = tr("≥ {span}", span=duration(window)) if full is False else duration(window)
        short = full is True and window < WINDOW_WARN_S
        found.append((mark("oplog window"), told, Health.WARN if short else Health.GOOD))
    if facts.server.engine:
        found.append((mark("engine"), facts.server.engine, Health.GOOD))
    return with_disk(node, tuple(found))


def process_numbers(node: Node) -> tuple[Number, ...]:
    """Return what is shown of a mongos, or of a config server that is in no set."""
    facts = facts_of(node)
    if facts is None or not node.sql_fresh:
        return ()
    found: list[Number] = []
    if facts.server.uptime_s is not None:
        found.append((mark("up"), duration(facts.server.uptime_s), Health.GOOD))
    if facts.server.engine:
        found.append((mark("engine"), facts.server.engine, Health.GOOD))
    return with_disk(node, tuple(found))


def _is_arbiter(node: Node, one: SetOf) -> bool:
    member = one.configured.get(node.node_id)
    return member is not None and member.arbiter is True


def windows(nodes: Sequence[Node]) -> tuple[tuple[Node, int], ...]:
    """Return the members whose oplog is full and reaches back less than a day, and how far."""
    found = []
    for node in nodes:
        facts = facts_of(node)
        oplog = facts.oplog if facts is not None and node.sql_fresh else None
        if oplog is not None and oplog.full and oplog.window_s is not None and oplog.window_s < WINDOW_WARN_S:
            found.append((node, oplog.window_s))
    return tuple(found)

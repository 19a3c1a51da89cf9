"""Two sides that parted: what each has since, and what becomes of either where the other one stays. Pure.

Which side loses is a person's to choose, never the console's: the one that serves is not the right one for that alone
(a colleague who bootstraps the smaller side makes it so).
"""

from __future__ import annotations

from dataclasses import replace

from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.traces import Traces
from services.procedures.plan.pasts.histories import side_of


def write_sets(host: HostFacts, uuid: str, after: int, upto: int) -> int:
    """Return how many write sets lie between two positions of one history: a change of the Primary Component takes a
    seqno too, once however often it is told.
    """
    trace = host[Traces].trace
    views = trace.views if trace is not None else ()
    return max(0, upto - after - len({v.seqno for v in views if v.state_uuid == uuid and after < v.seqno <= upto}))


def both_counted(facts: Facts, sides: tuple[str, ...], shared: int | None) -> str:
    """Return what each of these nodes has since they parted; shared: the last seqno that both have, None not known."""
    counts = ", ".join(f"{name} {_since(facts, name, shared)}" for name in sides)
    since = f"since seqno {shared}" if shared is not None else "since they diverged, at a seqno that is not known"
    return f"{since}: {counts}"


def _since(facts: Facts, name: str, shared: int | None) -> str:
    """Return how much one has; of a node that is stopped its binary log may tell more than its files."""
    host = facts.host(name)
    side = side_of(facts, host)
    logged = [mark.xid for mark in side.trace.marks]
    last = max((n for n in (side.seqno, *logged) if n is not None), default=None)
    if last is None:
        return "has an unknown number until its position is recovered"
    if shared is None:
        return f"is at {last}"
    return f"has {write_sets(host, facts.cluster_id, shared, last)} write sets"


def other_choice(serving: tuple[str, ...], stays: str) -> str:
    """Return how the side that serves is made the one that loses."""
    named = ", ".join(serving)
    return (
        f"Or discard {named}: keep clients away, stop the servers of {named} (systemctl stop), then run "
        f"bootstrap-after-crash with {stays} as the node to bootstrap. Transactions that only {named} has are saved, "
        "counted and shown for your confirmation before any server starts."
    )


def with_both(check: Check, facts: Facts, joiner: str, serving: tuple[str, ...], shared: int | None) -> Check:
    """Return a refusal to join a node that parted from those that serve, with both counts and both choices."""
    counted = both_counted(facts, (joiner, *serving[:1]), shared)
    return replace(check, evidence=f"{check.evidence}; {counted}", try_=(*check.try_, other_choice(serving, joiner)))

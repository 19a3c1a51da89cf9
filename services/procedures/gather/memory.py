"""What our own history knows of the hosts, and what a gathering adds to it. A store that fails never stops a gathering.

Every position that was ever read counts, whoever read it: the window, `topology`, `check`, a plan, or a run that had a
server recover it. Two Primary Components of one state UUID stay until a person settles them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from services.discovery.families.galera.two_primaries import primaries_apart, seen_twice
from services.discovery.model import ClusterSnapshot, PrimariesApart
from services.errors import UserError
from services.facts.model import Problem
from services.history.state.positions import PositionMemory, PositionSeen
from services.history.state.rows import NodeMemory, NodeSighting, sightings
from services.history.state.split_log import Split
from services.procedures.plan.host_facts import CLAIM, Facts, Remembered, TwoPrimaries
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.types import PLACES

SECOND_LOOK_S = 2.0
"""Between two looks at two Primary Components: longer than one node's answer takes, shorter than a person waits."""


class Splits(Protocol):
    """Two Primary Components seen at once (services.history.state.split_log.SplitLog)."""

    def note(self, seen: PrimariesApart, seen_by: str) -> bool:
        """Keep a sighting; return whether it is a new one."""

    def open(self, cluster_uuid: str = "") -> Iterable[Split]:
        """Return what is not settled."""


class Memory(Protocol):
    """Our own history of nodes (services.history.state.store.StateStore)."""

    def node_history(self, host: str) -> Iterable[NodeMemory]:
        """Return the incarnations remembered of a host."""

    def hosts_of(self, cluster_uuid: str) -> Iterable[str]:
        """Return every host that was ever seen in a cluster."""

    def positions(self, host: str) -> Iterable[PositionMemory]:
        """Return the positions remembered of a host, the newest first."""

    def remember_nodes(self, sightings: tuple[NodeSighting, ...], read_by: str = "watch") -> None:
        """Keep identities and live positions."""

    def remember_positions(self, seen: Iterable[PositionSeen]) -> None:
        """Keep positions from other places."""

    def splits(self) -> Splits:
        """Return what is kept of two Primary Components."""


def remembered(memory: Memory | None, *names: str) -> tuple[Remembered, ...]:
    """Return what is remembered of a host, a cluster each: the one it was last seen running in first.

    Args:
        names: what the host goes by: one that was found may have been seen under its address before.
    """
    if memory is None:
        return ()
    try:
        every = tuple(dict.fromkeys(name for name in names if name))
        known = [one for name in every for one in memory.node_history(name)]
        seen = sorted(known, key=lambda m: m.last_seen, reverse=True)
        positions = tuple(one for name in every for one in memory.positions(name))
    except UserError:
        return ()  # without our own memory the hosts' own positions stand alone
    clusters = dict.fromkeys((*(m.cluster_uuid for m in seen), *(p.cluster_uuid for p in positions)))
    return tuple(_of_cluster(c, [p for p in positions if p.cluster_uuid == c]) for c in clusters if c)


def ever_seen(memory: Memory | None, cluster_id: str) -> tuple[str, ...]:
    """Return the hosts that our own history saw in a cluster; () where there is none, or it can't be read."""
    if memory is None or not cluster_id:
        return ()
    try:
        return tuple(memory.hosts_of(cluster_id))
    except UserError:
        return ()  # told where what was read is to be kept there


def _of_cluster(cluster: str, positions: list[PositionMemory]) -> Remembered:
    if not positions:
        return Remembered(cluster, None, None)
    newest = max(positions, key=lambda p: (p.at, p.seqno))
    top = max(positions, key=lambda p: (p.top_seqno, p.top_at))
    shown = max((p.top_seqno for p in positions if p.source != CLAIM), default=None)
    return Remembered(
        cluster, newest.seqno, newest.at, newest.source, newest.read_by,
        top.top_seqno, top.top_at, top.source, top.top_read_by, shown,
    )  # fmt: skip


def keep(memory: Memory | None, facts: Facts, by: str, addresses: Mapping[str, str] | None = None) -> Facts:
    """Add what was read to our own history; return the facts with a problem where that can't be written.

    Args:
        by: who reads: 'plan', 'run 47'.
        addresses: of the hosts that were found: two machines may give themselves one name, at different times.
    """
    if memory is None:
        return facts
    kept_as = addresses or {}
    try:
        if facts.cluster is not None:
            # Whoever was found by host and port is found by them again: an address alone may have several servers.
            left_out = kept_as.keys() if PLACES in facts.cluster.kind.traits else ()
            seen = (one for one in sightings(facts.cluster) if one.host not in left_out)
            memory.remember_nodes(tuple(replace(one, host=kept_as.get(one.host, one.host)) for one in seen), by)
        memory.remember_positions(
            PositionSeen(kept_as.get(host.host, host.host), state.uuid, "grastate", state.seqno, facts.at, by)
            for host in facts.hosts
            if (state := host[DataFolder].grastate) is not None and state.seqno is not None and state.names_state
        )
    except UserError as problem:
        told = Problem("memory", f"What was read is not remembered: {problem.sentence}", problem.code)
        return replace(facts, problems=(*facts.problems, told))
    return facts


def with_two_primaries(
    memory: Memory | None, facts: Facts, by: str, look_again: Callable[[], ClusterSnapshot | None]
) -> Facts:
    """Return the facts with every sighting of two Primary Components that nobody has settled, this look's included.

    Args:
        look_again: asks the members once more, a little later; called only where this look shows two sides.
    """
    now = primaries_apart(facts.cluster) if facts.cluster is not None else None
    told = facts.problems
    stories: list[TwoPrimaries] = []
    try:
        if now is not None and memory is not None and facts.cluster is not None:
            later = look_again()
            confirmed = seen_twice(facts.cluster, later) if later is not None else None
            if confirmed is not None:
                memory.splits().note(confirmed, by)
        if memory is not None and facts.cluster_id:
            open_ = memory.splits().open(facts.cluster_id)
            stories = [TwoPrimaries(s.cluster_uuid, s.last_seen, _known(s.sides, facts), s.evidence) for s in open_]
    except UserError as problem:
        sentence = f"Whether two Primary Components were ever seen is not known: {problem.sentence}"
        told = (*told, Problem("memory", sentence, problem.code))
    if now is not None and not stories:
        stories.append(TwoPrimaries(now.cluster_uuid, now.at, _known(now.sides, facts), now.evidence))
    return replace(facts, problems=told, two_primaries=tuple(stories))


def _known(sides: tuple[tuple[str, ...], ...], facts: Facts) -> tuple[tuple[str, ...], ...]:
    """Return the sides by the names that the hosts have in these facts: a sighting may know one by its node's name."""
    hosts = {h.host for h in facts.hosts}
    called = {name: h.host for h in facts.hosts for name in (h.address, h.node_name) if name and name not in hosts}
    return tuple(tuple(called.get(name, name) for name in side) for side in sides)

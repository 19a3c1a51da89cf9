"""What happened between two snapshots, as events on the time axis. Pure.

Only what a person would want to find again later: state words, views, restarts, transfers (as spans, by key), disks,
clocks, and hosts lost and regained.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from services.discovery.families.registry import registered
from services.discovery.judgement.judge import disk_health
from services.discovery.model import (
    ONE_TRANSFER_S,
    TWO_PRIMARIES,
    ClusterSnapshot,
    Component,
    EstateSnapshot,
    NodeView,
    TransferEdge,
    was_so_before,
)
from services.discovery.words import joined, names, size
from services.errors import NothingListens
from services.events import Event, EventKind
from services.facts.machine.machine import CLOCK_LIMIT_S
from services.facts.model import SQL, SSH
from services.facts.reading import host_port
from services.i18n import tr
from services.moments import duration
from services.types import Health, Reach

LOG_AGE_S = 20.0
"""Logs of a calm host are read each 15 s: what ended longer before is no news, it was over when watching began."""

RESTART_S = 5.0
"""Uptime is whole seconds and answers take time: a start that moved by more is another start."""

ANSWERING = frozenset({Reach.FULL, Reach.SSH_ONLY, Reach.SQL_ONLY})


def events_between(old: EstateSnapshot | None, new: EstateSnapshot) -> tuple[Event, ...]:
    """Return the events that lead from `old` to `new`, oldest first; from no `old` only who does not answer."""
    before = {n.node_id: n for c in old.clusters for n in c.nodes} if old is not None else {}
    found: list[Event] = []
    for cluster in new.clusters:
        past = old.cluster(cluster.cluster_id) if old is not None else None
        if past is not None:
            found += _views(past, cluster)
        if old is not None:
            found += _transfers(past, cluster)
        for node in cluster.nodes:
            known = before.get(node.node_id)
            teller = _Teller(new.at, cluster.cluster_id, node.node_id)
            if known is not None:
                found += _node(known, node, teller)
            elif node.host and node.reach is Reach.NONE:
                found.append(_silence(node, teller))
    found.sort(key=lambda event: event.at)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Teller:
    """Makes the events of one node of one cluster at one moment."""

    at: float
    cluster_id: str
    node_id: str

    def tell(self, kind: EventKind, text: str, health: Health, at: float | None = None) -> Event:
        return Event(self.at if at is None else at, kind, text, health, self.cluster_id, self.node_id)


def _node(old: NodeView, new: NodeView, teller: _Teller) -> Iterator[Event]:
    if restarted(old, new):
        yield _restart(new, teller)
    elif lost := _lost(old, new):
        yield teller.tell("state", lost, Health.BAD)
    if old.state != new.state and Reach.NOT_TRIED not in {old.reach, new.reach}:  # a console that opens changes nobody
        yield teller.tell("state", _state_text(old, new, teller.at), new.health)
    if new.reach in ANSWERING and old.reach is Reach.NONE:
        yield _answers_again(old, teller)
    elif new.reach is Reach.NONE and old.reach is not Reach.NONE:
        yield _silence(new, teller)
    yield from _disk(old, new, teller)
    yield from _clock(old, new, teller)


def _lost(old: NodeView, new: NodeView) -> str:
    """Return that the server gave up some of its data since the look before, '' where it tells of none."""
    return registered().lost(old.facts, new.facts, new.name) if old.facts is not None and new.facts is not None else ""


def _restart(node: NodeView, teller: _Teller) -> Event:
    text, health = tr("{name} was restarted", name=node.name), Health.WARN
    if node.on_purpose:
        text, health = tr("{sentence} ({run})", sentence=text, run=node.on_purpose), Health.TRANSFER
    return teller.tell("restart", text, health, _started(node, teller.at))


def _started(node: NodeView, at: float) -> float:
    """Return when the server started, as far as that can be on this time axis: never later than now."""
    started = node.facts.server.started_at if node.facts is not None and node.facts.server is not None else None
    return at if started is None else min(at, started)


def _silence(node: NodeView, teller: _Teller) -> Event:
    """Return the beginning of a host's silence: a span from its last answer on, where it ever gave one."""
    began = _fell_silent(node, teller.at)
    text = tr("{name} does not answer", name=node.name)
    if why := _unreached_because(node):
        text = tr("{sentence}: {why}", sentence=text, why=why)
    health = node.health if node.health is Health.BAD else Health.UNKNOWN
    return replace(teller.tell("connection", text, health, began), spans=True, key=_span_key(node, began))


def _answers_again(node: NodeView, teller: _Teller) -> Event:
    """Return the end of the silence that `node` was in, told as past."""
    began = _fell_silent(node, teller.at)
    text = tr("{name} did not answer for {span}", name=node.name, span=duration(teller.at - began))
    event = teller.tell("connection", text, Health.UNKNOWN, began)
    return replace(event, until=teller.at, spans=True, key=_span_key(node, began))


def _span_key(node: NodeView, began: float) -> str:
    """Return what the beginning and the end of a silence share; the node's cluster may go by another id then."""
    return f"silence:{node.node_id}:{began:.3f}"


def is_silence(event: Event) -> bool:
    """Return whether an event is a host's silence, its beginning or its end."""
    return event.spans and event.key.startswith("silence:")


def _fell_silent(node: NodeView, at: float) -> float:
    """Return since when a host is silent: its last answer, else the first try of this console."""
    heard = _heard(node)
    began = heard if heard is not None else node.watched_since
    return at if began is None else min(at, began)


def _unreached_because(node: NodeView) -> str:
    """Return what the way in that says most says: one that is refused before one that hangs."""
    problems = [p for p in node.facts.problems if p.part in {SQL, SSH}] if node.facts is not None else []
    first = min(problems, key=lambda p: p.code != NothingListens.code, default=None)
    return "" if first is None else (first.bare or first.sentence).removesuffix(".")


def _heard(node: NodeView) -> float | None:
    """Return when a host gave its last answer; it stays so while it is silent."""
    moments = [m for m in (node.facts.sql_at, node.facts.ssh_at) if m is not None] if node.facts is not None else []
    return max(moments, default=None)


def _state_text(old: NodeView, new: NodeView, at: float) -> str:
    """Return the new word and the old one; why a word that sounds well ("Synced") is a warning all the same."""
    changed = _change_text(old, new, at)
    if new.reason and (new.health is Health.WARN or new.reason == new.on_purpose):
        return tr("{sentence}: {why}", sentence=changed, why=new.reason)
    return changed


def _change_text(old: NodeView, new: NodeView, at: float) -> str:
    if not old.state:
        return tr("{name}: {state}", name=new.name, state=tr(new.state))
    before = tr(old.state)
    if old.health in {Health.BAD, Health.UNKNOWN} and old.state_since is not None and at > old.state_since:
        span = duration(at - old.state_since)
        if was_so_before(old):
            before = tr("{state} for more than {span}", state=before, span=span)
        else:
            before = tr("{state} for {span}", state=before, span=span)
    return tr("{name}: {state} (was {before})", name=new.name, state=tr(new.state), before=before)


def restarted(old: NodeView, new: NodeView) -> bool:
    """Return whether the server was started anew: its start moved, or it came back with another uuid in its group."""
    if old.facts is None or new.facts is None or old.facts.server is None or new.facts.server is None:
        return False
    before, after = old.facts.server.started_at, new.facts.server.started_at
    return before is not None and after is not None and after - before > RESTART_S


def _disk(old: NodeView, new: NodeView, teller: _Teller) -> Iterator[Event]:
    before, after = (_data_disk_health(node) for node in (old, new))
    if before is after or Health.UNKNOWN in {before, after}:
        return
    disk = new.facts.machine.data_disk if new.facts is not None and new.facts.machine is not None else None
    free = size(disk.free) if disk is not None and disk.free is not None else tr("no")
    if after is Health.GOOD:
        text = tr("{name}: the data disk has room again ({free} free)", name=new.name, free=free)
    elif after is Health.BAD:
        text = tr("{name}: data disk full ({free} free)", name=new.name, free=free)
    else:
        text = tr("{name}: data disk nearly full ({free} free)", name=new.name, free=free)
    yield teller.tell("disk", text, after)


def _data_disk_health(node: NodeView) -> Health:
    if node.facts is None or node.facts.machine is None:
        return Health.UNKNOWN
    return disk_health(node.facts.machine.data_disk)


def _clock(old: NodeView, new: NodeView, teller: _Teller) -> Iterator[Event]:
    before, after = _offset(old), _offset(new)
    if before is None or after is None or (abs(before) > CLOCK_LIMIT_S) == (abs(after) > CLOCK_LIMIT_S):
        return
    if abs(after) > CLOCK_LIMIT_S:
        span = duration(abs(after))
        if after > 0:
            text = tr("{name}: its clock is {span} ahead of this workstation's", name=new.name, span=span)
        else:
            text = tr("{name}: its clock is {span} behind this workstation's", name=new.name, span=span)
        yield teller.tell("clock", text, Health.WARN)
    else:
        yield teller.tell("clock", tr("{name}: its clock is correct again", name=new.name), Health.GOOD)


def _offset(node: NodeView) -> float | None:
    return node.facts.machine.clock_offset_s if node.facts is not None and node.facts.machine is not None else None


def _views(old: ClusterSnapshot, new: ClusterSnapshot) -> Iterator[Event]:
    """Return an event when the members of the part with the majority changed, vanished, or came back."""
    before, after = _primary(old), _primary(new)
    words = registered().of(new.kind).quorum_words
    if _is_split(new) and not _is_split(old):
        sides = " | ".join(_names_of(new, c.members) for c in new.components if c.primary)
        text = tr(words.two, name=new.name, sides=sides)
        yield Event(new.at, "view", text, Health.BAD, new.cluster_id)
        return
    if before == after or not old.components:
        return  # nothing changed, or the first look at the cluster: that members are there is no event
    gone, come = _moved(old, before - after, new, after - before)
    if after and not gone and not come:
        return
    for title in _groups_lost(old, new):
        yield Event(new.at, "view", tr(words.none, name=title), Health.BAD, new.cluster_id)
    if not after:
        if any(c.observers for c in new.components):
            text = tr(words.unheard if new.silent else words.none, name=new.name)
            yield Event(new.at, "view", text, Health.BAD, new.cluster_id)
        return
    text = tr("{name}: {change}", name=new.name, change=_who_moved(gone, come))
    votes = _part_of(old, new, before ^ after)
    if votes is not None:
        text = joined(text, tr("{votes} of {n} votes", votes=votes.votes, n=votes.votes_known))
    planned = {node.name for node in new.nodes if node.on_purpose}
    calm = Health.GOOD if not gone else Health.TRANSFER if set(gone) <= planned else Health.WARN
    yield Event(new.at, "view", text, Health.BAD if _is_split(new) else calm, new.cluster_id)


def _part_of(old: ClusterSnapshot, new: ClusterSnapshot, moved: frozenset[str]) -> Component | None:
    """Return the part with the majority that these members left or came to; None where it has none any more."""
    touched = {c.title for c in (*old.components, *new.components) if c.primary and moved & set(c.members)}
    return next((c for c in new.components if c.primary and c.title in touched), None)


def _groups_lost(old: ClusterSnapshot, new: ClusterSnapshot) -> list[str]:
    """Return the groups of a cluster of several that had a part with a majority, and have none now."""
    having = {c.title for c in new.components if c.primary}
    return sorted({c.title for c in old.components if c.primary and c.title} - having)


def _moved(
    old: ClusterSnapshot, left: frozenset[str], new: ClusterSnapshot, came: frozenset[str]
) -> tuple[list[str], list[str]]:
    """Return the names of members that left and that came.

    One that was only named by others and is now known itself changes its id, and its name, not its membership.
    """
    gone, come = {m: old.node(m) for m in left}, {m: new.node(m) for m in came}
    for known, node in list(gone.items()):
        same = next((m for m, other in come.items() if node is not None and other is not None and _is(node, other)), "")
        if same:
            del gone[known], come[same]
    left_names, come_names = (sorted(n.name if n is not None else m for m, n in side.items()) for side in (gone, come))
    return left_names, come_names


def _is(one: NodeView, other: NodeView) -> bool:
    """Return whether two nodes of two pictures are one member, by its name, an id in its group, or where it listens."""
    ids = set(one.uuid_history) & set(other.uuid_history)
    return one.name == other.name or bool(ids) or _one_place(one.address, other.address)


def _one_place(one: str, other: str) -> bool:
    """Return whether two addresses are one: the port of a host that has not answered yet is not known."""
    (host, port), (its_host, its_port) = host_port(one, 0), host_port(other, 0)
    return host == its_host != "" and (port == its_port or 0 in {port, its_port})


def _is_split(cluster: ClusterSnapshot) -> bool:
    return any(problem.code == TWO_PRIMARIES for problem in cluster.problems)


def _names_of(cluster: ClusterSnapshot, members: Sequence[str]) -> str:
    return ", ".join(sorted(node.name for node in cluster.nodes if node.node_id in members))


def _who_moved(gone: Sequence[str], come: Sequence[str]) -> str:
    if gone and come:
        return tr("{gone} left and {come} joined", gone=names(gone), come=names(come))
    return tr("{names} left", names=names(gone)) if gone else tr("{names} joined", names=names(come))


def _primary(cluster: ClusterSnapshot) -> frozenset[str]:
    return frozenset(m for c in cluster.components if c.primary for m in c.members)


def _transfers(old: ClusterSnapshot | None, new: ClusterSnapshot) -> Iterator[Event]:
    """Return the beginning and the end of each transfer as one span: the end has the beginning's key."""
    names_of = {n.node_id: n.name for n in (*(old.nodes if old is not None else ()), *new.nodes)}
    before = {_pair(t, names_of): t for t in old.transfers} if old is not None else {}
    now = {_pair(t, names_of): t for t in new.transfers}
    for pair, edge in now.items():
        past = before.get(pair)
        if past is not None and (edge.since or 0.0) - (past.since or 0.0) > ONE_TRANSFER_S:
            past = None  # the next transfer of the same two
        if edge.active and (past is None or not past.active or past.kind != edge.kind):
            yield _span(edge, pair, new, None)
        elif not edge.active and past is not None and (past.active or past.kind != edge.kind):
            yield _span(edge, pair, new, edge.ended or new.at)
        elif past is None and old is not None and edge.ended is not None and edge.ended >= old.at - LOG_AGE_S:
            yield _span(edge, pair, new, edge.ended)  # it began and ended between two readings of the log
    for pair, past in before.items():
        if past.active and pair not in now:
            yield _span(past, pair, new, new.at)


def _pair(edge: TransferEdge, names_of: Mapping[str, str]) -> tuple[str, str]:
    """Return donor and joiner by name: a member that only others knew changes its id when it is known itself."""
    return names_of.get(edge.donor_id, edge.donor_id), names_of.get(edge.joiner_id, edge.joiner_id)


def _span(edge: TransferEdge, pair: tuple[str, str], cluster: ClusterSnapshot, until: float | None) -> Event:
    donor, joiner = pair
    began = edge.since if edge.since is not None else cluster.at
    return Event(
        at=began if until is None else min(began, until),
        kind="transfer",
        text=tr("{kind} from {donor} to {joiner}", kind=edge.kind or tr("State transfer"), donor=donor, joiner=joiner),
        health=Health.TRANSFER,
        cluster_id=cluster.cluster_id,
        node_id=edge.joiner_id,
        until=until,
        spans=True,
        key=f"transfer:{cluster.cluster_id}:{donor}:{joiner}:{began:.3f}",
    )

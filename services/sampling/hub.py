"""Where all hosts' facts meet: one thread turns them into the newest snapshot, its events, and their place in history.

Lanes only put values in and never wait for one another; the window only takes the newest snapshot out.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from services.clock import Clock
from services.discovery.changes import events_between, is_silence
from services.discovery.families.galera.two_primaries import told_until_settled
from services.discovery.judgement.on_purpose import OnPurpose, told_on_purpose
from services.discovery.looks.recalled import recalled
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NotSettled, Unasked
from services.discovery.naming import names_of_clusters
from services.discovery.not_yet import with_hosts
from services.discovery.snapshot import updated_estate
from services.events import Bus, Event
from services.facts.model import NodeFacts
from services.sampling.donors import with_reach
from services.sampling.past.unwatched import Unwatched

log = logging.getLogger(__name__)

MAX_EVENTS = 2000
AWAITED_S = 2.0
"""After so many seconds a host that has told nothing is drawn all the same: it drops connections, or is far away."""


AGAIN_S = 60.0
"""A host that is watched again within so many seconds was asked all the time, as far as a person cares."""


@dataclass(frozen=True, slots=True)
class Left:
    """A host that was dropped: its place in the last picture, when that was on the monotonic clock, and the silence
    that it was in."""

    clusters: tuple[ClusterSnapshot, ...]
    at: float
    silences: tuple[Event, ...] = ()


class Memory(Protocol):
    """Where snapshots and events are kept (the history store)."""

    def append_event(self, event: Event) -> None:
        """Keep an event."""

    def append_snapshot(self, snapshot: EstateSnapshot) -> None:
        """Keep a snapshot when it differs from the last."""


class EventLog:
    """The newest events, oldest first; a span's end replaces its beginning (same key)."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=MAX_EVENTS)
        self._lock = threading.Lock()
        self._tuple: tuple[Event, ...] = ()

    def add(self, event: Event) -> Event | None:
        """Add or complete; return the event as it is kept, None when it tells nothing new of a span that has ended."""
        with self._lock:
            place = self._same_span(event)
            if place is None:
                kept = event
                self._events.append(event)
            else:
                old = self._events[place]
                over = old.until is not None and not old.unseen_end
                if over and (event.until is None or event.text == old.text):
                    return None  # over is over; only what it was may be learnt later (an SST or an IST)
                kept = replace(event, at=min(old.at, event.at))
                self._events[place] = kept
            self._tuple = tuple(self._events)
            return kept

    def _same_span(self, event: Event) -> int | None:
        """Return the place of the newest event with the span's key, None when it begins one."""
        if not (event.spans and event.key):
            return None
        places = range(len(self._events) - 1, -1, -1)
        return next((place for place in places if self._events[place].key == event.key), None)

    def all(self) -> Sequence[Event]:
        """Return the events, an immutable tuple that may be kept."""
        return self._tuple


class Hub:
    """Coalesces facts into snapshots at most every `settle_s` seconds.

    Args:
        rates: called on the hub's thread, host -> derived rates that judgement and node cards need.
        cluster_names: seed host -> the name a person gave its cluster in the inventory.
    """

    def __init__(
        self,
        clock: Clock,
        memory: Memory | None,
        *,
        rates: Callable[[], Mapping[str, Mapping[str, float]]],
        bus: Bus,
        cluster_names: Mapping[str, str] | None = None,
        settle_s: float = 0.2,
        on_snapshot: Callable[[EstateSnapshot], None] | None = None,
    ) -> None:
        self._clock = clock
        self._memory = memory
        self._rates = rates
        self._bus = bus
        self._cluster_names = cluster_names or {}
        self._written: Mapping[str, str] = {}
        self._settle_s = settle_s
        self._on_snapshot = on_snapshot
        self._expected: Mapping[str, int] = {}
        self._not_settled: tuple[NotSettled, ...] = ()
        self._unasked: tuple[Unasked, ...] = ()
        self._purposes: tuple[OnPurpose, ...] = ()
        self._late: tuple[ClusterSnapshot, ...] = ()
        self._awaited: dict[str, str] = {}
        self._awaited_from = 0.0
        self._facts: dict[str, NodeFacts] = {}
        self._own_names: frozenset[str] = frozenset()
        self._left: dict[str, Left] = {}
        self._taken_back: dict[str, tuple[ClusterSnapshot, ...]] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._snapshot = EstateSnapshot(at=clock.wall())
        self.log = EventLog()
        self._unwatched = Unwatched()
        self._mark = ""
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the hub's thread."""
        self._thread = threading.Thread(target=self._run, name="pilothouse-hub", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop and join."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def put(self, facts: NodeFacts) -> None:
        """Take the newest facts of one host."""
        with self._lock:
            self._facts[facts.host] = facts
        self._wake.set()

    def await_first(self, hosts: Mapping[str, str]) -> None:
        """Draw these hosts (name -> address) soon, though they have told nothing yet.

        Not at once: most answer within a moment, and a picture that changes its clusters then would only flicker. What
        is kept has them from the beginning: who looks at that moment later must not miss them.
        """
        self._awaited, self._awaited_from = dict(hosts), self._clock.monotonic() + AWAITED_S

    def recall(self, last: EstateSnapshot, addresses: Mapping[str, str]) -> None:
        """Begin with the clusters of the last run's picture, where a host can't tell its own. Call before `start`.

        Args:
            addresses: host key -> address of the hosts that will be watched.
        """
        past = recalled(last, addresses)
        now = self._clock.wall()
        hosts = {node.host for cluster in past.clusters for node in cluster.nodes}
        self._facts |= {host: NodeFacts(host, now, address=addresses[host]) for host in sorted(hosts)}
        if past.clusters:
            names = self._names(past, self._facts)
            self._snapshot = updated_estate(past, self._facts, now, names, written=self._written)

    def recall_late(self, past: EstateSnapshot) -> None:
        """Take the clusters that hosts were last known in, while it runs; what the last picture drew counts before it.

        A console that only planned and ran on a terminal kept no picture, and knows its members all the same.
        """
        self._late = past.clusters
        self._wake.set()

    def sign(self, mark: str) -> None:
        """Sign what is kept with the mark of an inventory's file. Call before `start`."""
        self._mark = mark

    def remember(self, events: Iterable[Event]) -> None:
        """Begin with what the history tells of the last runs, oldest first. Call before `start`."""
        for event in events:
            self.log.add(event)
        self._unwatched.remember(self.log.all())

    def stand_as_written(self, clusters: Mapping[str, str]) -> None:
        """Draw hosts with the cluster that they are written into (host -> its name). Call before `recall`."""
        self._written = clusters

    def written(self, hosts: Iterable[str]) -> None:
        """Take the keys of the hosts that a person wrote down: they are called so."""
        self._own_names = frozenset(hosts)

    def expect(self, sizes: Mapping[str, int]) -> None:
        """Judge clusters from now on by how many nodes they should have: seed host -> that number."""
        self._expected = sizes

    def not_settled(self, open_: tuple[NotSettled, ...]) -> None:
        """Tell from now on of these sightings of two Primary Components, which no person has settled."""
        self._not_settled = open_

    def unasked(self, named: tuple[Unasked, ...]) -> None:
        """Draw from now on these hosts as named and not asked."""
        self._unasked = named
        self._wake.set()

    def on_purpose(self, moved: tuple[OnPurpose, ...]) -> None:
        """Tell from now on calmly of these nodes, which runs move: what they do on purpose is no fault."""
        self._purposes = moved
        self._wake.set()

    def facts(self) -> Mapping[str, NodeFacts]:
        """Return the newest facts of every host."""
        with self._lock:
            return dict(self._facts)

    def forget(self, host: str) -> None:
        """Drop a host: a person says so, or it was another name of one already watched."""
        with self._lock:
            self._facts.pop(host, None)
            self._awaited.pop(host, None)
            parts = ((c, tuple(n for n in c.nodes if n.host == host)) for c in self._snapshot.clusters)
            known = tuple(ClusterSnapshot(c.cluster_id, c.kind, c.name, c.at, nodes=n) for c, n in parts if n)
            ids = {node.node_id for cluster in known for node in cluster.nodes}
            open_ = (event for event in self.log.all() if event.node_id in ids and event.until is None)
            silences = tuple(event for event in open_ if is_silence(event))
            self._left[host] = Left(known, self._clock.monotonic(), silences)
        for event in silences:  # nobody asks it any more: it is not known how long it goes on
            self._keep(replace(event, until=max(event.at, self._clock.wall()), unseen_end=True))

    def take_back(self, host: str) -> None:
        """Go on with what was known of a host that was dropped a moment ago: since when it is so, and is asked."""
        with self._lock:
            left = self._left.pop(host, None)
            soon = left is not None and self._clock.monotonic() - left.at <= AGAIN_S
            if left is not None and soon:
                self._taken_back[host] = left.clusters
        for event in left.silences if left is not None and soon else ():
            self._keep(event)

    def _past(self, facts: Mapping[str, NodeFacts]) -> EstateSnapshot | None:
        """Return the last picture, with those in it that were taken back and have told something again."""
        back = [cluster for host in facts for cluster in self._taken_back.pop(host, ())]
        clusters = (*self._snapshot.clusters, *back, *self._recalled_late(facts))
        return replace(self._snapshot, clusters=clusters) if clusters else None

    def _recalled_late(self, facts: Mapping[str, NodeFacts]) -> list[ClusterSnapshot]:
        """Return once, when all its hosts are in the picture, each cluster that is known late.

        Of one that is drawn, and of which nobody answers, those that only the memory names: who found them is down.
        """
        drawn = {cluster.cluster_id: cluster for cluster in self._snapshot.clusters}
        late = [c for c in self._late if all(node.host in facts for node in c.nodes if node.host)]
        self._late = tuple(c for c in self._late if c not in late)
        new = [c for c in late if c.cluster_id not in drawn]
        silent = [c for c in late if c.cluster_id in drawn and not drawn[c.cluster_id].components]
        return new + [replace(c, nodes=tuple(n for n in c.nodes if not n.host)) for c in silent]

    def tell(self, event: Event) -> None:
        """Keep and publish an event of a lane or of the console itself."""
        self._keep(self._signed(self._unwatched.told(event)))

    def _keep(self, event: Event) -> None:
        kept = self.log.add(event)
        if kept is None:
            return
        if self._memory is not None:
            self._memory.append_event(kept)
        self._bus.publish(kept)

    def _signed(self, event: Event) -> Event:
        """Return an event with whose it is (own_past.py)."""
        if not self._mark or event.inventory:
            return event
        nodes = (node for cluster in self._snapshot.clusters for node in cluster.nodes)
        host = next((node.host for node in nodes if event.node_id and node.node_id == event.node_id), event.node_id)
        facts = self._facts.get(host)
        return replace(event, inventory=self._mark, address=facts.address if facts is not None else "")

    def snapshot(self) -> EstateSnapshot:
        """Return the newest snapshot."""
        return self._snapshot

    def refresh(self) -> EstateSnapshot:
        """Recompute now, on the caller's thread (used before the hub's thread runs, and by tests)."""
        with self._lock:
            if self._awaited and self._clock.monotonic() >= self._awaited_from:
                now, late = self._clock.wall(), self._awaited
                self._awaited = {}
                self._facts = {h: NodeFacts(h, now, address=a) for h, a in late.items()} | self._facts
            facts, awaited = dict(self._facts), dict(self._awaited)
        old = self._snapshot
        past = self._past(facts)
        rates = self._rates()
        new = updated_estate(past, facts, self._clock.wall(), self._names(old, facts), rates=rates,
                             expected=self._expected, unasked=self._unasked, written=self._written)  # fmt: skip
        new = told_until_settled(with_reach(new, rates), self._not_settled)
        new = told_on_purpose(new, self._purposes, past)
        self._snapshot = new
        for event in events_between(past, new):
            self.tell(event)
        for event in self._unwatched.answered(new):
            self.tell(event)
        if self._memory is not None:
            kept = with_hosts(new, awaited, self._written)
            self._memory.append_snapshot(replace(kept, inventory=self._mark) if self._mark else kept)
        if self._on_snapshot is not None:
            self._on_snapshot(new)
        return new

    def _names(self, snapshot: EstateSnapshot, facts: Mapping[str, NodeFacts]) -> Mapping[str, str]:
        """Return host key or cluster id -> the inventory's name; a cluster's by the seeds that are in it."""
        return {host: host for host in self._own_names} | names_of_clusters(self._cluster_names, snapshot, facts)

    def _run(self) -> None:
        while not self._stop.is_set():
            # A beat without news still comes each second: ages grow and silence must become visible.
            self._wake.wait(1.0)
            self._wake.clear()
            if self._stop.is_set():
                return
            try:
                self.refresh()
            except BaseException:
                log.exception("the snapshot could not be updated")
            self._clock.sleep(self._settle_s, self._stop)

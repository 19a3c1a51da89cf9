"""The live watcher: from one seed to the whole estate, then one HostWatch each, until stopped. An EstateSource.

Discovery is repeated while hosts come and go: a member that joins later is watched too, a host that turns out to be
another name of one already watched is dropped.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from services.clock import Clock
from services.connections.ports import ObserverSession
from services.discovery.judgement.on_purpose import OnPurpose
from services.discovery.looks.crawl import crawl
from services.discovery.model import EstateSnapshot
from services.discovery.not_yet import with_hosts
from services.discovery.shared_hosts import only_named
from services.errors import StoreError
from services.events import Bus, Event
from services.facts.model import NodeFacts
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, Inventory, with_instances
from services.inventory.trust import Trust, trust_of
from services.sampling.cost import PollCost
from services.sampling.half_watched import half_watched
from services.sampling.host_watch import Beginning, HostWatch
from services.sampling.hub import MAX_EVENTS, Hub
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.rates_now import RatesNow
from services.sampling.metrics.reader import SeriesReader
from services.sampling.model import ConsoleCost, Metric
from services.sampling.own_pace import OwnPace
from services.sampling.past.console_memory import ConsoleMemory
from services.sampling.past.own_past import OwnPast
from services.sampling.past.past_positions import last_start, read_past
from services.sampling.settings import WatchSettings
from services.series import Sample, Series

if TYPE_CHECKING:
    from services.history.state.store import StateStore

log = logging.getLogger(__name__)

EVENTS_MEMORY_S = 86_400.0
REST_S = 0.02
"""Between two reads of a week's positions: who draws a chart meanwhile comes first."""
FIRST_APART_S = 0.02
"""Many hosts' first polls come one after the other: making a hundred connections at once would stop the window."""


class Watcher:
    """Watches the estate , found from its seeds; satisfies `widgets.bridge.source.EstateSource`.

    Args:
        title: what the estate is called; seeds: hosts to begin from.
        open_session: gives an Observer session for a host, opened lazily.
        store: the history, owned by the watcher and closed by `stop`.
        cluster_names: seed host -> the name its cluster has in the inventory.
        state: opens what is remembered between runs, on a thread of its own; None remembers nothing.
    """

    is_live = True

    def __init__(
        self,
        title: str,
        seeds: Sequence[HostEntry],
        open_session: Callable[[HostEntry], ObserverSession],
        store: HistoryStore,
        clock: Clock,
        settings: WatchSettings | None = None,
        cluster_names: Mapping[str, str] | None = None,
        state: Callable[[], StateStore] | None = None,
    ) -> None:
        self.title = title
        self._seeds = tuple(seeds)
        self._open = open_session
        self._store = store
        self._clock = clock
        self._settings = settings or WatchSettings()
        self._catalogue = load_catalogue()
        self._reader = SeriesReader(store, self._catalogue)
        self._rates = RatesNow(self._reader, clock)
        self._cost = PollCost(clock)
        self._pace = OwnPace(clock)
        self.bus = Bus()
        self.hub = Hub(clock, store, rates=self._rates.all, bus=self.bus, cluster_names=cluster_names)
        hub = self.hub
        hub.written(seed.name for seed in self._seeds)
        self._memory = (
            ConsoleMemory(
                state, clock, hub.snapshot, hub.tell, hub.not_settled, ([s.name for s in self._seeds], hub.recall_late)
            )
            if state is not None
            else None
        )
        self._expected: Mapping[str, int] = {}
        self._written: Mapping[str, str] = {}
        self._mark = ""
        self._others: tuple[Event, ...] = ()
        self._trust = trust_of(Inventory(hosts=self._seeds))
        self._watches: dict[str, HostWatch] = {}
        self._lock = threading.Lock()
        self._recalled: set[str] = set()
        self._stop = threading.Event()
        self._look_again = threading.Event()
        self._finder = threading.Thread(target=self._find, name="pilothouse-discovery", daemon=True)

    @property
    def interval_s(self) -> float:
        """Return the seconds between two samples of a server."""
        return self._settings.interval_s

    @property
    def trouble(self) -> StoreError | None:
        """Return why nothing of this is written to the disk at present; after `stop`: why its end is not."""
        return self._store.trouble

    # --- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start watching; returns at once, snapshots follow within seconds."""
        self._remember_events()
        self._remember_clusters()
        self._store.on_event = self.hub.tell
        self.hub.start()
        self._pace.start()
        if self._memory is not None:
            self._memory.start()
        self.hub.await_first({seed.name: seed.address for seed in self._seeds})
        self._draw_named(self._seeds)
        for event in half_watched(self._seeds, self._clock.wall()):
            self.hub.tell(event)
        for seed in self._seeds:
            self._watch(seed, None)
        self._finder.start()

    def _draw_named(self, entries: Sequence[HostEntry]) -> None:
        for facts in only_named(entries, self._clock.wall()).values():
            self.hub.put(facts)

    def _remember_events(self) -> None:
        """Show what the history knows of the last day, the store's word about an unclean end included."""
        now = self._clock.wall()
        own, others = self._past().events(self._store.events(now - EVENTS_MEMORY_S, now + 1.0))
        self._others = others[-MAX_EVENTS:]
        self.hub.remember(own[-MAX_EVENTS:])

    def _past(self) -> OwnPast:
        return OwnPast(self._mark, {seed.name: seed.address for seed in self._seeds} | self._own_hosts())

    def _remember_clusters(self) -> None:
        """Draw the clusters as they were last seen until their servers speak: all of them may be down."""
        with contextlib.suppress(StoreError):  # a damaged picture is no reason not to watch
            last = self._store.snapshot_at(self._clock.wall())
            if last is not None:
                self.hub.recall(self._past().picture(last), {seed.name: seed.address for seed in self._seeds})

    def expect(self, sizes: Mapping[str, int]) -> None:
        """Judge clusters by their size: seed host -> how many nodes its cluster should have. Call before `start`."""
        self._expected = sizes

    def stand_as_written(self, clusters: Mapping[str, str]) -> None:
        """Draw hosts with the cluster that a person wrote them into: host -> its name. Call before `start`."""
        self._written = clusters
        self.hub.stand_as_written(clusters)

    def sign(self, mark: str) -> None:
        """Keep what is seen as this inventory's, and show the past of no other one. Call before `start`."""
        self._mark = mark
        self.hub.sign(mark)

    def let_ask(self, trust: Trust) -> None:
        """Ask hosts that others name only where this allows it; without it only the seeds are asked. Before `start`."""
        self._trust = trust

    def add(self, entries: Sequence[HostEntry]) -> None:
        """Watch more hosts from now on, and find what they lead to; one that is watched already is left as it is.

        They are hosts that a person wrote down: each may be asked.
        """
        self._draw_named(entries)
        for entry in with_instances(entries):
            self._trust = self._trust.with_host(entry)
            self._watch(entry, None)
        self._look_again.set()

    def watch_again(self, entry: HostEntry) -> None:
        """Watch a host that a person stopped watching by mistake: what was known of its state goes on."""
        self.hub.take_back(entry.name)
        self.add((entry,))

    def entry(self, name: str) -> HostEntry | None:
        """Return how a host is reached, whether it was written down or found; None when it is not watched."""
        with self._lock:
            watch = self._watches.get(name)
        return None if watch is None else watch.entry

    @property
    def watches_any(self) -> bool:
        """Return whether any host is watched."""
        with self._lock:
            return bool(self._watches)

    def on_purpose(self, moved: tuple[OnPurpose, ...]) -> None:
        """Take which nodes runs move now (services/procedures/journal/taken_down.py): they are told calmly."""
        self.hub.on_purpose(moved)

    def try_now(self, names: Sequence[str]) -> None:
        """Ask these hosts again at once: a person wants to see whether they are back. Returns at once."""
        with self._lock:
            watches = [watch for name, watch in self._watches.items() if name in names]
        for watch in watches:
            watch.try_now()
        self._look_again.set()

    def replace(self, name: str, entry: HostEntry) -> None:
        """Watch a host in another way from now on; waits for its old lane to end: call through a worker."""
        self._drop(name)
        self._trust = self._trust.without_host(name)
        self.add((entry,))

    def remove(self, name: str) -> None:
        """Stop watching a host; waits for its lane to end: call through a worker.

        Who else names it draws it as not asked, or it is found again in a network that the cluster declares.
        """
        self._trust = self._trust.without_host(name)
        self._drop(name)
        self._look_again.set()

    def stop(self) -> None:
        """Stop every thread, close every session and the store."""
        self._stop.set()
        self._look_again.set()
        with self._lock:
            watches = tuple(self._watches.values())
        for watch in watches:
            watch.request_stop()
        for watch in watches:
            watch.join()
        if self._finder.ident is not None:
            self._finder.join(timeout=10)
        self.hub.stop()
        self._pace.stop()
        if self._memory is not None:
            cost = self._cost.read()
            self._memory.stop(cost if cost.ui_stall_ms_max > 0.0 else None)
        self._store.close()

    # --- EstateSource ------------------------------------------------------------------------------------------------

    def now(self) -> float:
        """Return the wall clock."""
        return self._clock.wall()

    def snapshot(self) -> EstateSnapshot:
        """Return the newest snapshot."""
        return self.hub.snapshot()

    def snapshot_at(self, at: float) -> EstateSnapshot:
        """Return the snapshot that was true at `at`; hosts of which nothing was known then are not contacted yet."""
        found = self._store.snapshot_at(at)
        if found is None:
            return EstateSnapshot(at=at)
        return with_hosts(self._past().picture(found), self._own_hosts(), self._written)

    def _own_hosts(self) -> dict[str, str]:
        """Return host key -> address of the hosts that a person wrote down."""
        with self._lock:
            entries = [watch.entry for watch in self._watches.values()]
        return {entry.name: entry.address for entry in entries if not entry.ways_of}

    def events(self) -> Sequence[Event]:
        """Return the newest events, oldest first."""
        return self.hub.log.all()

    def other_events(self) -> Sequence[Event]:
        """Return what the history tells of other inventories that share it, oldest first; known once it is started."""
        return self._others

    def span(self) -> tuple[float, float]:
        """Return the first and last moment of the history, UTC epoch seconds."""
        return self._store.range() or (self._clock.wall(), self._clock.wall())

    def series(self, server: str, metric: str, start: float, end: float, points: int) -> Series:
        """Return a metric of one server; reads the store."""
        return self._reader.series(server, metric, start, end, points)

    def tail(self, server: str, metric: str, since: float) -> Series:
        """Return the newest samples from memory."""
        return self._reader.tail(server, metric, since)

    def catalogue(self) -> Sequence[Metric]:
        """Return the metric catalogue."""
        return tuple(self._catalogue)

    def servers(self) -> Sequence[str]:
        """Return the hosts that have samples."""
        return self._store.servers()

    def cost(self) -> ConsoleCost:
        """Return what watching costs."""
        return self._cost.read()

    def ui_stalled(self, worst_ms: float, over_limit: int) -> None:
        """Take the window's own measure of its event loop (called each second by the window)."""
        self._cost.ui_stalled(worst_ms, over_limit)

    # --- Sink --------------------------------------------------------------------------------------------------------

    def put_facts(self, facts: NodeFacts) -> None:
        """Take facts from a lane."""
        if not self._stop.is_set():
            self.hub.put(facts)

    def put_sample(self, sample: Sample) -> None:
        """Take a sample from a lane."""
        if not self._stop.is_set():
            self._store.append(sample)
            self._rates.sampled(sample.server)

    def tell(self, event: Event) -> None:
        """Take an event from a lane."""
        self.hub.tell(event)

    # --- discovery ---------------------------------------------------------------------------------------------------

    def _find(self) -> None:
        while not self._stop.is_set():
            try:
                self._discover()
                # Before the first look around is over nobody knows how many there are.
                self.hub.expect(self._expected)
                self._recall()
            except BaseException:
                log.exception("discovery failed unexpectedly")
            self._clock.sleep(self._settings.rediscover_s, self._look_again)
            self._look_again.clear()

    def _discover(self) -> None:
        with self._lock:
            known = {name: watch.entry for name, watch in self._watches.items()}
        found = crawl(
            tuple(known.values()),
            self._open,
            self._clock,
            trust=self._trust,
            limit_s=self._settings.discovery_limit_s,
            known=self.hub.facts(),
        )
        for name, entry in found.entries.items():
            if name not in known and not self._stop.is_set():
                self._watch(entry, found.facts.get(name))
        for name in found.aliases:
            self._drop(name)
        self.hub.unasked(found.unasked)

    def _recall(self) -> None:
        """Give hosts watched since the last call their positions of the last week: slowly, for nobody waits for it."""
        with self._lock:
            new = [watch for name, watch in self._watches.items() if name not in self._recalled]
        for watch in new:
            if self._stop.is_set():
                return
            name = watch.entry.name
            self._recalled.add(name)
            past = read_past(self._store, name, self._clock.wall(), lambda: self._clock.sleep(REST_S, self._stop))
            if past is not None:
                watch.recall(past)

    def _watch(self, entry: HostEntry, first: NodeFacts | None) -> None:
        soon, phase = FIRST_APART_S * len(self._watches), zlib.crc32(entry.name.encode()) % 1000 / 1000.0
        epoch = last_start(self._store, entry.name, self._clock.wall())
        begin = Beginning(phase * self._settings.interval_s, first, epoch, soon, self._pace)
        watch = HostWatch(entry, self._open(entry), self, self._clock, self._cost, self._settings, begin)
        with self._lock:
            if entry.name in self._watches:
                return
            self._watches[entry.name] = watch
            self.hub.written(name for name, one in self._watches.items() if not one.entry.ways_of)
        if first is not None:
            self.hub.put(first)
        watch.start()

    def _drop(self, name: str) -> None:
        """Stop watching a host, and the other instances on it."""
        with self._lock:
            names = [key for key, one in self._watches.items() if name in {key, one.entry.on}]
            left = [one.key for key in names for one in self._watches[key].entry.beside if not one.what.read]
            watches = {key: self._watches.pop(key) for key in names}
        for key in left:
            self.hub.forget(key)
        for watch in watches.values():
            watch.request_stop()
        for key, watch in watches.items():
            watch.join()
            self.hub.forget(key)
            self._recalled.discard(key)

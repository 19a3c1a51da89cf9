"""Discovery against a real three-node cluster: found from each node, and every trouble drawn within three samples.

A sample is one look at every host a second, as the live watcher makes it. Where the servers themselves need longer to
know (a parted node is suspected after evs.suspect_timeout, five seconds), samples are counted from their own answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.families.galera.kind import GALERA
from services.discovery.looks.crawl import crawl
from services.discovery.looks.probe import FINDING_PARTS, probe
from services.discovery.model import EstateSnapshot, NodeView
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.inventory.trust import Trust
from services.types import Health
from tests.lab.connections.connecting import LIMITS, entry, vault
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import on_this_machine
from tests.sample import sampled

NODES = ("n1", "n2", "n3")
SAMPLES = 3


class Watching:
    """One look a second at every node, as the watcher does it."""

    def __init__(self, estate: Estate) -> None:
        self._clock = SystemClock()
        known = vault(estate)
        self._entries = {name: entry(estate, name) for name in NODES}
        self._sessions = {
            name: HostSession(host, known, clock=self._clock, limits=LIMITS) for name, host in self._entries.items()
        }
        self._pool = ThreadPoolExecutor(len(NODES))
        self._facts: dict[str, NodeFacts] = {}
        self.snapshot: EstateSnapshot | None = None

    def look(self) -> EstateSnapshot:
        """Return the picture after one more sample of every node."""
        self._facts.update(zip(NODES, self._pool.map(self._ask, NODES), strict=True))
        self.snapshot = updated_estate(self.snapshot, self._facts, self._clock.wall())
        return self.snapshot

    def _ask(self, name: str) -> NodeFacts:
        return probe(
            self._sessions[name], self._clock, self._facts.get(name), FINDING_PARTS,
            address=self._entries[name].address, limit_s=0.9,
        )  # fmt: skip

    def until(self, wanted: Callable[[EstateSnapshot], bool], limit_s: float) -> EstateSnapshot:
        """Sample each second until `wanted`; fail after `limit_s` with what was seen."""
        deadline = time.monotonic() + limit_s
        while True:
            begun = time.monotonic()
            snapshot = self.look()
            if wanted(snapshot):
                return snapshot
            assert begun < deadline, [(n.name, n.state, n.reason) for c in snapshot.clusters for n in c.nodes]
            time.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))

    def within_samples(self, name: str, wanted: Callable[[NodeView], bool]) -> NodeView:
        """Return the node once it is drawn as wanted, after three samples at most."""
        for _ in range(SAMPLES):
            begun = time.monotonic()
            found = _node(self.look(), name)
            if wanted(found):
                return found
            time.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))
        raise AssertionError(f"{name} is drawn as {found.state} ({found.reason})")

    def close(self) -> None:
        self._pool.shutdown()
        for session in self._sessions.values():
            session.close()


def _node(snapshot: EstateSnapshot, name: str) -> NodeView:
    return next(n for c in snapshot.clusters for n in c.nodes if n.name == name)


def _all_synced(snapshot: EstateSnapshot) -> bool:
    nodes = [n for c in snapshot.clusters for n in c.nodes]
    return len(nodes) == len(NODES) and all(n.state == "Synced" and n.health is Health.GOOD for n in nodes)


@pytest.fixture
def watching(galera: Estate) -> Iterator[Watching]:
    watcher = Watching(galera)
    try:
        watcher.until(_all_synced, 20)
        yield watcher
    finally:
        watcher.close()


@pytest.mark.parametrize("seed", sampled(NODES, lambda seed: seed != NODES[0]))
def test_that_any_one_node_leads_to_the_whole_cluster_in_less_than_three_seconds(galera: Estate, seed: str) -> None:
    clock, known = SystemClock(), vault(galera)
    started = clock.monotonic()
    trust = Trust(also=(f"{galera.spec.network}.0/24",))
    found = crawl(
        [entry(galera, seed)], lambda host: HostSession(host, known, clock=clock, limits=LIMITS), clock, trust=trust
    )
    took = clock.monotonic() - started
    snapshot = updated_estate(None, found.facts, clock.wall())
    assert took < on_this_machine(3.0)
    (cluster,) = snapshot.clusters
    assert cluster.kind == GALERA
    assert sorted(n.name for n in cluster.nodes) == list(NODES)
    assert [n.state for n in cluster.nodes] == ["Synced"] * 3
    assert cluster.agreement == "Seen from n1, n2, n3 (they agree)"
    assert (cluster.components[0].votes, cluster.components[0].may_lose) == (3, 1)


def test_that_the_same_picture_comes_as_json(watching: Watching) -> None:
    snapshot = watching.look()
    data = snapshot_to_json(snapshot)
    assert snapshot_from_json(data) == snapshot
    plain = json.loads(data)
    assert [n["state"] for n in plain["clusters"][0]["nodes"]] == ["Synced"] * 3


@pytest.mark.long
def test_that_a_killed_node_is_drawn_as_not_running(galera: Estate, watching: Watching) -> None:
    galera.kill9("n3")
    killed = watching.within_samples("n3", lambda n: n.health is Health.BAD)
    assert killed.state == "not running"
    later = watching.until(lambda s: _node(s, "n3").component == "", 20)
    assert later.clusters[0].components[0].members == ("n1", "n2")
    assert later.clusters[0].components[0].votes_known == 3
    galera.start("n3")
    back = watching.until(_all_synced, 60)
    assert len(_node(back, "n3").uuid_history) == 2
    assert len(back.clusters[0].nodes) == 3


@pytest.mark.long
def test_that_a_paused_node_is_drawn_as_stopped_by_a_signal(galera: Estate, watching: Watching) -> None:
    galera.pause("n2")
    try:
        paused = watching.within_samples("n2", lambda n: n.health is Health.BAD)
    finally:
        galera.resume("n2")
    assert paused.state == "process stopped (SIGSTOP)"
    assert paused.seen_by == ("n1", "n3")


@pytest.mark.long
def test_that_a_full_disk_is_drawn_on_its_node(galera: Estate, watching: Watching) -> None:
    galera.fill("n1")
    try:
        full = watching.within_samples("n1", lambda n: n.health is Health.BAD)
    finally:
        galera.unfill("n1")
    assert full.state == "Synced, disk full"
    assert full.reason.startswith("data disk full: 0 B free of ")
    assert full.numbers[-1] == ("data disk", "0 B free", Health.BAD)
    watching.within_samples("n1", lambda n: n.health is Health.GOOD)


def test_that_a_parted_node_is_an_island_and_the_observers_disagree(galera: Estate, watching: Watching) -> None:
    galera.partition(["n3"])
    parted = watching.until(lambda s: _node(s, "n3").state != "Synced" or not s.clusters[0].observers_agree, 30)
    for _ in range(SAMPLES - 1):
        alone = _node(parted, "n3").state == "non-Primary" and "n3 sees only itself" in parted.clusters[0].agreement
        if alone and len(parted.clusters[0].components) == 2 and "each other" in parted.clusters[0].agreement:
            break  # each side tells of it by its own next look
        time.sleep(1.0)
        parted = watching.look()
    cluster = parted.clusters[0]
    assert cluster.agreement == "n1 and n2 see each other; n3 sees only itself"
    assert [(c.primary, c.members) for c in cluster.components] == [(True, ("n1", "n2")), (False, ("n3",))]
    assert [v.observers for v in cluster.views] == [("n1", "n2"), ("n3",)]
    assert _node(parted, "n3").state == "non-Primary"
    galera.heal()
    watching.until(_all_synced, 60)

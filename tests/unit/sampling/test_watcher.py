"""The live watcher on recorded hosts: what a host leads to is found at once, whenever that host comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, SqlAccess
from services.inventory.trust import Trust
from services.sampling.settings import WatchSettings
from services.sampling.watcher import Watcher
from tests.unit.recorded.replies import ReplaySession, load

HOSTS: dict[str, Any] = load("situations/galera-healthy.json")["hosts"]
BY_ADDRESS = {host["address"]: host for host in HOSTS.values()}
SEED = HostEntry("n1", "10.213.1.11", sql=SqlAccess("observer"))


def _open(entry: HostEntry) -> ReplaySession:
    return ReplaySession(entry.name, {**BY_ADDRESS.get(entry.address, {}), "ssh": False})


def _until(check: Callable[[], bool], limit_s: float = 10.0) -> None:
    end = time.monotonic() + limit_s
    while not check():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("way", ["add", "replace"])
def test_that_a_host_given_while_watching_leads_to_its_cluster_at_once(tmp_path: Path, way: str) -> None:
    """The next look around by itself would come in an hour."""
    other = HostEntry("n1" if way == "replace" else "elsewhere", "10.9.9.9", sql=SqlAccess("observer"))
    store = HistoryStore.open(tmp_path / "history.sqlite")
    watcher = Watcher("lab", (other,), _open, store, SystemClock(), WatchSettings(rediscover_s=3600.0))
    watcher.expect({"n1": 4})
    watcher.let_ask(Trust(also=("10.0.0.0/8",)))
    watcher.start()
    try:
        _until(lambda: other.name in watcher.hub.facts())
        time.sleep(0.3)  # the first look around is over
        if way == "add":
            watcher.add((SEED,))
        else:
            watcher.replace("n1", SEED)
        _until(lambda: {"n1", "n2", "n3"} <= watcher.hub.facts().keys())
        _until(lambda: any(c.expected == 4 and c.size == 3 for c in watcher.snapshot().clusters))
    finally:
        watcher.stop()


def test_that_a_moment_before_a_host_was_in_the_inventory_shows_it_as_not_contacted(tmp_path: Path) -> None:
    store = HistoryStore.open(tmp_path / "history.sqlite")
    now = time.time()
    store.append_snapshot(updated_estate(None, {"old": NodeFacts("old", now - 60, address="10.9.9.8")}, now - 60))
    store.flush()
    other = HostEntry("elsewhere", "10.9.9.9", sql=SqlAccess("observer"))
    watcher = Watcher("lab", (other,), _open, store, SystemClock(), WatchSettings(rediscover_s=3600.0))
    watcher.start()
    try:
        states = {n.host: n.state for c in watcher.snapshot_at(now - 30).clusters for n in c.nodes}
    finally:
        watcher.stop()
    assert states["elsewhere"] == "not contacted yet"

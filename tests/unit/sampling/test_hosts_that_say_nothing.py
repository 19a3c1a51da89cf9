"""Hosts whose first try takes long (dropped connections) are drawn meanwhile, in the clusters they are written into."""

from __future__ import annotations

import threading
from pathlib import Path

from services.clock import SystemClock
from services.discovery.families.single.kind import UNKNOWN
from services.errors import Unreachable
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, SqlAccess
from services.sampling.settings import WatchSettings
from services.sampling.watcher import Watcher
from services.types import Reach
from tests.unit.recorded.replies import ReplaySession
from tests.unit.sampling.test_watcher import _until

RELEASED = threading.Event()


class Hanging(ReplaySession):
    """A host that drops every connection: a try takes as long as it may."""

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        RELEASED.wait(20)
        raise Unreachable("closed")

    def close(self) -> None:
        RELEASED.set()


def test_that_silent_hosts_stand_in_their_written_clusters_before_their_first_try_is_over(tmp_path: Path) -> None:
    RELEASED.clear()
    hosts = {f"{name}{n}": name for name in ("east", "west") for n in range(3)}
    seeds = [HostEntry(host, f"10.0.0.{i}", sql=SqlAccess("observer")) for i, host in enumerate(hosts)]
    store = HistoryStore.open(tmp_path / "history.sqlite")
    watcher = Watcher("dark", seeds, lambda e: Hanging(e.name, {"ssh": False}), store, SystemClock(),
                      WatchSettings(rediscover_s=3600.0, discovery_limit_s=15.0))  # fmt: skip
    watcher.stand_as_written(hosts)
    watcher.start()
    try:
        assert watcher.snapshot().clusters == ()
        _until(lambda: len(watcher.snapshot().clusters) == 2, limit_s=6.0)
        for cluster in watcher.snapshot().clusters:
            assert (cluster.kind, len(cluster.nodes)) == (UNKNOWN, 3)
            assert {node.reach for node in cluster.nodes} == {Reach.NOT_TRIED}
        RELEASED.set()
        _until(lambda: all(n.reach is Reach.NONE for c in watcher.snapshot().clusters for n in c.nodes))
        assert sum(event.text.endswith("does not answer: closed") for event in watcher.events()) == len(hosts)
    finally:
        RELEASED.set()
        watcher.stop()

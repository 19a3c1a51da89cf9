"""A history that several inventories share: each sees its own, and a host's name alone makes nothing its own."""

from __future__ import annotations

import time
from pathlib import Path

from services.clock import SystemClock
from services.discovery.model import EstateSnapshot
from services.events import Event
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, SqlAccess
from services.sampling.past.own_past import OwnPast, mark_of
from services.sampling.settings import WatchSettings
from services.sampling.watcher import Watcher
from tests.unit.discovery.scenes import AT, STATE, address, estate, member
from tests.unit.recorded.replies import ReplaySession

OTHER = "0f0f0f0f-1111-11f0-9c0e-3b2f8d5a7c11"
OWN = OwnPast("a", {f"db{n}": address(n) for n in (1, 2, 3)})


def _event(text: str, cluster: str = "", node: str = "", inventory: str = "", at_address: str = "") -> Event:
    return Event(AT, "state", text, cluster_id=cluster, node_id=node, inventory=inventory, address=at_address)


def test_that_what_another_inventory_kept_is_told_apart_though_its_hosts_have_the_same_names() -> None:
    own = (
        _event("by the mark", STATE, "gone", "a"),
        _event("a host of both inventories", STATE, "db1", "b", address(1)),
        _event("a member of an own cluster", STATE, "db9", "b", "10.9.9.9"),
        _event("of an older program, by the name", "written:x", "db2"),
        _event("of an older program, of nobody"),
        Event(AT, "console", "ended", inventory="b"),
    )
    others = (
        _event("the same name at another address", OTHER, "db1", "b", "10.9.9.1"),
        _event("another cluster", OTHER, "", "b"),
        _event("the same made id", "written:x", "", "b"),
        _event("of nobody, but of the other one", "", "", "b"),
        _event("of an older program, another host", OTHER, "n7"),
    )
    mixed = [event for pair in zip(own, others, strict=False) for event in pair] + [own[-1]]
    assert OWN.events(mixed) == (own, others)
    assert OwnPast("", {}).events(mixed) == (tuple(mixed), ())


def test_that_a_picture_of_another_inventory_shows_only_clusters_that_own_hosts_are_in() -> None:
    drawn = estate(
        *(member(n) for n in (1, 2, 3)),
        *(member(n, state_uuid=OTHER, local_state_uuid=OTHER) for n in (7, 8, 9)),
    )
    seen = OWN.picture(drawn)
    assert [cluster.cluster_id for cluster in seen.clusters] == [STATE]
    assert (seen.hosts_total, seen.hosts_answering) == (3, 3)
    elsewhere = OwnPast("a", {"db1": "10.9.9.1"})
    assert elsewhere.picture(drawn).clusters == ()
    marked = EstateSnapshot(drawn.at, drawn.clusters, inventory="a")
    assert elsewhere.picture(marked) is marked


def _watched(
    folder: Path, file: str, entry: HostEntry, look: float | None = None
) -> tuple[list[str], list[str], set[str]]:
    """Watch a host that says nothing for an inventory; return own events, others', addresses drawn at a moment."""
    store = HistoryStore.open(folder / "history.sqlite")
    silent = lambda one: ReplaySession(one.name, {"ssh": False})  # noqa: E731
    watcher = Watcher("lab", (entry,), silent, store, SystemClock(), WatchSettings(rediscover_s=3600.0))
    watcher.sign(mark_of(folder / file))
    watcher.start()
    try:
        told = [event.text for event in watcher.events()], [event.text for event in watcher.other_events()]
        past = watcher.snapshot_at(look).clusters if look is not None else ()
        watcher.tell(Event(time.time(), "state", f"of {file}", node_id=entry.name))
        end = time.monotonic() + 10.0
        while not watcher.snapshot().clusters and time.monotonic() < end:
            time.sleep(0.05)
    finally:
        watcher.stop()
    return *told, {node.address for cluster in past for node in cluster.nodes}


def test_that_two_inventories_in_one_data_folder_keep_their_pasts_apart(tmp_path: Path) -> None:
    first = HostEntry("n1", "10.9.9.1", sql=SqlAccess("observer"))
    second = HostEntry("n1", "10.9.9.2", sql=SqlAccess("observer"))
    _watched(tmp_path, "a.toml", first)
    own, others, drawn = _watched(tmp_path, "b.toml", second, time.time())
    assert "of a.toml" not in own
    assert "of a.toml" in others
    assert drawn == {"10.9.9.2"}, "the other inventory's n1 is not drawn"
    own, others, _ = _watched(tmp_path, "a.toml", first)
    assert "of a.toml" in own
    assert "of b.toml" in others

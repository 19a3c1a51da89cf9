"""One data folder, several inventories: what is remembered of a host is of the machine, not of its name."""

from __future__ import annotations

import time
from pathlib import Path

from services.discovery.families.registry import kind_kept
from services.history.state.positions import PositionSeen
from services.history.state.remembered_clusters import remembered_estate
from services.history.state.rows import NodeSighting
from services.history.state.store import StateStore
from services.history.store import HistoryStore
from services.series import Sample

HERE, THERE = "ea38a9c3-0000-0000-0000-000000000001", "02a90e84-0000-0000-0000-000000000002"
A, B = {"s1": "10.0.7.51", "s2": "10.0.7.52"}, {"s1": "10.0.7.41", "s2": "10.0.7.42"}


def remember(path: Path, inventory: str, hosts: dict[str, str], uuid: str, at: float) -> None:
    with StateStore.open(path) as state:
        state.of_inventory(inventory, hosts)
        state.remember_nodes(tuple(NodeSighting(host, at, uuid, f"g-{host}", "", 7) for host in hosts))
        state.remember_positions(PositionSeen(host, uuid, "grastate", 9, at, "plan") for host in hosts)


def known(path: Path, inventory: str, hosts: dict[str, str], host: str = "s1") -> set[str]:
    """Return the clusters that are remembered of a host."""
    with StateStore.open(path) as state:
        state.of_inventory(inventory, hosts)
        seen = {one.cluster_uuid for one in state.node_history(host)}
        assert {one.host for one in (*state.node_history(host), *state.positions(host))} <= {host}
        assert seen == {one.cluster_uuid for one in state.positions(host)}
        return seen


def test_that_a_host_of_another_inventory_at_another_address_is_another_machine(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    remember(path, "/a.toml", A, HERE, 100.0)
    remember(path, "/b.toml", B, THERE, 50.0)
    assert known(path, "/a.toml", A) == {HERE}
    assert known(path, "/b.toml", B) == {THERE}


def test_that_a_total_outage_is_drawn_as_the_cluster_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    remember(path, "/b.toml", B, THERE, 50.0)
    remember(path, "/a.toml", A, HERE, 100.0)
    with StateStore.open(path) as state:
        state.of_inventory("/b.toml", B)
        (cluster,) = remembered_estate(state, kind_kept, ("s1", "s2")).clusters
        assert cluster.cluster_id == THERE
        assert {node.host for node in cluster.nodes} == {"s1", "s2"}


def test_that_a_host_that_moves_takes_its_memory_along(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    remember(path, "/a.toml", A, HERE, 100.0)
    moved = A | {"s1": "10.0.9.1"}
    assert known(path, "/a.toml", moved) == {HERE}
    assert known(path, "/elsewhere.toml", moved) == {HERE}, "the same address in a copy of the file is the same host"
    assert known(path, "/b.toml", B) == set()


def test_that_what_an_older_version_kept_is_of_the_first_inventory_that_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    with StateStore.open(path) as state:
        state.remember_nodes((NodeSighting("s1", 100.0, HERE, "g", "", 7),))
    assert known(path, "/a.toml", A) == {HERE}
    assert known(path, "/b.toml", B) == set()


def test_that_hosts_of_a_cluster_are_not_taken_for_others_of_their_name(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    remember(path, "/a.toml", A, HERE, 100.0)
    with StateStore.open(path) as state:
        state.of_inventory("/b.toml", B)
        assert state.hosts_of(HERE) == ("s1 (of another inventory)", "s2 (of another inventory)")


def test_that_an_owner_that_is_damaged_in_the_store_is_nobody(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "state.sqlite") as state:
        for text in ("[]", "{", '{"address": 7}', "7"):
            state.set_setting("host.address.s1", text)
            state.of_inventory("/a.toml", A)
            assert state.node_history("s1") == ()


def test_that_the_samples_of_two_machines_of_one_name_are_two_curves(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    now = time.time()
    for mark, hosts, value in (("a", A, 1.0), ("b", B, 2.0)):
        store = HistoryStore.open(path, background=False)
        store.of_inventory(mark, hosts)
        store.append(Sample("s1", now, time.monotonic(), {"n": value}))
        assert store.read("s1", ["n"], now - 1, now + 1).values["n"][-1] == value
        store.close()
    for mark, hosts, value in (("a", A, 1.0), ("b", B, 2.0)):
        reader = HistoryStore.open(path, read_only=True)
        reader.of_inventory(mark, hosts)
        assert set(reader.read("s1", ["n"], now - 1, now + 1).values["n"]) == {value}
        assert "s1" in reader.servers()
        reader.close()

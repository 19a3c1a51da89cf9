"""A host that the window remembers by its name and a run by its address is one member, not two."""

from __future__ import annotations

from pathlib import Path

from services.discovery.families.registry import kind_kept
from services.discovery.model import EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.history.state.remembered_clusters import remembered_estate
from services.history.state.rows import NodeSighting
from services.history.state.store import StateStore
from tests.unit.discovery.scenes import AT, address, member
from tests.unit.discovery.scenes import STATE as CLUSTER


def seen(host: str, life: str, at: float = AT - 60.0) -> NodeSighting:
    return NodeSighting(host, at, CLUSTER, life, "", 7)


def drawn(path: Path, *kept: NodeSighting) -> EstateSnapshot:
    """Return what is drawn of a cluster of which only s1 is written down, and whose servers are all down."""
    with StateStore.open(path / "state.sqlite") as state:
        state.remember_nodes(kept)
        return remembered_estate(state, kind_kept, ("s1",))


def names(estate: EstateSnapshot) -> list[str]:
    (cluster,) = estate.clusters
    return sorted(node.name for node in cluster.nodes)


def test_that_a_found_host_is_drawn_once_whether_the_window_or_a_run_kept_it(tmp_path: Path) -> None:
    estate = drawn(
        tmp_path,
        *(seen("s1", "a1"), seen("s2", "b1"), seen("10.0.0.2", "b1"), seen("s2", "b2"), seen("10.0.0.3", "c1")),
    )
    assert names(estate) == ["10.0.0.3", "s1", "s2"]


def test_that_the_address_of_a_written_host_is_no_second_member(tmp_path: Path) -> None:
    assert names(drawn(tmp_path, seen("s1", "a1"), seen("10.0.0.1", "a1"))) == ["s1"]


def test_that_a_name_that_two_machines_had_stays_two_machines(tmp_path: Path) -> None:
    estate = drawn(
        tmp_path, seen("s1", "a1"), *(seen("s2", life) for life in ("b1", "b2")), seen("10.0.0.2", "b1"),
        seen("10.0.0.3", "b2"),
    )  # fmt: skip
    assert names(estate) == ["10.0.0.2", "10.0.0.3", "s1"]


def test_that_nothing_is_taken_for_one_without_a_life_that_both_names_had(tmp_path: Path) -> None:
    estate = drawn(tmp_path, seen("s1", "a1"), seen("s2", "b1"), seen("10.0.0.2", "b9"), seen("10.0.0.3", ""))
    assert names(estate) == ["10.0.0.2", "10.0.0.3", "s1", "s2"]


def test_that_who_answers_at_a_remembered_address_takes_its_place(tmp_path: Path) -> None:
    before = drawn(tmp_path, seen("s1", "a1"), seen(address(2), "b1"), seen("10.20.0.99", "c1"))
    now = updated_estate(before, {host: member(n, 2, host=host) for n, host in ((1, "s1"), (2, "s2"))}, AT)
    assert names(now) == ["10.20.0.99", "s1", "s2"]

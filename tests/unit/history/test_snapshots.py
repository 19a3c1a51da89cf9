"""Snapshots in the file: every one comes back as it was, and a keyframe comes when it is worth its bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.history.snapshots import SnapshotWriter, StoredSnapshot, unpack
from services.types import Health
from tests.unit.history.conftest import START

NODES = 12


def estate(at: float, *, changed: int = 0) -> EstateSnapshot:
    """Return an estate of which `changed` of the nodes say other words than at the beginning."""
    words = np.random.default_rng(1).bytes(400 * NODES).hex()
    other = np.random.default_rng(2).bytes(400 * NODES).hex()
    nodes = tuple(
        NodeView(f"n{i}", f"db{i}", state="Synced", code="synced", health=Health.GOOD,
                 reason=(other if i < changed else words)[800 * i : 800 * i + 800])
        for i in range(NODES)
    )  # fmt: skip
    return EstateSnapshot(at, (ClusterSnapshot("c", GALERA, "c", at, nodes=nodes),))


def packed(snapshots: list[EstateSnapshot]) -> list[StoredSnapshot]:
    writer = SnapshotWriter(every_s=0.0, next_number=1)
    rows = [writer.pack(snapshot) for snapshot in snapshots]
    return [row for row in rows if row is not None]


def test_that_every_snapshot_comes_back_as_it_was_from_its_own_row_and_its_keyframes() -> None:
    snapshots = [estate(START + i, changed=i % 9) for i in range(80)]
    rows = packed(snapshots)
    data = {row.number: row.data for row in rows}
    keyframes = {row.number for row in rows if row.base is None}
    assert [unpack(row.data, None if row.base is None else data[row.base]) for row in rows] == snapshots
    assert {row.base for row in rows if row.base is not None} <= keyframes


def test_that_an_estate_that_stands_still_has_a_keyframe_each_five_minutes() -> None:
    rows = packed([estate(START + 2 * i) for i in range(310)])
    assert [row.at - START for row in rows if row.base is None] == [0.0, 300.0, 600.0]


def test_that_an_estate_that_has_changed_gets_a_keyframe_before_its_differences_cost_two() -> None:
    calm = [estate(START), estate(START + 1)]
    rows = packed([*calm, *(estate(START + i, changed=8) for i in range(2, 40))])
    first, second = (row for row in rows if row.base is None)
    between = [row for row in rows if row.base == first.number]
    assert len(first.data) < sum(len(row.data) for row in between) < 2 * len(first.data)
    assert all(len(row.data) < 0.1 * len(second.data) for row in rows if row.base == second.number)


def test_that_a_change_just_after_a_keyframe_is_measured_by_the_calm_before_it() -> None:
    calm = [estate(START + 5 * i) for i in range(61)]
    rows = packed([*calm, *(estate(START + 301 + i, changed=8) for i in range(20))])
    keys = [row.at - START for row in rows if row.base is None]
    assert keys[:2] == [0.0, 300.0]
    assert 302.0 <= keys[2] <= 305.0


def test_that_differences_that_are_all_alike_bring_no_keyframe() -> None:
    rows = packed([estate(START), *(estate(START + i, changed=2) for i in range(1, 59))])
    assert [row.base for row in rows].count(None) == 1


def test_that_a_clock_that_jumps_back_begins_a_keyframe() -> None:
    rows = packed([estate(START), replace(estate(START), at=START - 5.0)])
    assert [row.base for row in rows] == [None, None]


def test_that_names_longer_than_a_host_may_have_are_cut_when_a_snapshot_is_read() -> None:
    long = NodeView("n1", "W" * 9_000, state="Synced", health=Health.GOOD)
    cluster = ClusterSnapshot("c", GALERA, "C" * 9_000, START, nodes=(long, NodeView("n2", "W" * 255)))
    (row,) = packed([EstateSnapshot(START, (cluster,))])
    (read,) = unpack(row.data, None).clusters
    assert [node.name for node in read.nodes] == ["W" * 254 + "…", "W" * 255]
    assert read.name == "C" * 254 + "…"
    assert [node.node_id for node in read.nodes] == ["n1", "n2"]

"""Of a recording's estate no more is handed on than a window draws in time."""

from __future__ import annotations

from pathlib import Path

from services.clock import ManualClock
from services.discovery.families.replication.kind import ASYNC
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView, ReplicationEdge
from services.history.recordings.recording import finish_recording, record_to
from services.sampling.replay import Replay
from services.series import Sample
from services.types import NODES_LEFT_OUT

START = 1_800_000_000.0


def test_that_of_more_nodes_than_are_drawn_those_that_nobody_watches_are_left_out_and_counted(tmp_path: Path) -> None:
    nodes = tuple(NodeView(f"n{i}", f"db{i}", host="" if i < 100 else f"db{i}", state="Synced") for i in range(700))
    edges = tuple(ReplicationEdge(f"n{i}", f"n{i + 1}") for i in range(0, 698, 2))
    cluster = ClusterSnapshot("c", ASYNC, "orders", START, nodes=nodes, replication=edges)
    path = tmp_path / "r.pilothouse"
    store = record_to(path)
    store.append(Sample("db1", START, 1.0, {"questions": 1.0}, epoch="e"))
    store.append_snapshot(EstateSnapshot(START, (cluster,)))
    store.close()
    finish_recording(path)
    replay = Replay(path, ManualClock(START))
    try:
        (read,) = replay.snapshot_at(START).clusters
    finally:
        replay.close()
    assert [node.node_id for node in read.nodes] == [f"n{i}" for i in range(100, 600)]
    assert all(read.node(e.source_id) and read.node(e.replica_id) for e in read.replication)
    (problem,) = read.problems
    assert problem.code == NODES_LEFT_OUT
    assert problem.sentence == "200 nodes of orders are left out: at most 500 are drawn."

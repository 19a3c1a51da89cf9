"""Whatever a console writes of an estate is read again, however long its texts and however large the estate."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.discovery.families.galera.kind import GALERA
from services.discovery.families.single.kind import SINGLE
from services.discovery.model import ClusterSnapshot, Component, EstateSnapshot, NodeView, ReplicationEdge, TransferEdge
from services.facts.model import GaleraFacts, GaleraMember, NodeFacts, Problem, ReplicationChannel, ReplicationFacts
from services.history.recordings.bounds import LATEST, MOST_NODES, MOST_WORD
from services.history.snapshots import SnapshotWriter, unpack
from tests.examples import examples
from tests.unit.history.conftest import START

SIGNS = ("0-1-7,", "é", "\U0001f600", '"', "\\", "\n", "\x07", "\u202e", "字", "\ufffd", "u0007", "\\u0007")
LENGTHS = (0, 1, 1_500, MOST_WORD // 6, MOST_WORD // 2, MOST_WORD - 2, MOST_WORD, 100_000)
long_texts = st.builds(lambda sign, length: (sign * length)[:length], st.sampled_from(SIGNS), st.sampled_from(LENGTHS))
counts = st.sampled_from((0, 1, MOST_NODES - 1, MOST_NODES, MOST_NODES + 1))


@st.composite
def estates(draw: st.DrawFn) -> EstateSnapshot:
    text = draw(long_texts)
    channel = ReplicationChannel(source_host=draw(long_texts), gtid_received=text)
    told = NodeFacts("db1", START, replication=ReplicationFacts(channels=(channel,), gtid_executed=text),
                     problems=(Problem("sql", draw(long_texts)),))  # fmt: skip
    node = NodeView("db1", draw(long_texts), "db1", reason=draw(long_texts), uuid_history=(text,), facts=told)
    strangers = (NodeView("member:q", "q"),) * draw(counts)
    cluster = ClusterSnapshot(
        text, GALERA, draw(long_texts), START, nodes=(node, *strangers),
        components=(Component("primary", primary=True, members=()),) * draw(counts),
        replication=(ReplicationEdge("a", "b"),) * draw(counts),
        transfers=(TransferEdge("a", "b", draw(long_texts)),),
        problems=(Problem("galera", "x"),) * draw(counts),
    )  # fmt: skip
    alone = (ClusterSnapshot("s", SINGLE, "s", START),) * draw(counts)
    problems = tuple(Problem("identity", draw(long_texts)) for _ in range(draw(st.sampled_from((0, 1, 3)))))
    return EstateSnapshot(START, (cluster, *alone), problems, hosts_total=7, hosts_answering=5)


def kept(*snapshots: EstateSnapshot) -> list[EstateSnapshot]:
    """Return what a reader gets of snapshots that were written one after the other."""
    writer, key, found = SnapshotWriter(0.0, 1), None, []
    for number, snapshot in enumerate(snapshots):
        row = writer.pack(replace(snapshot, at=snapshot.at + number))
        assert row is not None
        key = row.data if row.base is None else key
        found.append(unpack(row.data, None if row.base is None else key))
    return found


@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
@given(estates(), estates())
def test_that_whatever_is_written_is_read(first: EstateSnapshot, second: EstateSnapshot) -> None:
    for read, at in zip(kept(first, second), (START, START + 1), strict=True):
        assert (read.at, read.hosts_total, read.hosts_answering) == (at, 7, 5)


def with_nodes(*nodes: NodeView) -> EstateSnapshot:
    return EstateSnapshot(START, (ClusterSnapshot("c", GALERA, "prod", START, nodes=nodes),), hosts_total=1)


@pytest.mark.parametrize("length", [MOST_WORD, 100_000])
def test_that_a_set_of_gtids_too_long_to_be_read_is_left_out_and_never_half_of_it(length: int) -> None:
    facts = NodeFacts("db1", START, replication=ReplicationFacts(gtid_executed="x" * length, gtid_binlog_pos="0-1-7"))
    (read,) = kept(with_nodes(NodeView("db1", "db1", "db1", reason="y" * length, facts=facts)))
    node = read.clusters[0].nodes[0]
    assert node.facts is not None
    assert node.facts.replication == ReplicationFacts(gtid_executed="", gtid_binlog_pos="0-1-7")
    assert node.reason.startswith("yyyy")
    assert node.reason.endswith("…")
    assert not read.problems


def test_that_members_that_only_others_name_are_left_out_before_hosts_are_and_that_it_is_said() -> None:
    strangers = (NodeView(f"member:{n}", f"q{n}") for n in range(MOST_NODES + 500))
    (read,) = kept(with_nodes(NodeView("db1", "db1", "db1", facts=NodeFacts("db1", START)), *strangers))
    assert [node.node_id for node in read.clusters[0].nodes] == ["db1"]
    assert read.clusters[0].nodes[0].facts is not None
    assert [problem.code for problem in read.problems] == ["left-out"]


def test_that_an_estate_whose_facts_fill_more_than_a_reader_takes_is_kept_without_them() -> None:
    rows = tuple(GaleraMember(f"{n:036x}", "n" * 400, "a" * 255) for n in range(1024))
    facts = NodeFacts("db1", START, galera=GaleraFacts(members=rows))
    (read,) = kept(with_nodes(*(NodeView(f"db{n}", f"db{n}", f"db{n}", facts=facts) for n in range(30))))
    assert [node.name for node in read.clusters[0].nodes] == [f"db{n}" for n in range(30)]
    assert {node.facts for node in read.clusters[0].nodes} == {None}
    assert [problem.code for problem in read.problems] == ["left-out"]


@pytest.mark.parametrize("at", [-1.0, float("nan"), float("inf"), 2 * LATEST])
def test_that_a_moment_that_no_reader_takes_is_not_written(at: float) -> None:
    assert SnapshotWriter(0.0, 1).pack(EstateSnapshot(at)) is None

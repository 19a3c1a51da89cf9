"""Who stands together in every drawing of a cluster, and how far a transfer is."""

from __future__ import annotations

import pytest

from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, Component, NodeView, ReplicationEdge, TransferEdge
from services.drawing.cluster import drawn_parts, transfer_fraction


def drawn(names: str, *components: Component, edges: tuple[ReplicationEdge, ...] = (), **own: str) -> list[str]:
    """Return each part as its names; `own`: the component that a node names itself."""
    nodes = tuple(NodeView(name, name, component=own.get(name, "")) for name in names.split())
    cluster = ClusterSnapshot("x", GALERA, "x", 0.0, nodes=nodes, components=components, replication=edges)
    return [" ".join(node.name for node in part.nodes) for part in drawn_parts(cluster)]


def test_that_the_majority_comes_first_and_names_are_in_their_natural_order() -> None:
    lesser, more = Component("l", False, ("n3",)), Component("m", True, ("n10", "n1", "n2"))
    assert drawn("n10 n3 n2 n1 n4", lesser, more) == ["n1 n2 n10", "n3", "n4"]


def test_that_a_node_s_own_view_decides_where_views_overlap() -> None:
    one, other = Component("a", True, ("n1", "n2")), Component("b", False, ("n2", "n3"))
    assert drawn("n1 n2 n3", one, other, n2="b") == ["n1", "n2 n3"]
    assert drawn("n1 n2 n3", one, other) == ["n1 n2", "n3"]


def test_that_no_part_is_empty_and_members_nobody_found_are_none() -> None:
    assert drawn("n1", Component("a", True, ("n1", "gone")), Component("b", False, ("gone",))) == ["n1"]
    assert drawn("") == []


def test_that_sources_stand_before_their_replicas() -> None:
    assert drawn("r1 r2 s1", edges=(ReplicationEdge("s1", "r1"), ReplicationEdge("s1", "r2"))) == ["s1 r1 r2"]


@pytest.mark.parametrize(
    ("edge", "share"),
    [
        (TransferEdge("a", "b", bytes_done=30, bytes_total=40), 0.75),
        (TransferEdge("a", "b", bytes_done=90, bytes_total=40), 1.0),
        (TransferEdge("a", "b", seqno_first=10, seqno_last=20, seqno_done=8), 0.0),
        (TransferEdge("a", "b", seqno_first=10, seqno_last=20, seqno_done=15), 0.5),
        (TransferEdge("a", "b", seqno_first=10, seqno_last=10, seqno_done=10), None),
        (TransferEdge("a", "b", bytes_done=5), None),
    ],
)
def test_that_the_share_of_a_transfer_is_told_where_it_can_be(edge: TransferEdge, share: float | None) -> None:
    assert transfer_fraction(edge) == share

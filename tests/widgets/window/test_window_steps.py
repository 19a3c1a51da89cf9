"""What a snapshot costs the window's thread grows with what is in it, never with its square."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtWidgets import QApplication

from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.types import Health, Reach
from tests.widgets import builders as b
from tests.widgets.steps import growth, steps
from widgets.inventory.tree_model import EstateModel
from widgets.topology.forest import place_forest
from widgets.topology.placement import place

MOST = 2.6
"""Twice as much takes so many times the steps; sorting and what is small beside it included. A square takes four."""


def _crowd(count: int) -> ClusterSnapshot:
    """Return a cluster of which a third is lost, and that many replicas behind it."""
    nodes = tuple(
        b.lost(node.name, "no answer", Health.UNKNOWN, "timed out") if at % 3 == 0 else node
        for at, node in enumerate(b.many(count).nodes)
    )
    behind = tuple(b.replica(f"r{at}", "db2") for at in range(count))
    edges = tuple(b.running("db2", node.name) for node in behind)
    made = b.galera(tuple(node for node in nodes if node.reach is not Reach.NONE))
    return replace(made, nodes=(*nodes, *behind), replication=edges)


def _singles(count: int, at: float = b.AT) -> EstateSnapshot:
    one = b.single()
    return replace(b.estate(*(replace(one, cluster_id=f"c{i}", name=f"n{i}") for i in range(count))), at=at)


def _next_snapshot(first: EstateSnapshot) -> Callable[[], object]:
    model = EstateModel()
    model.show_snapshot(first)
    return lambda: model.show_snapshot(replace(first, at=first.at + 1))


def test_that_the_steps_of_the_trees_next_snapshot_grow_with_nodes_and_edges(qapp: QApplication) -> None:
    del qapp
    assert growth(lambda count: _next_snapshot(b.estate(_crowd(count))), 100) < MOST


def test_that_the_steps_of_the_trees_next_snapshot_grow_with_clusters(qapp: QApplication) -> None:
    del qapp
    assert growth(lambda count: _next_snapshot(_singles(count)), 300) < MOST


def test_that_the_row_of_a_clusters_node_is_found_in_the_same_steps_in_any_estate(qapp: QApplication) -> None:
    del qapp

    def parent(count: int) -> Callable[[], object]:
        model = EstateModel()
        model.show_snapshot(_singles(count))
        node = model.index(0, 0, model.index(count - 1, 0))
        return lambda: model.parent(node)

    assert growth(parent, 50) == 1.0


def test_that_a_snapshot_that_the_tree_shows_already_costs_nothing(qapp: QApplication) -> None:
    del qapp
    model, shown = EstateModel(), b.estate(_crowd(50))
    model.show_snapshot(shown)
    assert steps(lambda: model.show_snapshot(shown)) < 50


def test_that_the_steps_to_place_a_torn_cluster_grow_with_its_nodes() -> None:
    assert growth(lambda count: lambda: place(_crowd(count)), 250) < MOST


def test_that_the_steps_to_centre_replicas_of_several_sources_grow_with_their_number() -> None:
    def forest(count: int) -> Callable[[], object]:
        names = [f"r{at}" for at in range(count)]
        edges = [(source, name) for name in names for source in ("a", "b")]
        return lambda: place_forest(["a", "b", *names], edges)

    assert growth(forest, 200) < MOST

"""Who reads whose oplog: an edge from the source to the member that follows it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.families.mongodb.numbers import lag_health, lag_of
from services.discovery.families.mongodb.places import Directory
from services.discovery.families.mongodb.views import SetOf
from services.discovery.model import ReplicationEdge
from services.discovery.nodes import Node
from services.facts.mongodb.replica_set import SetMember

OPLOG = "oplog"
"""What is read over these edges, and by what their lag is measured."""


def edges_of(sets: Sequence[SetOf]) -> tuple[ReplicationEdge, ...]:
    """Return an edge for each member that says whom it reads."""
    found: list[ReplicationEdge] = []
    for one in sets:
        directory = Directory(one.nodes)
        for view in one.views:
            own = view.set.own
            source = directory.node(own.syncs_from) if own is not None and own.syncs_from is not None else None
            if own is not None and source is not None and source is not view.observer:
                found.append(_edge(source, view.observer, one, own))
    return tuple(found)


def _edge(source: Node, replica: Node, one: SetOf, own: SetMember) -> ReplicationEdge:
    behind = lag_of(replica, one)
    return ReplicationEdge(
        source_id=source.node_id,
        replica_id=replica.node_id,
        channel=OPLOG,
        health=lag_health(behind, own),
        lag_s=None if behind is None else float(behind),
        lag_source=OPLOG if behind is not None else "",
        delay_s=own.delay_s or 0,
    )

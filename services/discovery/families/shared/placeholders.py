"""Members of a group that only others spoke of: put back from the last picture, for a night."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from services.discovery.model import EstateSnapshot, NodeView
from services.discovery.nodes import Node
from services.facts.reading import host_port
from services.types import ClusterKind

LOST_S = 8 * 3600.0
"""How long a member that nobody names any more is shown as lost: a night."""
MOST_LOST = 32
"""Such members of one cluster: a server that names others each time must not fill the picture with them."""


def carry_placeholders(
    clusters: Mapping[str, list[Node]],
    kinds: Collection[ClusterKind],
    previous: EstateSnapshot | None,
    at: float,
    places: Callable[[Node], Collection[str]] | None = None,
) -> None:
    """Put back the members that only others spoke of: one that nobody mentions any more is lost, not forgotten at once.

    Those lost first stay; after `LOST_S` they go, where a node of the cluster answers and could name them.

    Args:
        places: of a node, as members are named by each other: where several of a group are usual on one host, each is
            known by host and port. None: by its host alone.
    """
    if previous is None:
        return
    for old in previous.clusters:
        here = clusters.get(old.cluster_id)
        if here is None or old.kind not in kinds:
            continue
        taken = {u for node in here for u in node.history}
        taken |= {a for node in here for a in (node.addresses if places is None else places(node))}
        for view in _kept(old.nodes, at if any(node.sql_fresh for node in here) else None):
            host = host_port(view.address)[0]
            called = host if places is None else view.name
            if not view.node_id.startswith("member:") or called in taken or taken & set(view.uuid_history):
                continue
            here.append(
                Node(
                    node_id=view.node_id,
                    name=view.name,
                    facts=None,
                    at=at,
                    previous=view,
                    history=view.uuid_history,
                    cluster=old.cluster_id,
                    address=view.address,
                    arbitrator=view.role == "arbitrator",
                    addresses=frozenset({host} if host else set()),
                )
            )


def _kept(views: Sequence[NodeView], at: float | None) -> list[NodeView]:
    """Return the nodes that only others spoke of: those named a moment ago, and of the lost the first ones.

    `at`: now; None where nobody answers, who could name them, and so none is too old.
    """
    spoken = [view for view in views if not view.host]
    lost = sorted((v for v in spoken if not v.seen_by), key=lambda view: view.state_since or 0.0)
    young = [v for v in lost if at is None or v.state_since is None or at - v.state_since <= LOST_S]
    return [view for view in spoken if view.seen_by] + young[:MOST_LOST]

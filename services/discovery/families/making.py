"""What the clusters of one snapshot are made from, and the card of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from services.discovery.families.shared.channels import Link
from services.discovery.judgement.judge import Around, Own, serving, verdict
from services.discovery.judgement.states import State
from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView
from services.discovery.nodes import Node
from services.i18n import mark
from services.types import Health, Reach

Rates = Mapping[str, Mapping[str, float]]
Numbers = tuple[tuple[str, str, Health], ...]


@dataclass(frozen=True, slots=True)
class Card:
    """What a family says of a node: its role, the numbers on its card, and the metric of its small curve."""

    role: str
    numbers: Numbers
    spark: str


@dataclass(slots=True)
class Making:
    """What every cluster of one snapshot is made from.

    Attributes:
        links: every channel; rates: host key -> derived rates; names: host key or cluster id -> a person's name for it.
    """

    previous: EstateSnapshot | None
    links: Sequence[Link]
    rates: Rates
    names: Mapping[str, str]
    at: float
    before: Mapping[str, NodeView] = field(init=False)

    def __post_init__(self) -> None:
        """Index the last picture."""
        self.before = {n.node_id: n for c in self.previous.clusters for n in c.nodes} if self.previous else {}

    def old(self, cluster_id: str) -> ClusterSnapshot | None:
        """Return a cluster as it was."""
        return self.previous.cluster(cluster_id) if self.previous is not None else None

    def recall(self, nodes: Sequence[Node]) -> None:
        """Give placeholders their past: hosts got theirs by identity."""
        for node in nodes:
            if node.previous is None:
                node.previous = self.before.get(node.node_id)

    def links_of(self, nodes: Sequence[Node]) -> list[Link]:
        """Return the channels that begin or end at one of these nodes."""
        ids = {n.node_id for n in nodes}
        return [li for li in self.links if li.replica.node_id in ids or li.source.node_id in ids]

    def view(self, node: Node, around: Around, card: Card, own: Own = serving) -> NodeView:
        """Return the node, judged; `own`: how its family judges one that speaks for itself."""
        judged = verdict(node, around, own)
        bare = NodeView(
            node_id=node.node_id,
            name=self.names.get(node.node_id) or node.name,
            host=node.host,
            address=node.address,
            role=SPARE if node.spare else card.role,
            component=node.component,
            segment=node.segment,
            reach=node.reach,
            numbers=card.numbers,
            seen_by=tuple(sorted(set(node.seen_by))),
            uuid_history=node.history,
            spark_metric=card.spark if node.host else "",
            facts=node.facts,
        )
        return self.told(bare, judged.state, judged.health, judged.reason)

    def told(self, view: NodeView, state: State, health: Health, reason: str) -> NodeView:
        """Return the view with its judgement; a state that is the same as before keeps its beginning."""
        before = self.before.get(view.node_id)
        same = before is not None and before.state == state.word
        begun = before.state_since if same and before is not None else self.at
        watched = before.watched_since if before is not None else None
        if watched is None and view.reach is not Reach.NOT_TRIED:
            watched = self.at
        told = replace(view, state=state.word, code=state.code, health=health, reason=reason)
        return replace(told, state_since=begun, watched_since=watched)


def role_of(node: Node) -> str:
    """Return the role of a server by its own switches: 'read only', a value that is not known as it is, else ''.

    A reader of Aurora has InnoDB's switch alone: innodb_read_only ON, read_only OFF.
    """
    server = node.server
    if server is None:
        return ""
    if server.read_only or server.super_read_only or server.engine_read_only:
        return mark("read only")
    if server.read_only_word:
        return f"read_only {server.read_only_word}"
    if server.forced_recovery:
        return f"innodb_force_recovery {server.forced_recovery}"
    return "offline_mode" if server.offline else "transaction_read_only" if server.session_read_only else ""

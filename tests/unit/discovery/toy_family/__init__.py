"""A family of systems that nobody has: a folder, and nothing else of the program knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from services.discovery.families.making import Card, Making, role_of
from services.discovery.families.port import Agreement, Lead, Parts
from services.discovery.families.shared.channels import Link
from services.discovery.families.shared.claiming import Membership, claimed
from services.discovery.families.shared.plain import Plain
from services.discovery.judgement.judge import Around, Judgement
from services.discovery.judgement.states import State
from services.discovery.model import ClusterSnapshot, Component, EstateSnapshot
from services.discovery.nodes import Node
from services.facts.model import NodeFacts, Problem
from services.types import VOTES, ClusterKind, Health

TOY = ClusterKind(
    "TOY", "toy cluster", short="Toy", identity="box {uuid}", inside="Box", outside="Floor", traits=frozenset({VOTES})
)


def _setting(facts: NodeFacts, name: str) -> str:
    return dict(facts.server.variables).get(name, "") if facts.server is not None else ""


def _box(facts: NodeFacts) -> str:
    return _setting(facts, "toy_box")


def _others(facts: NodeFacts) -> list[str]:
    return [name for name in _setting(facts, "toy_others").split(",") if name]


def _judged(_node: Node, _around: Around) -> Judgement:
    return Judgement(State("playing", "playing"), Health.GOOD)


class Toy(Plain):
    """Servers with a box are one cluster a box."""

    kinds = (TOY,)

    def leads(self, facts: NodeFacts) -> Iterator[Lead]:
        yield from (Lead(name) for name in _others(facts))

    def fellows(self, facts: NodeFacts) -> list[str]:
        return _others(facts)

    def home(self, facts: NodeFacts) -> str:
        return _box(facts)

    def claims(self, nodes: Sequence[Node], previous: EstateSnapshot | None, _at: float) -> dict[str, list[Node]]:
        how = Membership(self.kinds, _box, lambda facts: bool(_box(facts)), _others, "toy")
        return claimed(nodes, previous, how)

    def takes(self, _members: Sequence[Node], _links: Sequence[Link]) -> ClusterKind | None:
        return None

    def parts(self, cluster_id: str, members: list[Node], making: Making) -> Parts:
        shown = []
        for node in members:
            node.component = "box"
            shown.append(making.view(node, Around(), Card(role_of(node), (), ""), _judged))
        ids = tuple(sorted(node.node_id for node in members))
        box = Component("box", True, ids, ids, len(ids), len(ids), 0, size=len(ids))
        return Parts(members, tuple(shown), (), (box,), Agreement(sentence=f"Box {cluster_id}"))

    def name(self, cluster_id: str, _nodes: Sequence[Node], _making: Making) -> str:
        return f"box {cluster_id}"

    def problems(self, name: str, parts: Parts) -> Sequence[Problem]:
        return [Problem("toy", f"{name} is alone", "toy-alone")] if len(parts.nodes) == 1 else []

    def size(self, cluster: ClusterSnapshot) -> int:
        return len(cluster.nodes)

    def missing(self, _cluster: ClusterSnapshot, told: Mapping[str, str]) -> str:
        return f"{told['size']} of {told['nodes']} in the box"

"""What families without a group answer alike: nobody votes, and what is known of a cluster is what its servers say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from services.discovery.families.making import Making
from services.discovery.families.port import Agreement, Lead, Lent, Parts, QuorumWords
from services.discovery.families.shared.channels import edges_of
from services.discovery.families.shared.replicas import replica_view
from services.discovery.families.shared.trees import root_of
from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView
from services.discovery.nodes import Node
from services.discovery.words import listing, names
from services.discovery.written import written_name
from services.facts.model import NodeFacts, Problem
from services.i18n import tr
from services.types import Health, Reach, worst


class Plain:
    """The answers of a family that has no group."""

    def speaks(self, _facts: NodeFacts) -> bool:
        """Return True: it is asked of every host."""
        return True

    def leads(self, _facts: NodeFacts) -> Iterable[Lead]:
        """Return nobody."""
        return ()

    def fellows(self, _facts: NodeFacts) -> Iterable[str]:
        """Return nobody."""
        return ()

    def home(self, _facts: NodeFacts) -> str:
        """Return '': who belongs together is told by the channels alone."""
        return ""

    def live_id(self, _facts: NodeFacts) -> tuple[str, ...]:
        """Return (): there is no group in which it could have one."""
        return ()

    def told(self, _facts: NodeFacts) -> tuple[object, ...]:
        """Return nothing."""
        return ()

    def addresses(self, _facts: NodeFacts) -> Iterable[str]:
        """Return none."""
        return ()

    def segment(self, _facts: NodeFacts) -> int | None:
        """Return None."""
        return None

    def sampled(self, _facts: NodeFacts) -> Mapping[str, float]:
        """Return nothing."""
        return {}

    def lent(self, _facts: NodeFacts) -> Lent | None:
        """Return None."""
        return None

    def moving(self, _facts: NodeFacts) -> bool:
        """Return False."""
        return False

    def lost(self, _old: NodeFacts, _new: NodeFacts, _name: str) -> str:
        """Return ''."""
        return ""

    quorum_words = QuorumWords()

    def claims(self, _nodes: Sequence[Node], _previous: EstateSnapshot | None, _at: float) -> dict[str, list[Node]]:
        """Return nothing: it takes what no group claims."""
        return {}

    def parts(self, cluster_id: str, members: list[Node], making: Making) -> Parts:
        """Return a tree, or the servers that stand alone."""
        making.recall(members)
        if written_name(cluster_id):  # a list of a person's: in the order of its names
            members = sorted(members, key=lambda node: node.name.lower())
        shown = tuple(replica_view(node, making) for node in members)
        answering = sorted(n.name for n in members if n.sql_fresh)
        spoken = {n.speaks for n in members}
        nobody = tr("No server answers over SQL") if spoken <= {"SQL"} else tr("No database server answers")
        sentence = tr("Seen from {names}", names=listing(answering)) if answering else nobody
        edges = edges_of(making.links_of(members), making.rates)
        return Parts(members, shown, edges, agreement=Agreement(sentence=sentence))

    def name(self, cluster_id: str, nodes: Sequence[Node], making: Making) -> str:
        """Return the name that it is written under, else its root's."""
        return written_name(cluster_id) or root_of(nodes, making.links).name

    def problems(self, _name: str, _parts: Parts) -> Sequence[Problem]:
        """Return nothing: there is no group that could be ill."""
        return ()

    def health(self, parts: Parts) -> Health:
        """Return the worst of the nodes."""
        return worst(tuple(n.health for n in parts.shown if n.role != SPARE))

    def silent(self, _nodes: Sequence[Node]) -> Sequence[Node]:
        """Return nobody: no silent server changes what the others are."""
        return ()

    def size(self, cluster: ClusterSnapshot) -> int | None:
        """Return the servers that answer, and those of which nothing is known: only what is known to be gone is gone.

        Where no host answers nobody can tell.
        """
        if all(node.reach in {Reach.NONE, Reach.NOT_TRIED} for node in cluster.nodes):
            return None
        return sum(not _gone(node) and node.role != SPARE for node in cluster.nodes)

    def missing(self, cluster: ClusterSnapshot, told: Mapping[str, str]) -> str:
        """Return how many there are, and on which hosts no server runs."""
        absent = sorted(n.name for n in cluster.nodes if _gone(n))
        who = tr(": no server on {names}", names=names(absent)) if absent else ""
        return tr("There are {size} of the {nodes} expected by the inventory{who}.", who=who, **told)


def _gone(node: NodeView) -> bool:
    return node.health is Health.BAD and node.reach not in {Reach.FULL, Reach.SQL_ONLY}

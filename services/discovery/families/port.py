"""What discovery asks of a family of systems: to add one is to add a folder that answers this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from services.discovery.families.making import Making
from services.discovery.families.shared.channels import Link
from services.discovery.model import (
    ClusterSnapshot,
    Component,
    EstateSnapshot,
    NodeView,
    ObserverView,
    ReplicationEdge,
    TransferEdge,
)
from services.discovery.nodes import Node
from services.facts.model import NodeFacts, Problem
from services.i18n import mark
from services.types import ClusterKind, Health


@dataclass(frozen=True, slots=True)
class Lead:
    """Somebody named this address.

    Attributes:
        sure: a member or channel of now, not only a line in a configuration.
        port: where that server listens; None: as the one that names it, and one server a host is looked for.
    """

    address: str
    name: str = ""
    sure: bool = True
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether the observers agree, as a sentence and as the views behind it."""

    agree: bool = True
    sentence: str = ""
    views: tuple[ObserverView, ...] = ()


@dataclass(frozen=True, slots=True)
class Lent:
    """Up to which position a server has its data, from which on it keeps write sets to lend, and in how many bytes.

    `gives`: it may be chosen to lend now. `written_by`: the counters, in bytes, whose sum fills that place.
    """

    position: int | None = None
    kept_from: int | None = None
    room: int | None = None
    gives: bool = False
    written_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuorumWords:
    """What is said of the part of a cluster that has the majority, in the vendor's words; sentences are marked.

    Attributes:
        two: {name} and {sides}; none: of {name}, all of it heard; unheard: the same where a member is silent.
        apart: of a member of one of two such parts, {names} are in the other.
    """

    two: str = mark("{name}: two parts accept writes separately: {sides}")
    none: str = mark("{name} has no part with a majority")
    unheard: str = mark("{name}: none of the nodes that answer is in a part with a majority")
    apart: str = mark("another part accepts writes separately from this one: {names}")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a family makes of the nodes of one of its clusters. `nodes`: all of them, those only spoken of included."""

    nodes: Sequence[Node]
    shown: tuple[NodeView, ...]
    edges: tuple[ReplicationEdge, ...]
    components: tuple[Component, ...] = ()
    agreement: Agreement = field(default_factory=Agreement)
    transfers: tuple[TransferEdge, ...] = ()


class Family(Protocol):
    """One family. Every method is pure."""

    @property
    def kinds(self) -> tuple[ClusterKind, ...]:
        """Return the kinds of cluster that it declares."""

    def speaks(self, facts: NodeFacts) -> bool:
        """Return whether a host tells anything that this family reads: nothing else is asked of another's facts.

        Known before the family is loaded (builtin.py), as its kinds are.
        """

    def leads(self, facts: NodeFacts) -> Iterable[Lead]:
        """Return whom a host names, as far as this family reads it."""

    def fellows(self, facts: NodeFacts) -> Iterable[str]:
        """Return the addresses that a host names as those of members of its group."""

    def home(self, facts: NodeFacts) -> str:
        """Return the id of the cluster that a host says it is in, '' where it says none."""

    def live_id(self, facts: NodeFacts) -> tuple[str, ...]:
        """Return what no other running server has while it is in its group, the id last; () where it tells none."""

    def told(self, facts: NodeFacts) -> tuple[object, ...]:
        """Return what a server says of itself in its group: two answers of one server differ in none of it.

        Always of one length; None for what was not read.
        """

    def addresses(self, facts: NodeFacts) -> Iterable[str]:
        """Return the names and addresses by which a server is known in its group."""

    def segment(self, facts: NodeFacts) -> int | None:
        """Return the segment of its group that a server is in, None where it tells none."""

    def sampled(self, facts: NodeFacts) -> Mapping[str, float]:
        """Return the numbers of its group that are sampled beside the server's status."""

    def lent(self, facts: NodeFacts) -> Lent | None:
        """Return what a server could lend one that was away, None where it lends nothing or does not tell."""

    def moving(self, facts: NodeFacts) -> bool:
        """Return whether a server that answers may be in a state transfer."""

    def lost(self, old: NodeFacts, new: NodeFacts, name: str) -> str:
        """Return that the server called so gave up some of its data between two answers, '' where it tells of none."""

    @property
    def quorum_words(self) -> QuorumWords:
        """Return what its part with the majority is called."""

    def claims(self, nodes: Sequence[Node], previous: EstateSnapshot | None, at: float) -> dict[str, list[Node]]:
        """Return cluster id -> nodes of this family's groups, and note it in them; what is lost is put back."""

    def takes(self, members: Sequence[Node], links: Sequence[Link]) -> ClusterKind | None:
        """Return of which kind nodes are that no family claims, None where they are none of this one's.

        Of a group that it claims itself: which of its kinds that is, None for the first.
        """

    def parts(self, cluster_id: str, members: list[Node], making: Making) -> Parts:
        """Return everything of one cluster that is drawn."""

    def name(self, cluster_id: str, nodes: Sequence[Node], making: Making) -> str:
        """Return what a cluster is called that no person named."""

    def problems(self, name: str, parts: Parts) -> Sequence[Problem]:
        """Return what is wrong with the cluster as a group, the gravest first."""

    def health(self, parts: Parts) -> Health:
        """Return how the cluster is as a whole."""

    def silent(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """Return the nodes that may be the cluster, for all that is known of them."""

    def size(self, cluster: ClusterSnapshot) -> int | None:
        """Return how many nodes the cluster has now; None when nobody can tell."""

    def missing(self, cluster: ClusterSnapshot, told: Mapping[str, str]) -> str:
        """Return the sentence of a cluster that is smaller than it should be; `told`: {size} and {nodes} in words."""

"""The topology as an immutable value: clusters, nodes, components (quorum), edges, and who saw what."""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.discovery.judgement.states import BY_WORD
from services.facts.model import NodeFacts, Problem
from services.i18n import mark, tr
from services.types import ALONE, NOT_KNOWN, ONLY_NAMED, ClusterKind, Flavour, Health, Reach


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node of the drawing, judged.

    Attributes:
        node_id: stable identity across restarts: server uuid, or the history of gcomm uuids tied to one host.
        state: the vendor's own word ("Synced", "Donor/Desynced", "non-Primary", "replica running", "no answer").
        code: what is compared of the state (states.py); '' in a recording of before there were codes.
        reason: one sentence when the state is not simply good: what, since when, seen by whom.
        numbers: up to three (label, value text, health) that matter for this kind of node, in card order.
        state_since, watched_since: when this state was first seen, and when the first look at it ended.
        seen_by: node ids (observers) whose view has this node as a member.
        facts: the last facts, possibly old: compare `facts.at` with the snapshot's `at`.
        on_purpose: by which step a run moves the node now ("run 47, step 7 of 42"), '' while none does.
    """

    node_id: str
    name: str
    host: str = ""
    address: str = ""
    state: str = ""
    health: Health = Health.UNKNOWN
    role: str = ""
    reason: str = ""
    state_since: float | None = None
    watched_since: float | None = None
    component: str = ""
    segment: int | None = None
    reach: Reach = Reach.NOT_TRIED
    numbers: tuple[tuple[str, str, Health], ...] = ()
    seen_by: tuple[str, ...] = ()
    uuid_history: tuple[str, ...] = ()
    spark_metric: str = ""
    facts: NodeFacts | None = None
    on_purpose: str = ""
    code: str = ""


FIRST_ANSWERS_S = 3.0
"""The first facts of a host come in parts: a state set within these seconds is what was found, not a change."""


def was_so_before(node: NodeView) -> bool:
    """Return whether the node's state is older than the watching of it, nobody knows by how much."""
    if node.state_since is None or node.watched_since is None:
        return False
    return node.state_since <= node.watched_since + FIRST_ANSWERS_S


@dataclass(frozen=True, slots=True)
class Component:
    """A set of nodes that see one another: the Primary Component or an island.

    Attributes:
        votes: summed pc.weight of the members seen (usable); votes_known: of all known members of the cluster.
        may_lose: how many more nodes may fail at a time before quorum is lost; None when not primary, or not known.
        members: node ids, drawn inside; observers: node ids whose own view this is.
        size: members that the group counts, those included that nobody can name.
        title: which group of the cluster it is, where one has several ("shard rs0"); '' else.
        absent: of the first part of each of several groups: members of the group that are in no part of it.
    """

    component_id: str
    primary: bool
    members: tuple[str, ...]
    observers: tuple[str, ...] = ()
    votes: int = 0
    votes_known: int = 0
    may_lose: int | None = None
    view_id: str = ""
    segments: tuple[int, ...] = ()
    flow_control_by: tuple[str, ...] = ()
    size: int = 0
    title: str = ""
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplicationEdge:
    """One channel: (replica, channel, source), a key from day one so that multi-source never overwrites."""

    source_id: str
    replica_id: str
    channel: str = ""
    health: Health = Health.UNKNOWN
    io_running: str = ""
    sql_running: str = ""
    lag_s: float | None = None
    lag_source: str = ""  # "heartbeat", "seconds behind"
    gtid_gap: int | None = None
    delay_s: int | None = 0
    reason: str = ""
    semi_sync: bool | None = None  # the replica acknowledges commits; None: it need not, or nobody can tell


ONE_TRANSFER_S = 15.0
"""Beginnings of one pair nearer than this are of one transfer, as told by the states first and by a log later."""


@dataclass(frozen=True, slots=True)
class TransferEdge:
    """Donor to joiner while a state transfer runs (`active`) or right after.

    `bytes_total` of an SST is an estimate: what the donor's data disk holds now.
    """

    donor_id: str
    joiner_id: str
    kind: str = ""  # SST, IST, '' unknown yet
    method: str = ""
    since: float | None = None
    bytes_done: int | None = None
    bytes_total: int | None = None
    rate: float | None = None  # bytes/s
    seqno_done: int | None = None
    seqno_first: int | None = None
    seqno_last: int | None = None
    eta_s: float | None = None
    active: bool = True
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class ObserverView:
    """What one group of observers agrees on: used to say who sees whom."""

    observers: tuple[str, ...]
    members: tuple[str, ...]
    primary: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class ClusterReach:
    """How long any one node may be away and still return by IST: what the second best donor promises.

    The best donor may be the node that goes. `seconds` has the margin taken off and is None when unknown (`reason` says
    why); `donor`: whose promise it is, a node id; `donors`: of how many it is known.
    """

    seconds: float | None = None
    donor: str = ""
    donors: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """One cluster at one moment.

    Attributes:
        ist_reach: known while it is watched, not from a single look.
        expected: nodes it should have by the inventory, None when that says nothing; size: nodes it has, None unknown.
        silent: ids of Galera nodes of which nothing is known now: no answer over SQL, and no host says that no server
            runs. Each may be a Primary Component of its own.
    """

    cluster_id: str
    kind: ClusterKind
    name: str
    at: float
    flavour: Flavour = Flavour.UNKNOWN
    version: str = ""
    nodes: tuple[NodeView, ...] = ()
    components: tuple[Component, ...] = ()
    replication: tuple[ReplicationEdge, ...] = ()
    transfers: tuple[TransferEdge, ...] = ()
    views: tuple[ObserverView, ...] = ()
    observers_agree: bool = True
    agreement: str = ""  # "Seen from db1, db2, db3 (they agree)"
    health: Health = Health.UNKNOWN
    problems: tuple[Problem, ...] = ()
    ist_reach: ClusterReach | None = None
    expected: int | None = None
    size: int | None = None
    silent: tuple[str, ...] = ()

    def node(self, node_id: str) -> NodeView | None:
        """Return the node with this id, or None."""
        return next((n for n in self.nodes if n.node_id == node_id), None)


@dataclass(frozen=True, slots=True)
class Unasked:
    """A host that somebody names and that nobody said may be asked (services/inventory/trust.py): no secret goes there.

    Attributes:
        address: an IP address or a host's name; name: what the group calls it, the address where nobody calls it.
        port: where one host may have several such servers; None: the host's only one.
        by: inventory hosts or found ones that name it, in the order in which they did (in a snapshot by what they are
            called); ways_of: the host or instance of the inventory whose ways in would be used.
        sure: a member or channel of now; False for what only stands in somebody's configuration.
    """

    address: str
    name: str
    by: tuple[str, ...]
    ways_of: str
    sure: bool = True
    port: int | None = None

    @property
    def place(self) -> str:
        """Return what it is told by from all others: its address, with the port where there is one."""
        return place_of(self.address, self.port)


def place_of(host: str, port: int | None) -> str:
    """Return "host:port" ("[::1]:port"), the host alone without a port."""
    if port is None:
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True, slots=True)
class EstateSnapshot:
    """Everything the console knows at one moment; the window draws this and nothing else.

    `inventory`: in a history, a mark of the inventory's file that was watched; '' where that was not kept.
    """

    at: float
    clusters: tuple[ClusterSnapshot, ...] = ()
    problems: tuple[Problem, ...] = ()
    hosts_total: int = 0
    hosts_answering: int = 0
    unasked: tuple[Unasked, ...] = ()
    inventory: str = ""

    def cluster(self, cluster_id: str) -> ClusterSnapshot | None:
        """Return the cluster with this id, or None."""
        return next((c for c in self.clusters if c.cluster_id == cluster_id), None)


def with_codes(snapshot: EstateSnapshot) -> EstateSnapshot:
    """Return a snapshot of before nodes had codes with those that their words tell; any other as it is."""
    if not any(node.state in BY_WORD and not node.code for c in snapshot.clusters for node in c.nodes):
        return snapshot
    clusters = (
        replace(c, nodes=tuple(replace(n, code=n.code or BY_WORD.get(n.state, "")) for n in c.nodes))
        for c in snapshot.clusters
    )
    return replace(snapshot, clusters=tuple(clusters))


def stands_alone(cluster: ClusterSnapshot) -> bool:
    """Return whether it is one host that nobody ties to any other, whatever it may turn out to be."""
    return ALONE in cluster.kind.traits or (NOT_KNOWN in cluster.kind.traits and len(cluster.nodes) == 1)


def grave_problems(cluster: ClusterSnapshot) -> tuple[tuple[Health, str], ...]:
    """Return what its family finds wrong with the cluster as a whole, and how bad: no node may show any of it."""
    gravity = cluster.kind.gravity
    return tuple((gravity[problem.code], problem.sentence) for problem in cluster.problems if problem.code in gravity)


def nobody_answered(cluster: ClusterSnapshot) -> bool:
    """Return whether no host of it ever gave an answer, over any way, as far as its facts reach back."""
    silent = (node.reach in {Reach.NONE, Reach.NOT_TRIED} for node in cluster.nodes)
    unheard = (node.facts is None or node.facts.sql_at is node.facts.ssh_at is None for node in cluster.nodes)
    return all(silent) and all(unheard)


def _runs_none(node: NodeView) -> bool:
    """Return whether a host says that no server runs there, and none was ever heard there."""
    facts = node.facts
    if facts is None or facts.machine is None or facts.server is not None or facts.mongo is not None:
        return False
    return facts.machine.server_state == ""


def kind_words(cluster: ClusterSnapshot) -> str:
    """Return what is said of its kind: of one host no server of which was ever heard, that it is not known.

    One that runs no server may be a spare as well as a member of a cluster that is down: its files say so, and they are
    read by procedures, not for the picture.
    """
    if NOT_KNOWN in cluster.kind.traits and stands_alone(cluster) and nobody_answered(cluster):
        return tr("type not known: no host answered")
    if ONLY_NAMED not in cluster.kind.traits and stands_alone(cluster) and all(map(_runs_none, cluster.nodes)):
        return tr("type not known: no server runs")
    return tr(cluster.kind.words)


SPARE = mark("spare")
"""Role of a host that is written into a cluster and waits to be used: it runs no server, and never was seen to."""
IST_REACH = mark("IST reach")
"""Label of the number by that name: the English of a label is what the number is known by."""
ARBITRATOR = mark("arbitrator")
"""Role of a member that votes and holds no data."""
NO_PRIMARY = "no-primary"
"""Code of the problem of a cluster without a Primary Component, every node of it heard."""
NO_PRIMARY_HEARD = "no-primary-heard"
"""Code of the problem of a cluster none of whose answering nodes is Primary, while others are silent."""
ALL_DOWN = "all-down"
"""Code of the problem of a cluster all of whose hosts say that no server runs."""
TWO_PRIMARIES = "two-primaries"
"""Code of the problem of a cluster while two of its Primary Components are seen."""
NOT_SETTLED = "two-primaries-not-settled"
"""Code of the problem of a cluster (or of the estate) once they were seen, until a person settles it."""


@dataclass(frozen=True, slots=True)
class PrimariesApart:
    """Two (or more) Primary Components of one state UUID that don't know each other.

    Attributes:
        at: when the last of them answered (UTC epoch seconds); sides: the hosts of each, sorted; evidence: by what.
    """

    cluster_uuid: str
    cluster_name: str
    at: float
    sides: tuple[tuple[str, ...], ...]
    evidence: str


@dataclass(frozen=True, slots=True)
class NotSettled:
    """A sighting that no person has settled yet. `number`: what the store calls it."""

    number: int
    cluster_uuid: str
    cluster_name: str
    sides: tuple[tuple[str, ...], ...]
    first_seen: float
    last_seen: float
    evidence: str


def left_out() -> Problem:
    """Return what is told of a moment of which a history keeps a part only."""
    text = tr("This moment was too large to store completely: some nodes or their values are missing here.")
    return Problem("history", text, "left-out")

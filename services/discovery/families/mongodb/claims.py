"""Which processes are of one replica set, which sets, config servers and mongos of one sharded cluster; whom they name.

A set has an id in its configuration (3.2 and newer), a sharded cluster one in its metadata: names alone tie nothing.
Which set is a shard of which cluster, the cluster says (config.shards), and a shard's server by the config servers that
it uses. Whoever is down stays where it was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from services.discovery.families.mongodb.kind import REPLICA_SET, SHARDED
from services.discovery.families.mongodb.places import facts_of, hosts_of
from services.discovery.families.port import Lead
from services.discovery.model import EstateSnapshot
from services.discovery.nodes import Node
from services.facts.model import NodeFacts
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.replica_set import ReplicaSet
from services.facts.mongodb.server import MongoServer
from services.facts.mongodb.sharding import ShardedCluster
from services.facts.mongodb.values import Place
from services.inventory.kinds import MONGODB


def set_id(view: ReplicaSet) -> str:
    """Return what no other set is called: its id, without one its name and its first member's."""
    return view.id or f"{view.name}@{min(hosts_of(m.place for m in view.members), default='')}"


def unread_id(server: MongoServer) -> str:
    """Return what a set is called of which a member's greeting is known alone, '' for none: nobody says its id."""
    return f"{server.set_name}@{min(server.fellows, default=server.host)}" if server.set_name else ""


def home(facts: NodeFacts | None) -> str:
    """Return the id of the cluster that a process says it is in: of a sharded one before that of its own set."""
    mongo = facts.mongo if facts is not None else None
    if mongo is None:
        return ""
    if mongo.cluster is not None and mongo.cluster.id:
        return mongo.cluster.id
    return set_id(mongo.set) if mongo.set is not None and not mongo.server.shard else ""


def own_set(facts: NodeFacts | None) -> str:
    """Return the id of the set that a process says it is in, '' for none: of a shard's too, that is seen as a cluster
    of its own where nobody tells of the sharded one."""
    mongo = facts.mongo if facts is not None else None
    return set_id(mongo.set) if mongo is not None and mongo.set is not None else ""


def places(mongo: MongoFacts) -> Iterator[tuple[Place, bool]]:
    """Yield whom a process names, and whether it is one of now."""
    if mongo.set is not None:
        yield from ((member.place, True) for member in mongo.set.members if not member.own)
    cluster = mongo.cluster
    if cluster is None:
        return
    yield from ((place, True) for place in cluster.config.places)
    yield from ((place, True) for shard in cluster.shards or () for place in shard.hosts.places)
    for router in cluster.routers or ():
        yield router.name, router.alive(mongo.server.at) is True


def leads(facts: NodeFacts) -> Iterator[Lead]:
    """Yield whom a process names, each by host and port."""
    if facts.mongo is not None:
        for place, sure in places(facts.mongo):
            yield Lead(place.host or place.name, place.name, sure=sure, port=place.port)


def claims(nodes: Sequence[Node], previous: EstateSnapshot | None) -> dict[str, list[Node]]:
    """Return cluster id -> nodes of every process of MongoDB that is in a set or a sharded cluster, noted in them."""
    found = _Claims(nodes, previous)
    for members in found.clusters.values():
        members.sort(key=lambda n: (n.facts is None, n.name.lower(), n.node_id))
    for cluster_id, members in found.clusters.items():
        for node in members:
            node.cluster = cluster_id
    return found.clusters


class _Claims:
    """One grouping; sets first, then what ties them to a sharded cluster, then who is silent."""

    def __init__(self, nodes: Sequence[Node], previous: EstateSnapshot | None) -> None:
        self.clusters: dict[str, list[Node]] = {}
        kinds = (REPLICA_SET, SHARDED)
        before = previous.clusters if previous is not None else ()
        self._before = {n.node_id: c.cluster_id for c in before if c.kind in kinds for n in c.nodes}
        pairs = [(node, facts) for node in nodes if (facts := facts_of(node)) is not None]
        sets: dict[str, list[tuple[Node, ReplicaSet]]] = {}
        for node, facts in pairs:
            if facts.set is not None:
                sets.setdefault(set_id(facts.set), []).append((node, facts.set))
        owner = _owners(pairs, sets)
        for key, members in sets.items():
            nodes_of = [node for node, _ in members]
            self._put(owner.get(key) or self._last(nodes_of, SHARDED, previous) or key, nodes_of)
        for node, facts in pairs:
            if facts.set is None:
                own = home(node.facts) or self._before.get(node.node_id, "")
                if facts.server.role == "standalone" and not facts.server.config:
                    own = self._counted(node)  # it says nothing of a set: whose members name it?
                elif facts.server.role == "member":
                    # An arbiter under access control tells nobody its set; an account without rights is told none.
                    own = own or self._counted(node) or unread_id(facts.server)
                if own:
                    self._put(own, [node])
        self._silent(nodes)

    def _put(self, cluster_id: str, nodes: Sequence[Node]) -> None:
        self.clusters.setdefault(cluster_id, []).extend(nodes)

    def _last(self, nodes: Sequence[Node], kind: object, previous: EstateSnapshot | None) -> str:
        """Return the cluster of a kind in which these nodes were seen last, '' for none."""
        ids = {c.cluster_id for c in previous.clusters if c.kind == kind} if previous is not None else set()
        return next((old for n in nodes if (old := self._before.get(n.node_id, "")) in ids and old), "")

    def _counted(self, node: Node) -> str:
        """Return the cluster whose members name this server by its address and port, '' for none."""
        for cluster_id, members in self.clusters.items():
            for member in members:
                facts = facts_of(member)
                named = facts.set.members if facts is not None and facts.set is not None else ()
                if any(one.place.host in node.addresses and one.place.port == node.port for one in named):
                    return cluster_id
        return ""

    def _silent(self, nodes: Sequence[Node]) -> None:
        """Put whoever tells nothing where it was, else where members speak of its address."""
        spoken = {
            place.host: cluster_id
            for cluster_id, members in self.clusters.items()
            for node in members
            if (facts := facts_of(node)) is not None
            for place, _ in places(facts)
        }
        for node in nodes:
            if node.facts is None or node.facts.mongo is not None or node.facts.server is not None:
                continue
            if node.facts.speaks != MONGODB.speaks:
                continue  # a silent server of another kind, at an address that a member names
            said = next((spoken[a] for a in sorted(node.addresses) if a in spoken), "")
            cluster_id = self._before.get(node.node_id) or said
            if cluster_id:
                self._put(cluster_id, [node])


def _owners(
    told: Sequence[tuple[Node, MongoFacts]], sets: Mapping[str, Sequence[tuple[Node, ReplicaSet]]]
) -> dict[str, str]:
    """Return set id -> id of the sharded cluster that it is a part of."""
    clusters = [facts.cluster for _, facts in told if facts.cluster is not None and facts.cluster.id]
    by_name = {key: cluster.id for cluster in clusters for key in _sets_named(cluster)}
    by_config = {place.name: cluster.id for cluster in clusters for place in cluster.config.places}
    found: dict[str, str] = {}
    for key, members in sets.items():
        own = next((home(node.facts) for node, _ in members if _has_metadata(node)), "")
        view = members[0][1]
        named = (by_name.get((view.name, member.place.name)) for member in view.members)
        used = (by_config.get(place) for place in _used(node for node, _ in members))
        cluster_id = own or next((one for one in (*named, *used) if one is not None), "")
        if cluster_id:
            found[key] = cluster_id
    return found


def _sets_named(cluster: ShardedCluster) -> Iterator[tuple[str, str]]:
    """Yield (set, member) of each set that a cluster has as a shard, or as its config servers."""
    for one in (cluster.config, *(shard.hosts for shard in cluster.shards or ())):
        yield from ((one.set_name, place.name) for place in one.places if one.set_name)


def _used(nodes: Iterable[Node]) -> list[str]:
    """Return the config servers that shards' servers say they use."""
    told = (facts.cluster for node in nodes if (facts := facts_of(node)) is not None and facts.cluster is not None)
    return sorted(hosts_of(place for cluster in told for place in cluster.config.places))


def _has_metadata(node: Node) -> bool:
    facts = facts_of(node)
    return facts is not None and facts.cluster is not None and bool(facts.cluster.id)

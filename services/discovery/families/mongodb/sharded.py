"""What is said of a sharded cluster as a whole: what each set of it is, its config servers, whether mongos agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.discovery.families.mongodb.places import facts_of
from services.discovery.families.mongodb.problems import CONFIG_STRINGS, OLD_PROTOCOL, SHARD_SILENT
from services.discovery.families.mongodb.quorum import PART, stopped
from services.discovery.families.mongodb.views import SetOf
from services.discovery.nodes import Node
from services.discovery.words import listing, names
from services.facts.model import Problem
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.sharding import ShardedCluster
from services.i18n import mark, tr

_ROLES = {"router": mark("mongos"), "PRIMARY": mark("primary"), "SECONDARY": mark("secondary")}


def clusters_of(nodes: Sequence[Node]) -> list[tuple[Node, MongoFacts, ShardedCluster]]:
    """Return the processes that tell a sharded cluster: mongos and config servers."""
    pairs = ((node, facts_of(node)) for node in nodes)
    return [(n, f, f.cluster) for n, f in pairs if f is not None and f.cluster is not None and f.cluster.id]


@dataclass(frozen=True, slots=True)
class Shards:
    """Which shard a member is of: (set, place) -> shard; `known`: somebody tells a sharded cluster at all."""

    names: Mapping[tuple[str, str], str]
    known: bool


def shards_of(nodes: Sequence[Node]) -> Shards:
    """Return the shards that mongos and config servers tell; one telling of each cluster is enough."""
    told = {cluster.id: cluster for _, _, cluster in clusters_of(nodes) if cluster.shards is not None}
    names_ = {
        (shard.hosts.set_name, place.name): shard.name
        for cluster in told.values()
        for shard in cluster.shards or ()
        for place in shard.hosts.places
    }
    return Shards(names_, bool(clusters_of(nodes)))


def title_of(members: Sequence[Node], shards: Shards) -> str:
    """Return what a set is in its cluster: "shard rs0", "config servers csrs"; '' for one that is the cluster."""
    views = [f.set for n in members if (f := facts_of(n)) is not None and f.set is not None]
    if not views:
        return ""
    view = views[0]
    if any(one.config_servers for one in views):
        return tr("config servers {name}", name=view.name)
    named = (shards.names.get((view.name, member.place.name)) for member in view.members)
    name = next((one for one in named if one is not None), None)
    serves = any((f := facts_of(n)) is not None and f.server.shard for n in members)
    if name is None and not serves and not shards.known:
        return ""
    return tr("shard {name}", name=view.name if name is None else name)


def sharded_name(nodes: Sequence[Node]) -> str:
    """Return what a sharded cluster is called that nobody named: by its shards, '' where none tells them."""
    for _, _, cluster in clusters_of(nodes):
        if cluster.shards:
            return tr("shards {names}", names=names([shard.name for shard in cluster.shards]))
    return ""


def role_words(node: Node, one: SetOf | None) -> str:
    """Return the role of a process: of a member by the set's view, with what its configuration makes special."""
    facts = facts_of(node)
    if one is None:
        if facts is not None and facts.server.role == "router":
            return _ROLES["router"]
        if facts is None or not facts.server.config:
            return ""
        return mark("mirrored") if facts.server.config == "mirrored" else mark("config server")
    member = one.configured.get(node.node_id)
    if member is not None and member.arbiter:
        return mark("arbiter")
    if node.node_id in one.stale or stopped(node):
        return ""  # others believe its last heartbeat for ten seconds: its host says that no server runs
    if node.node_id == one.primary:
        return _ROLES["PRIMARY"] if one.majority else ""  # it steps down: nobody may take it for the set's
    if member is None:
        return ""
    special = mark("hidden") if member.hidden else mark("delayed") if member.delay_s else ""
    if not special and member.priority == 0:
        special = mark("never primary")
    return special or (_ROLES["SECONDARY"] if node.component else "")


def sharded_problems(nodes: Sequence[Node]) -> list[Problem]:
    """Return what is wrong with the cluster: mongos of different strings, config servers of the old kind."""
    told = clusters_of(nodes)
    return [*_silent_shards(told, nodes), *_strings(told), *_mirrored(told)]


def _silent_shards(told: Sequence[tuple[Node, MongoFacts, ShardedCluster]], nodes: Sequence[Node]) -> Iterator[Problem]:
    """Yield a problem for each shard of which no member ever told its set: nothing else would name it."""
    known = {f.set.name for n in nodes if (f := facts_of(n)) is not None and f.set is not None}
    shards = {
        shard.name: shard
        for node, _, cluster in told
        if node.sql_fresh
        for shard in cluster.shards or ()
        if shard.hosts.set_name and shard.hosts.set_name not in known
    }
    for name, shard in shards.items():
        text = tr(
            "No member of shard {name} answers: {places}.",
            name=name,
            places=listing(place.name for place in shard.hosts.places),
        )
        yield Problem(PART, text, SHARD_SILENT)


def _strings(told: Sequence[tuple[Node, MongoFacts, ShardedCluster]]) -> Iterator[Problem]:
    """Yield a problem where mongos use different config servers, or write them differently: every one must be the same.

    What a mongos uses now counts (getShardMap), not what it was started with: one that swapped goes on showing the old.
    """
    using: dict[str, list[str]] = {}
    for node, facts, cluster in told:
        if facts.server.role == "router" and node.sql_fresh and cluster.config.places:
            text = ",".join(place.name for place in cluster.config.places)
            text = f"{cluster.config.set_name}/{text}" if cluster.config.set_name else text
            using.setdefault(text, []).append(node.name)
    kinds = {text.partition("/")[0] if "/" in text else "" for text in using}
    if len(using) > 1 and (len(kinds) > 1 or "" in kinds):  # of a replica set one may know fewer members for a while
        who = "; ".join(f"{names(sorted(hosts))}: {text}" for text, hosts in sorted(using.items()))
        yield Problem(PART, tr("The mongos use different config servers: {who}.", who=who), CONFIG_STRINGS)


def _mirrored(told: Sequence[tuple[Node, MongoFacts, ShardedCluster]]) -> Iterator[Problem]:
    mirrored = any(f.server.config == "mirrored" or cluster.config.kind == "mirrored" for _, f, cluster in told)
    if mirrored:
        text = tr("The config servers are mirrored (SCCC), which MongoDB 3.4 refuses: convert them to a replica set.")
        yield Problem(PART, text, OLD_PROTOCOL)

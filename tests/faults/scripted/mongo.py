"""MongoDB in memory: what the servers of a set, and a mongos, are after each act. Real servers prove the commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from services.connections.mongo.change import MongoCommand, SetChange
from services.errors import UserError
from services.facts.model import NodeFacts
from services.facts.mongodb.sharding import ShardedCluster
from services.procedures.plan.actions import Mongo, Reconfigure
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.mongodb.last_vote import NEVER, LastVote
from services.procedures.plan.parts.mongodb.rights import MongoRights
from services.procedures.plan.run_model import Question
from tests.faults.scripted.cluster import Cluster, Host
from tests.unit.discovery.mongo_scenes import member, router, row, view

SET = "5f00"
OLD, NEW = "3.2.5", "3.2.22"


def replica_set(*names: str, release: str = OLD) -> Cluster:
    """Return a set of protocolVersion 0; the first member is its primary."""
    hosts = {name: Host(name, running=True, primary=True, frozen_at=None, release=release) for name in names}
    known: dict[str, int | str] = {"version": 1, "protocol": 0, "primary": names[0], "trial": 0, "balancer": 1}
    return Cluster(hosts, replica_set=known)


def sharded(*names: str, router: str, release: str = OLD) -> Cluster:
    """Return the same as a shard, with a mongos."""
    cluster = replica_set(*names, release=release)
    cluster.hosts[router] = Host(router, running=True, member=False, frozen_at=None, release=release)
    return cluster


def replaces_by(release: str) -> Callable[[Cluster, Question], str | None]:
    """Return what replaces a server as the person does whom a step asks; they say so whether it comes up or not."""

    def replace_it(cluster: Cluster, question: Question) -> str | None:
        host = cluster.hosts[question.step_id.partition(":")[0]]
        host.release, host.running = release, not host.fails_to_start
        return "yes"

    return replace_it


replaces = replaces_by(NEW)


def facts_of(cluster: Cluster, kept: tuple[tuple[str, str], ...]) -> Facts:
    """Return what a gathering finds now."""
    nodes = {node.host: _as_it_is(cluster, node) for node in (*_members(cluster), *_routers(cluster))}
    hosts = tuple(
        HostFacts(name, name, node, is_root=True, server_up=True, parts=(MongoRights(logged_in=False), LastVote(NEVER)))
        for name, node in nodes.items()
    )
    return Facts(1_700_000_000.0, SET, "orders", members=tuple(nodes), hosts=hosts, kept=kept)


def _members(cluster: Cluster) -> tuple[NodeFacts, ...]:
    told = cluster.replica_set
    names = tuple(host.name for host in cluster.hosts.values() if host.member)
    term = 0 if told["protocol"] else -1
    rows = tuple(
        row(n, "PRIMARY" if name == told["primary"] else "SECONDARY", optime_term=term)
        for n, name in enumerate(names, 1)
    )
    return tuple(
        member(n, view(n, rows, protocol=told["protocol"], term=term, version=told["version"]))
        for n in range(1, len(names) + 1)
    )


def _routers(cluster: Cluster) -> tuple[NodeFacts, ...]:
    known = ShardedCluster("77", balancer=bool(cluster.replica_set["balancer"]))
    count = sum(not host.member for host in cluster.hosts.values())
    return tuple(router(n, known) for n in range(1, count + 1))


def _as_it_is(cluster: Cluster, node: NodeFacts) -> NodeFacts:
    assert node.mongo is not None
    server = replace(node.mongo.server, version=cluster.hosts[node.host].release)
    return replace(node, mongo=replace(node.mongo, server=server))


def leading(cluster: Cluster, members: tuple[str, ...]) -> Host:
    """Return the primary, by the word of the members that answer."""
    host = cluster.hosts[str(cluster.replica_set["primary"])]
    if host.name not in members or not host.running:
        raise UserError("None of them is primary now.", host=members[0])
    return host


def act(cluster: Cluster, host: Host, action: Mongo | Reconfigure) -> None:
    """Do what the server does. What only a primary does nobody else does."""
    if not host.running:
        raise UserError("No server answers.", host=host.name)
    if isinstance(action, Mongo) and action.command.database == "config":
        cluster.replica_set["balancer"] = int("stopped: false" in str(action.command))
    elif cluster.replica_set["primary"] != host.name:
        raise UserError("It is not the primary.", host=host.name)
    elif isinstance(action, Reconfigure):
        _reconfigure(cluster, action.change, host)
    else:
        _command(cluster, host, action.command)
    host.changes += 1


def _command(cluster: Cluster, host: Host, command: MongoCommand) -> None:
    members = [one for one in cluster.hosts.values() if one.member]
    up = [one for one in members if one.running and one.primary]
    match command.document.pairs[0].name:
        case "insert":
            if len(up) * 2 <= len(members):
                raise UserError("No majority in time.", host=host.name, safe="It may have been written.")
            cluster.replica_set["trial"] = 1
        case "dropDatabase":
            cluster.replica_set["trial"] = 0
        case "replSetStepDown":
            others = [one.name for one in up if one is not host]
            if len(up) * 2 <= len(members):
                raise UserError("No secondary caught up in time.", host=host.name)
            cluster.replica_set["primary"] = others[0]
            host.answer_lost = True  # it closes every connection
        case other:
            raise AssertionError(other)


def _reconfigure(cluster: Cluster, change: SetChange, host: Host) -> None:
    known = cluster.replica_set
    if known["version"] != change.version:
        raise UserError("Somebody else changed it since.", host=host.name)
    known["version"] = change.version + 1
    for where, value in change.settings:
        assert where == "protocolVersion"
        assert isinstance(value, int)
        known["protocol"] = value

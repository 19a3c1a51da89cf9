"""A MongoDB replica set in memory: what its servers are after each act. The commands are proven on real servers."""

from __future__ import annotations

from services.connections.mongo.change import SetChange
from services.errors import UserError
from services.procedures.plan.actions import Mongo, Reconfigure
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.mongodb.rights import MongoRights
from tests.faults.scripted.cluster import Cluster, Host
from tests.unit.discovery.mongo_scenes import member, row, view

SET = "5f00"


def replica_set(*names: str) -> Cluster:
    """Return a set of protocolVersion 0; the first member is its primary."""
    hosts = {name: Host(name, running=True, primary=True, frozen_at=None) for name in names}
    known: dict[str, int | str] = {"version": 1, "protocol": 0, "primary": names[0], "trial": 0}
    return Cluster(hosts, replica_set=known)


def facts_of(cluster: Cluster, kept: tuple[tuple[str, str], ...]) -> Facts:
    """Return what a gathering finds now."""
    told, names = cluster.replica_set, tuple(cluster.hosts)
    term = 0 if told["protocol"] else -1
    rows = tuple(
        row(n, "PRIMARY" if name == told["primary"] else "SECONDARY", optime_term=term)
        for n, name in enumerate(names, 1)
    )
    nodes = tuple(
        member(n, view(n, rows, protocol=told["protocol"], term=term, version=told["version"]))
        for n in range(1, len(names) + 1)
    )
    hosts = tuple(
        HostFacts(name, name, node, is_root=True, server_up=True, parts=(MongoRights(logged_in=False),))
        for name, node in zip(names, nodes, strict=True)
    )
    return Facts(1_700_000_000.0, SET, "orders", members=names, hosts=hosts, kept=kept)


def act(cluster: Cluster, host: Host, action: Mongo | Reconfigure) -> None:
    """Do what the primary does; nobody else does anything."""
    if not host.running:
        raise UserError("No server answers.", host=host.name)
    if cluster.replica_set["primary"] != host.name:
        raise UserError("It is not the primary.", host=host.name)
    if isinstance(action, Reconfigure):
        _reconfigure(cluster, action.change, host)
    else:
        name = action.command.document.pairs[0].name
        if name == "insert" and sum(h.running and h.primary for h in cluster.hosts.values()) * 2 <= len(cluster.hosts):
            raise UserError("Waiting for the majority timed out.", host=host.name, safe="It may have been written.")
        cluster.replica_set["trial"] = {"insert": 1, "dropDatabase": 0}[name]
    host.changes += 1


def _reconfigure(cluster: Cluster, change: SetChange, host: Host) -> None:
    known = cluster.replica_set
    if known["version"] != change.version:
        raise UserError("Somebody else changed it since.", host=host.name)
    known["version"] = change.version + 1
    for where, value in change.settings:
        assert where == "protocolVersion"
        assert isinstance(value, int)
        known["protocol"] = value

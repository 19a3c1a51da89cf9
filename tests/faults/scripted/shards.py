"""The shard behind scripted config servers: who leads it, and what an end of its primary costs."""

from __future__ import annotations

from services.errors import UserError
from tests.faults.scripted.cluster import Cluster, Host
from tests.faults.scripted.names import LEADS


def _elected(cluster: Cluster, shard: tuple[str, ...], but: str = "") -> None:
    """The first that runs leads, where a majority does."""
    up = [name for name in shard if cluster.hosts[name].running and name != but]
    cluster.replica_set[LEADS] = up[0] if len(up) * 2 > len(shard) else ""


def stepped_down(cluster: Cluster, host: Host) -> None:
    """Nobody leads until the others have elected, and nobody but the primary steps down."""
    if cluster.replica_set[LEADS] != host.name:
        raise UserError("not primary so can't step down", host=host.name)
    cluster.replica_set[LEADS] = ""


def ended(cluster: Cluster, shard: tuple[str, ...], host: Host) -> None:
    """The others elect."""
    if cluster.replica_set[LEADS] == host.name:
        _elected(cluster, shard, but=host.name)


def restarted(cluster: Cluster, shard: tuple[str, ...], host: Host) -> None:
    """A member is started anew by a procedure: the primary never, and only while every other one is up.

    Whether it has gone over and whether it may stay primary hang on one read of a real server; here a doubt may hit
    the first alone, and then it is started anew though it has not.
    """
    leads = cluster.replica_set[LEADS] == host.name and host.variables.get("over")
    assert not leads, "a primary is ended and hands nothing over: rows that only it has are rolled back"
    away = [name for name in shard if not cluster.hosts[name].running and name != host.name]
    assert not away, f"{host.name} goes down while {', '.join(away)} is away"


def started(cluster: Cluster, shard: tuple[str, ...], host: Host) -> None:
    """The preferred member, the first, takes the lead back; another one is elected where nobody led."""
    if host.name == shard[0] or not cluster.replica_set[LEADS]:
        _elected(cluster, shard)


def go_over(cluster: Cluster, names: tuple[str, ...]) -> None:
    """Each member of a shard, and a mongos, asks the config servers by itself and stays with a set that it has seen."""
    for name in names:
        if cluster.hosts[name].running:
            cluster.hosts[name].variables["over"] = "yes"

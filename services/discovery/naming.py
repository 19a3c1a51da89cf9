"""What a host is called, the same in the window, in the terminal, in procedures and in the journal. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from ipaddress import ip_address

from services.discovery.families.registry import registered
from services.discovery.model import EstateSnapshot
from services.facts.model import NodeFacts
from services.facts.reading import host_port
from services.inventory.lookalikes import skeleton


def name_of(host: str, facts: NodeFacts | None, *, written: bool = False) -> str:
    """Return what a host is called: its name in the inventory, else its own, else its address.

    Its own name is what its group calls it (wsrep_node_name), by which it was found; where it was found by an address
    alone, the host name that its server, or its machine, gives itself. Every host that is shown, printed or written
    into a journal is named by this or by `names_of`, which is this for several at once.

    Args:
        host: its key: the inventory's name, or what it was found by, with its port where a host may have several.
        written: a person wrote it into the inventory under this key, which is its name then, an address too.
    """
    if written or facts is None:
        return host
    address, port = host_port(host, 0)
    if not _is_address(address):
        return host
    own = _own(facts)
    return (f"{own}:{port}" if port else own) if own else host


def names_of(facts: Mapping[str, NodeFacts], written: Collection[str] = ()) -> dict[str, str]:
    """Return key -> name of several hosts, no name twice: own names that two have are told apart by their keys.

    A host that calls itself as the inventory calls another, or so that it looks the same, does not get that name.
    """
    found = {host: name_of(host, one, written=host in written) for host, one in facts.items()}
    silent = (host for host in written if host not in found)
    often = Counter(skeleton(name) for name in (*found.values(), *silent))
    return {
        host: f"{name} ({host})" if name != host and often[skeleton(name)] > 1 else name for host, name in found.items()
    }


def shown_names(estate: EstateSnapshot) -> dict[str, str]:
    """Return key -> name of the hosts of a snapshot, as it is drawn."""
    return {node.host: node.name for cluster in estate.clusters for node in cluster.nodes if node.host}


def names_of_clusters(
    seeds: Mapping[str, str], estate: EstateSnapshot | None, facts: Mapping[str, NodeFacts]
) -> dict[str, str]:
    """Return cluster id -> the inventory's name for it, by the seeds that are in it.

    Args:
        seeds: host key of a seed -> the name a person gave its cluster.
        estate: a picture, for the clusters whose servers can't say which they are in; facts: what the hosts say now.
    """
    clusters = estate.clusters if estate is not None else ()
    found = {c.cluster_id: seeds[node.host] for c in clusters for node in c.nodes if node.host in seeds}
    pairs = ((registered().home(facts[host]), name) for host, name in seeds.items() if host in facts)
    return found | {home: name for home, name in pairs if home}  # a cluster that is not in any snapshot yet


def _own(facts: NodeFacts) -> str:
    server = facts.server.hostname if facts.server is not None else ""
    machine = facts.machine.hostname if facts.machine is not None else ""
    return next((name for name in (server, machine) if name and not name.startswith("localhost")), "")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True

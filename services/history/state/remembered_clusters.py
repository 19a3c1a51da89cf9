"""The clusters that hosts were members of when somebody last read them: a server that is down tells nobody its own.

A console that never kept a picture (it looked, planned and ran on a terminal) remembers identities and positions all
the same. With them a total outage is drawn as the members that are down, and not as hosts of which nobody ever heard.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from services.addresses import is_ip
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView
from services.history.state.store import StateStore
from services.types import KEEPS_IDENTITY, PLACES, ClusterKind

SAME_TIME_S = 24 * 3600.0
"""Who was last seen within a day before the others is of the cluster as last known; who went earlier had left it."""
_NAME = "cluster.name.{}"
"""The setting that keeps a cluster's name, by its id."""
_KIND = "cluster.kind.{}"
"""The setting that keeps the words of a cluster's kind, by its id."""
_ZERO = "00000000-0000-0000-0000-000000000000"


def remembered_estate(
    state: StateStore, kind_of: Callable[[str], ClusterKind | None], hosts: Iterable[str], heard: Iterable[str] = ()
) -> EstateSnapshot:
    """Return who belonged to which cluster, as last known, and nothing of how they were. Raises StoreError.

    Args:
        kind_of: from a kind's words, '' for those of before they were kept, to the kind; None: nobody declares it.
        hosts: keys of the hosts that can't tell their own cluster now.
        heard: clusters of which a server answers: it names their other members, and better.
    """
    asked = dict.fromkeys(hosts)
    homes = {host: home for host in asked if (home := _home(state, host)) is not None}
    known = {*heard}
    clusters = []
    for uuid in dict.fromkeys(uuid for uuid, _ in homes.values()):
        kind = kind_of(state.get_setting(_KIND.format(uuid)) or "")
        if kind is None:
            continue
        own = {host: at for host, (home, at) in homes.items() if home == uuid}
        told = uuid in known or PLACES in kind.traits
        others = {} if told else _others(state, uuid, frozenset(asked), max(own.values()))
        nodes = tuple(NodeView(host, host, host, uuid_history=_ids(state, host, uuid)) for host in own)
        # Nobody asked them, they are written nowhere: they stand in the picture as others last spoke of them.
        nodes += tuple(_member(host, _ids(state, host, uuid)) for host in others)
        at = max((*own.values(), *others.values()))
        clusters.append(ClusterSnapshot(uuid, kind, _name(state, uuid), at, nodes=nodes))
    return EstateSnapshot(at=max((c.at for c in clusters), default=0.0), clusters=tuple(clusters))


def _member(host: str, ids: tuple[str, ...]) -> NodeView:
    """Return who nobody asks; where all that is known is an address, whoever answers there is this one."""
    return NodeView(f"member:{host}", host, address=host if is_ip(host) else "", uuid_history=ids)


def _home(state: StateStore, host: str) -> tuple[str, float] | None:
    """Return the cluster that a host was last known in, and when; None where none was known."""
    seen = [(one.last_seen, one.cluster_uuid) for one in state.node_history(host)]
    # A state file that says otherwise since is the sighting of a file, not of a member.
    seen = seen or [(one.at, one.cluster_uuid) for one in state.positions(host)]
    at, uuid = max(seen, default=(0.0, ""))
    return (uuid, at) if uuid not in {"", _ZERO} else None


def _others(state: StateStore, uuid: str, asked: frozenset[str], at: float) -> dict[str, float]:
    """Return the other hosts that were last known in a cluster, of about the same time."""
    found = {}
    for host in state.hosts_of(uuid):
        home = _home(state, host) if host not in asked else None
        if home is not None and home[0] == uuid and at - home[1] <= SAME_TIME_S:
            found[host] = home[1]
    twice = _known_twice(state, uuid, asked, tuple(found))
    return {host: at for host, at in found.items() if host not in twice}


def _known_twice(state: StateStore, uuid: str, asked: frozenset[str], found: tuple[str, ...]) -> set[str]:
    """Return who would be drawn a second time: the window keeps a found host by its name, a run by its address.

    What a server calls itself in one life of it (Galera: new with each start) was told by one server only. A name that
    was seen at two addresses may have been two machines: there the addresses stay, and the name goes.
    """
    lives = {host: _lives(state, host, uuid) for host in {*asked, *found}}
    addresses = [host for host in found if is_ip(host)]
    twice: set[str] = set()
    for name in (host for host in lives if not is_ip(host)):
        same = [address for address in addresses if lives[address] & lives[name]]
        if len(same) == 1:
            twice.update(same)
        elif same and name in found:
            twice.add(name)
    return twice


def _lives(state: StateStore, host: str, uuid: str) -> set[str]:
    return {one.node_uuid for one in state.node_history(host) if one.cluster_uuid == uuid and one.node_uuid}


def _ids(state: StateStore, host: str, uuid: str) -> tuple[str, ...]:
    """Return the ids that a node had in a cluster, the newest last."""
    own = [one for one in reversed(state.node_history(host)) if one.cluster_uuid == uuid]
    return tuple(dict.fromkeys(value for one in own for value in (one.server_uuid, one.node_uuid) if value)) or (host,)


def _name(state: StateStore, uuid: str) -> str:
    """Return what the cluster was called by what was read of it, or by its newest run; else the head of its UUID."""
    if kept := state.get_setting(_NAME.format(uuid)):
        return kept
    log = state.procedures()
    for run in log.runs_on(uuid):
        for line in log.lines(run, ("planned",)):
            try:
                data = json.loads(line.data)
            except (ValueError, RecursionError):  # damaged: told where the run itself is read
                continue
            plan = data.get("plan") if isinstance(data, dict) else None
            if isinstance(plan, dict) and plan.get("cluster_name"):
                return str(plan["cluster_name"])
    return uuid[:8]


def keep_cluster(state: StateStore, cluster: ClusterSnapshot) -> None:
    """Keep what a cluster is called and of which kind, for the time when no server of it can say. Raises StoreError."""
    if KEEPS_IDENTITY not in cluster.kind.traits:
        return
    named = ((_NAME, cluster.name),) if cluster.components else ()
    for key, value in (*named, (_KIND, cluster.kind.words)):
        if state.get_setting(key.format(cluster.cluster_id)) != value:
            state.set_setting(key.format(cluster.cluster_id), value)

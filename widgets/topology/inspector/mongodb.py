"""The rows of the inspector about a MongoDB process: its set and what it is in it, its oplog, its cluster. Pure."""

from __future__ import annotations

from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.oplog import Oplog
from services.facts.mongodb.replica_set import ReplicaSet, SetMember
from services.facts.mongodb.sharding import ShardedCluster
from services.i18n import mark, tr, tr_n
from widgets.common.look.text import format_bytes, format_count, format_duration

Told = tuple[str, str, str, bool]
"""Label, value, a remark behind it, and whether it stands in the letters of addresses."""


def mongodb_rows(facts: MongoFacts | None) -> list[Told]:
    """Return what a process tells; what it did not tell is left out."""
    rows: list[Told | None] = []
    if facts is None:
        return []
    if facts.set is not None:
        rows += _set(facts.set)
        if facts.set.own is not None:
            rows += _member(facts.set.own)
    if facts.oplog is not None:
        rows.append(_oplog(facts.oplog))
    if facts.server.engine:
        rows.append(_row(mark("engine"), facts.server.engine))
    if facts.server.compatibility:
        rows.append(_row(mark("compatibility"), facts.server.compatibility))
    if facts.cluster is not None:
        rows += _cluster(facts.cluster)
    return [row for row in rows if row is not None]


def _row(label: str, value: str, note: str = "", *, mono: bool = False) -> Told:
    return label, value, note, mono


def _set(view: ReplicaSet) -> list[Told | None]:
    protocol = None
    if view.protocol is not None:
        term = tr("term {n}", n=view.term) if view.term is not None and view.term >= 0 else ""
        protocol = _row(mark("protocol"), format_count(view.protocol), term)
    votes = None
    if view.votes is not None and view.majority is not None:
        votes = _row(mark("votes in set"), format_count(view.votes), tr("majority {n}", n=view.majority))
    return [_row(mark("replica set"), view.name), votes, protocol]


def _member(own: SetMember) -> list[Told | None]:
    """Return what its configuration makes of it, and whom it follows."""
    special = [
        tr("hidden") if own.hidden else "",
        tr("delayed by {span}", span=format_duration(float(own.delay_s))) if own.delay_s else "",
        tr("builds no indexes") if own.builds_indexes is False else "",
        ", ".join(f"{name}: {value}" for name, value in own.tags),
    ]
    counts = None
    if own.votes is not None and own.priority is not None:
        votes = tr_n("{n} vote", "{n} votes", own.votes)
        counts = _row(mark("counts in"), votes, tr("priority {n:g}", n=own.priority))
    words = ", ".join(word for word in special if word)
    return [
        counts,
        _row(mark("special"), words) if words else None,
        _row(mark("sync source"), own.syncs_from.name, mono=True) if own.syncs_from is not None else None,
    ]


def _oplog(oplog: Oplog) -> Told | None:
    if oplog.size is None:
        return None
    used = tr("{used} used", used=format_bytes(oplog.used)) if oplog.used is not None else ""
    return _row(mark("oplog"), format_bytes(oplog.size), used)


def _cluster(cluster: ShardedCluster) -> list[Told | None]:
    string = ",".join(place.name for place in cluster.config.places)
    string = f"{cluster.config.set_name}/{string}" if cluster.config.set_name else string
    shards = ", ".join(f"{one.name} ({tr('draining')})" if one.draining else one.name for one in cluster.shards or ())
    balancer = None
    if cluster.balancer is not None:
        balancer = _row(mark("balancer"), tr("on") if cluster.balancer else tr("off"))
    return [
        _row(mark("config servers"), string, mono=True) if string else None,
        _row(mark("shards"), shards) if shards else None,
        balancer,
        _row(mark("locks held"), ", ".join(cluster.locks)) if cluster.locks else None,
    ]

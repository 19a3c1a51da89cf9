"""Preflight checks that every procedure for MongoDB shares: is the set whole, does nobody lag, which versions run."""

from __future__ import annotations

from services.connections.mongo.change import ROLES_TO_CHANGE
from services.facts.mongodb.metadata import differing
from services.facts.mongodb.replica_set import SERVING
from services.facts.mongodb.server import release
from services.procedures.catalogue.checks.parts import checked, listed, unread, verdict
from services.procedures.catalogue.mongodb.shared.sets import GatheredSet, mongo_of
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.mongodb.rights import MongoRights

MOST_LAG_S = 10
LEAST = (3, 2)


NOTHING_READ = "no server of a cluster was read: if there are several clusters, name one (--cluster)"


def set_whole(one: GatheredSet) -> Check:
    """Every member that is configured answers by itself and does its part; exactly one is primary."""
    faults = list(one.unread)
    for host in one.hosts:
        own = one.own(host)
        if own is None or own.state not in SERVING:
            faults.append(f"{host} is {(own.state if own else '') or 'in an unknown state'}")
    if len(one.primaries) != 1:
        faults.append(f"primary is {listed(one.primaries)}")
    seen = ", ".join(f"{host} is {own.state}" for host in one.hosts if (own := one.own(host)) is not None)
    return checked(
        "SET-WHOLE",
        f"Every member of {one.name} is up, one of them as primary",
        each="Every member of each set is up, one of them as primary",
        block=faults,
        evidence=f"{one.name}: {'; '.join(faults) or seen}",
        why="A configuration change reaches members through the primary; without a member the majority is less safe.",
        try_=("Bring the member back, or add its host to the inventory, then check again.",),
        host=one.speaker,
    )


def set_versions(facts: Facts, one: GatheredSet) -> Check:
    """All members run one release of 3.2 or newer: a set of several versions is not reconfigured.

    An arbiter that tells nobody its set tells its version; one of 3.0 would not take the new configuration, and its
    vote were gone.
    """
    releases = {
        host: mongo.server.version or "an unknown release" for host, mongo in zip(one.hosts, one.views, strict=True)
    }
    for place, host in one.mute:
        mongo = mongo_of(facts.host(host)) if host else None
        releases[host or place] = (mongo.server.version if mongo is not None else "") or "an unknown release"
    versions = {host: release(text) for host, text in releases.items()}
    known = {version[:2] for version in versions.values() if version is not None}
    faults = [
        f"{host} runs {releases[host]}" for host, version in versions.items() if version is None or version[:2] < LEAST
    ]
    if len(known) > 1:
        faults.append("several versions: " + ", ".join(f"{host} {text}" for host, text in releases.items()))
    return checked(
        "SET-VERSIONS",
        f"All members of {one.name} run one release, 3.2 or newer",
        each="All members of each set run one release, 3.2 or newer",
        block=faults,
        evidence=f"{one.name}: " + ("; ".join(faults) or ", ".join(f"{h} {text}" for h, text in releases.items())),
        why="Older servers do not understand the new configuration, and sets with different versions must not be "
        'reconfigured (MongoDB manual, "Upgrade a Replica Set to 3.2").',
        try_=("Upgrade every member to the same release first; add a missing arbiter's host to the inventory.",),
        host=one.speaker,
    )


def set_lag(one: GatheredSet) -> Check:
    """Nobody is ten seconds behind its primary; of a delayed member its delay is meant (see GatheredSet.lag_s)."""
    faults, seen = [], []
    for host in one.hosts:
        own = one.own(host)
        if own is None or own.arbiter or host == one.primary:
            continue
        lag = one.lag_s(host)
        if lag is None:
            faults.append(f"the lag of {host} is not known")
        elif lag >= MOST_LAG_S:
            faults.append(f"{host} is {lag} s behind")
        else:
            seen.append(f"{host} {lag} s")
    return checked(
        "SET-LAG",
        f"No member of {one.name} lags",
        each="No member of a set lags",
        block=faults,
        evidence=f"{one.name}: {'; '.join(faults) or ', '.join(seen) or 'no secondary'}",
        why="An election during the change chooses among the members that are up to date.",
        try_=("Wait until it has caught up, then check again.",),
        host=one.speaker,
    )


def may_change(facts: Facts, hosts: tuple[str, ...], actions: tuple[str, ...], databases: tuple[str, ...]) -> Check:
    """The account for changes may do all that the plan does, on each of these hosts.

    Args:
        actions: of the cluster ('replSetConfigure'); databases: of every database ('insert').
    """
    blocks, warns = [], []
    for host in (facts.host(name) for name in hosts):
        rights = host[MongoRights]
        if rights.logged_in is None:
            warns.append(unread(host, "the privileges of the account for changes", "rights"))
        elif lacking := rights.lacking(actions, databases):
            blocks.append(f"the account does not have the privilege {', '.join(lacking)} on {host.host}")
    return Check(
        code="OPERATOR-RIGHTS",
        title="The console's account has the privileges for the plan",
        verdict=verdict(blocks, warns),
        not_known=bool(warns) and not blocks,
        evidence="; ".join([*blocks, *warns]) or (f"on {', '.join(hosts)}" if hosts else "it sends no command"),
        why="If a privilege is missing, the run stops in its middle.",
        try_=(ROLES_TO_CHANGE,) if blocks or warns else (),
    )


def same_of(facts: Facts, servers: tuple[str, ...]) -> Check:
    """The metadata of these mirrored config servers have equal hashes."""
    blocks, read = [], {}
    for host in servers:
        mongo = mongo_of(facts.host(host))
        if mongo is None or mongo.metadata is None:
            blocks.append(unread(facts.host(host), "the hashes of the metadata", "config-hash"))
        elif not mongo.metadata.hashes:
            blocks.append(f"{host} has no metadata: is its data folder empty?")
        else:
            read[host] = dict(mongo.metadata.hashes)
    names = sorted({name for hashes in read.values() for name in hashes})
    if other := differing(read.values()):
        blocks.append(f"they differ in {', '.join(other)}")
    return checked(
        "CONFIG-SAME",
        "All config servers have the same metadata",
        block=blocks,
        good=f"equal hashes of {', '.join(names)}",
        why="The set uses the metadata of the first one; if they differ, it is not known which are correct.",
        try_=(
            "Check again: during a catalog change they differ for a moment.",
            'If they still differ, find the difference (MongoDB manual, "Config Database") and repair the wrong one.',
        ),
    )

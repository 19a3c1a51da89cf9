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


NOTHING_READ = "no server of one cluster was read: of several the one that is meant has to be named (--cluster)"


def set_whole(one: GatheredSet) -> Check:
    """Every member that is configured answers by itself and does its part; exactly one is primary."""
    faults = list(one.unread)
    for host in one.hosts:
        own = one.own(host)
        if own is None or own.state not in SERVING:
            faults.append(f"{host} is {(own.state if own else '') or 'in no known state'}")
    if len(one.primaries) != 1:
        faults.append(f"primary is {listed(one.primaries)}")
    seen = ", ".join(f"{host} is {own.state}" for host in one.hosts if (own := one.own(host)) is not None)
    return checked(
        "SET-WHOLE",
        f"Every member of {one.name} serves, one of them as primary",
        each="Every member of each set serves, one of them as primary",
        block=faults,
        evidence=f"{one.name}: {'; '.join(faults) or seen}",
        why="A change of the configuration reaches members by the primary; with one away the majority has less room.",
        try_=("Bring the member back, or give the inventory its host, then check again.",),
        host=one.speaker,
    )


def set_versions(facts: Facts, one: GatheredSet) -> Check:
    """All members run one release of 3.2 or newer: a set of several versions is not reconfigured.

    An arbiter that tells nobody its set tells its version; one of 3.0 would not take the new configuration, and its
    vote were gone.
    """
    told = {
        host: mongo.server.version or "an unknown release" for host, mongo in zip(one.hosts, one.views, strict=True)
    }
    for place, host in one.mute:
        mongo = mongo_of(facts.host(host)) if host else None
        told[host or place] = (mongo.server.version if mongo is not None else "") or "an unknown release"
    versions = {host: release(text) for host, text in told.items()}
    known = {version[:2] for version in versions.values() if version is not None}
    faults = [
        f"{host} runs {told[host]}" for host, version in versions.items() if version is None or version[:2] < LEAST
    ]
    if len(known) > 1:
        faults.append("several versions: " + ", ".join(f"{host} {text}" for host, text in told.items()))
    return checked(
        "SET-VERSIONS",
        f"All members of {one.name} run one release, 3.2 or newer",
        each="All members of each set run one release, 3.2 or newer",
        block=faults,
        evidence=f"{one.name}: " + ("; ".join(faults) or ", ".join(f"{h} {text}" for h, text in told.items())),
        why="Older servers know nothing of what is written, and sets of several versions are not to be reconfigured "
        '(MongoDB manual, "Upgrade a Replica Set to 3.2").',
        try_=(
            "Bring every member to the same release first; give the inventory the host of an arbiter that it lacks.",
        ),
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
        why="An election in the middle of it chooses among those that are up to date.",
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
            warns.append(unread(host, "what the account for changes may do", "rights"))
        elif lacking := rights.lacking(actions, databases):
            blocks.append(f"the account may not {', '.join(lacking)} on {host.host}")
    return Check(
        code="OPERATOR-RIGHTS",
        title="The console's account may do what the plan does",
        verdict=verdict(blocks, warns),
        not_known=bool(warns) and not blocks,
        evidence="; ".join([*blocks, *warns]) or (f"on {', '.join(hosts)}" if hosts else "it sends no command"),
        why="A plan that lacks a right in its middle stops half way.",
        try_=(ROLES_TO_CHANGE,) if blocks or warns else (),
    )


def same_of(facts: Facts, servers: tuple[str, ...]) -> Check:
    """The metadata of these mirrored config servers have equal hashes."""
    blocks, told = [], {}
    for host in servers:
        mongo = mongo_of(facts.host(host))
        if mongo is None or mongo.metadata is None:
            blocks.append(unread(facts.host(host), "the hashes of the metadata", "config-hash"))
        elif not mongo.metadata.hashes:
            blocks.append(f"{host} has no metadata: is its data folder empty?")
        else:
            told[host] = dict(mongo.metadata.hashes)
    names = sorted({name for hashes in told.values() for name in hashes})
    if other := differing(told.values()):
        blocks.append(f"they differ in {', '.join(other)}")
    return checked(
        "CONFIG-SAME",
        "All config servers hold the same metadata",
        block=blocks,
        good=f"equal hashes of {', '.join(names)}",
        why="The set is made of the first one's; where they differ nobody knows which one is right.",
        try_=(
            "Check again: while a change of the catalog is on its way they differ for a moment.",
            'If they go on to: find the difference (MongoDB manual, "Config Database"), and mend the wrong one.',
        ),
    )

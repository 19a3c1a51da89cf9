"""What only mongo-rolling-upgrade asks: is it one release further, is nothing there that the new one does not know."""

from __future__ import annotations

from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.server import release
from services.procedures.catalogue.checks.parts import checked, verdict
from services.procedures.catalogue.mongodb.shared.checks import NOTHING_READ
from services.procedures.catalogue.mongodb.shared.order import SEE_IT_TO_ITS_END, Order, Release, half_way
from services.procedures.catalogue.mongodb.shared.sets import GatheredSet, at, listed_by, mongo_of, names_of
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts

RELEASES: tuple[Release, ...] = ((3, 0), (3, 2), (3, 4), (3, 6), (4, 0), (4, 2), (4, 4), (5, 0), (6, 0), (7, 0), (8, 0))
"""MongoDB manual, "Release Notes": each is upgraded to from the one before it alone."""
NO_MIRRORS, NO_OLD_PROTOCOL, NO_MMAP = (3, 4), (4, 0), (4, 2)


def every_server(facts: Facts, order: Order) -> Check:
    """Nobody of the cluster is left out: each server that one of it names was read, whatever it is.

    One that is left behind runs the old release, and nothing would say so.
    """
    views = [mongo for host in facts.members if (mongo := mongo_of(facts.host(host))) is not None]
    faults = [] if order.hosts else [NOTHING_READ]
    faults += [f"{name} was not read" for name in facts.members if mongo_of(facts.host(name)) is None]
    faults += [f"of {one.name}: {who}" for one in (*order.sets, *order.config) for who in one.unread]
    mute = [place for one in (*order.sets, *order.config) for place, host in one.mute if not host]
    faults += [f"the arbiter {place} was not read, or is not in the inventory" for place in mute]
    faults += [
        f"{name} reported no replica set"
        for name in facts.members
        if (mongo := mongo_of(facts.host(name))) is not None
        and mongo.server.role == "member"
        and name not in order.hosts
    ]
    used = [m.cluster.config for m in views if m.cluster is not None and m.server.role == "router"]
    named = max((len(one.places) for one in used if one.kind == "mirrored"), default=0)
    if len(order.mirrors) < named:
        faults.append(f"{len(order.mirrors)} of {named} mirrored config servers were read")
    shards, here = listed_by(facts), {one.name for one in order.sets}
    faults += [
        f"the shard {one.name} is not a replica set that was read"
        for one in shards or ()
        if one.hosts.set_name not in here
    ]
    faults += _other_routers(facts, order, views)
    return checked(
        "EVERY-SERVER",
        "Every server of the cluster is in the inventory and answers",
        block=faults,
        good=f"{', '.join(order.hosts)} and no other",
        why="A server that is not replaced stays at the old release, which may be incompatible with the newer ones.",
        try_=("Add its host to the inventory, or bring it back, then check again.",),
    )


def _other_routers(facts: Facts, order: Order, told: list[MongoFacts]) -> list[str]:
    """Return the mongos that wrote themselves down in the last minute and are none that was read."""
    here = {name for host in order.routers for name in names_of(facts.host(host))}
    lists = [m for m in told if m.cluster is not None and m.cluster.routers]
    now = max((m.server.at for m in lists if m.server.at is not None), default=None)
    alive = (
        one for m in lists for one in (m.cluster.routers if m.cluster else ()) or () if one.alive(now) is not False
    )
    others = dict.fromkeys(one.name.name for one in alive if at(one.name) not in here)
    return [f"the mongos {name} is not in the inventory, or does not answer" for name in others]


def one_further(facts: Facts, order: Order, target: tuple[int, int, int]) -> Check:
    """Every server runs the release of the target, or the one before it, and nothing newer."""
    faults, seen = [], []
    before = RELEASES[RELEASES.index(target[:2]) - 1] if target[:2] in RELEASES[1:] else None
    for host in order.hosts:
        mongo = mongo_of(facts.host(host))
        version = release(mongo.server.version) if mongo is not None else None
        runs = ".".join(map(str, version)) if version else "an unknown version"
        if version is not None and version > target:
            faults.append(
                f"{host} runs {runs}, but {'.'.join(map(str, target))} is older: this procedure does not downgrade"
            )
        elif version is None or version[:2] not in {target[:2], before}:
            faults.append(f"{host} runs {runs}")
        else:
            seen.append(f"{host} {runs}{', already done' if version == target else ''}")
    if target[:2] not in RELEASES:
        faults.insert(0, f"{target[0]}.{target[1]} is not a release that the console knows")
    return checked(
        "ONE-RELEASE",
        "Every server is at most one release behind the new one",
        block=faults,
        good="; ".join(seen),
        why="You cannot skip a release: a server can read only its own and the previous release's data.",
        try_=("Enter a version newer than the running one; upgrade to a release in between first.",),
    )


def nothing_too_old(facts: Facts, order: Order, target: tuple[int, int, int]) -> Check:
    """No mirrored config servers, no protocolVersion 0, no MMAPv1 where the new release has them no more."""
    release, faults = target[:2], []
    if order.mirrors and release >= NO_MIRRORS:
        faults.append(f"mirrored config servers: {', '.join(order.mirrors)}")
    if release >= NO_OLD_PROTOCOL:
        faults += [f"{one.name} has protocolVersion {one.protocol}" for one in order.sets if one.protocol != 1]
    if release >= NO_MMAP:
        engines = ((h, m.server.engine) for h in order.hosts if (m := mongo_of(facts.host(h))) is not None)
        faults += [f"the storage engine of {host} is {engine}" for host, engine in engines if engine == "mmapv1"]
    return checked(
        "TOO-OLD",
        "The cluster uses nothing that the new release removed",
        block=faults,
        good="no mirrored config servers, protocol or engine that it removed",
        why="With it the new server refuses to start or to join.",
        try_=("Convert it first: with mongo-protocol-upgrade, or by an initial sync to the other engine.",),
    )


def one_form(facts: Facts, order: Order) -> Check:
    """The config servers are mirrored, or a set: half way between both none of the two orders is right for them."""
    faults = half_way(facts, order)
    return checked(
        "CONFIG-HALF-WAY",
        "No conversion of the config servers is unfinished",
        block=faults,
        good="mirrored" if order.mirrors else "a replica set" if order.config else "none",
        why="A server that is both occurs twice in the order, and no release was tested with such a cluster.",
        try_=(SEE_IT_TO_ITS_END,),
    )


def compatibility(facts: Facts, order: Order, target: tuple[int, int, int]) -> Check:
    """featureCompatibilityVersion is that of the release before: a rest of an older upgrade is finished first."""
    if target[:2] < (3, 6):
        return Check("COMPATIBILITY", "The last upgrade was completed", Verdict.PASS, "nothing to complete before 3.6")
    before = RELEASES[RELEASES.index(target[:2]) - 1] if target[:2] in RELEASES[1:] else target[:2]
    wanted = {f"{one[0]}.{one[1]}" for one in (before, target[:2])}
    versions = {
        h: m.server.compatibility for h in order.hosts if (m := mongo_of(facts.host(h))) and m.server.role != "router"
    }
    faults = [f"{host} has {text}" for host, text in versions.items() if text and text not in wanted]
    blind = [host for host, text in versions.items() if not text]
    return checked(
        "COMPATIBILITY",
        "The last upgrade was completed",
        block=faults,
        unread=blind,
        evidence="; ".join([*faults, *(f"not known on {host}" for host in blind)])
        or ", ".join(sorted(set(versions.values()))),
        why="featureCompatibilityVersion must match the current release.",
        try_=("Set featureCompatibilityVersion to the current release.",),
    )


def another_can_lead(one: GatheredSet) -> Check:
    """Another member with data may become primary while the primary's server is replaced, with one vote away."""
    called = {own.place.name: host for host in one.hosts if (own := one.own(host)) is not None}
    able = [called.get(m.place.name, m.place.name) for m in one.successors]
    votes, majority = one.view.votes, one.view.majority
    faults = [] if able else ["none: it accepts no writes while the primary's server is replaced"]
    if votes is None or majority is None:
        faults.append("its number of votes is not known")
    elif able and votes - 1 < majority:
        faults.append(f"without one of its {votes} votes it has no majority and accepts no writes meanwhile")
    return Check(
        code="ANOTHER-LEADS",
        title=f"Another member of {one.name} can become primary",
        verdict=verdict((), faults),
        evidence=f"{one.name}: {'; '.join(faults) or ', '.join(able)}{_leads_again(one) if able else ''}",
        why="While the primary's server is replaced, another member accepts the writes.",
        each="Another member of each set can become primary",
        host=one.speaker,
    )


def _leads_again(one: GatheredSet) -> str:
    """Return that its primary takes the lead back once it is replaced, '' where nobody knows or it does not.

    MongoDB manual, "Replica Set Elections": the member of the highest priority calls for one (on 3.2.5 some 10 s after
    it is back; a new process knows nothing of the seconds for which the old one was not to be elected).
    """
    own = one.own(one.primary) if one.primary else None
    if own is None or (own.priority or 0) <= max(member.priority or 0 for member in one.successors):
        return ""
    return f"; {one.primary} has the highest priority and becomes primary again once it is replaced: a second election"

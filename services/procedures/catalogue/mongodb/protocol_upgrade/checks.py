"""What only mongo-protocol-upgrade asks: is the set all of protocol 0, is this release good at 1, is a person ready."""

from __future__ import annotations

from services.facts.mongodb.server import release
from services.moments import duration
from services.procedures.catalogue.checks.parts import checked, verdict
from services.procedures.catalogue.mongodb.shared.checks import NOTHING_READ
from services.procedures.catalogue.mongodb.shared.sets import GatheredSet, listed_by, mongo_of, sets_of
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.mongodb.last_vote import LastVote

BURN_IN_S = 24 * 3600
FIRST_TERM = 0
"""A set's term right after protocolVersion 1 is set: the same again does no harm (tried on 3.2.5)."""
_RISKY_32, _RISKY_34 = (3, 2, 11), {(3, 4, 0), (3, 4, 1)}


def every_set(facts: Facts, *, all_of_them: bool) -> Check:
    """Each set that the cluster has was read, and one at least: 'none is of protocol 0' needs somebody who said so.

    Args:
        all_of_them: the run is for every set, not for one that was named.
    """
    sets = sets_of(facts)
    read = any(mongo_of(facts.host(name)) is not None for name in facts.members)
    faults = [] if sets else ["no member reported its set" if read else NOTHING_READ]
    if all_of_them:
        here = {one.name for one in sets}
        strange = [one.name for one in listed_by(facts) or () if one.hosts.set_name not in here]
        faults += [f"the shard {name} is not a replica set that was read" for name in strange]
        faults += [f"{name} was not read" for name in facts.members if mongo_of(facts.host(name)) is None]
    return checked(
        "EVERY-SET",
        "Every replica set of the cluster was read",
        block=faults,
        good=", ".join(one.name for one in sets),
        why="A set that was not read would keep its protocol unnoticed.",
        try_=("Add its hosts to the inventory, or bring them back, then check again.",),
    )


def old_entries(one: GatheredSet) -> Check:
    """Every member with data has an entry of protocolVersion 0 as its newest: a bare timestamp, or a term of -1."""
    faults = [] if one.protocol is not None else ["the protocolVersion could not be read, or the members differ"]
    for host in one.hosts:
        own = one.own(host)
        if own is not None and not own.arbiter and (own.optime is None or own.optime_term != -1):
            faults.append(f"the optime of {host} has the term {'not known' if own.optime is None else own.optime_term}")
    return checked(
        "OLD-ENTRIES",
        f"Every member of {one.name} has applied an entry of the current protocol",
        each="Every member of each set has applied an entry of the current protocol",
        block=faults,
        evidence=f"{one.name}: {'; '.join(faults) or 'each newest entry is of protocolVersion 0'}",
        why="The protocol can be changed only if no entry of the other one is still being replicated "
        '(MongoDB manual, "Replica Set Protocol Versions").',
        try_=("Let a write reach every secondary, then check again.",),
        host=one.speaker,
    )


def no_terms_before(facts: Facts, one: GatheredSet) -> Check:
    """No member was ever elected by a term: set to 1 once more, terms begin at 0 again, and 3.2.5 knows the old ones.

    Seen on 3.2.5: a member that had followed in a higher term ends itself at its next step-down ("Fatal assertion
    34361 OplogOutOfOrder"); one started again stays RECOVERING until the set's term has passed the old one.

    An arbiter has no entries of old terms, and the change itself sets back what it keeps of its vote (mongo 3.2.5,
    repl/replication_coordinator_impl.cpp, _resetElectionInfoOnProtocolVersionUpgrade; until it votes again or restarts
    it refuses in that one term, and grants the next). So it stops nothing; but its vote tells of elections by terms
    that a member with data may have followed without a vote of its own. Of one that can't be asked the others tell
    enough: whoever was elected had voted for itself.
    """
    faults, warnings, mute = [], [], [place for place, _ in one.mute]
    for host in one.hosts:
        own, term = one.own(host), facts.host(host)[LastVote].term
        if own is not None and own.arbiter:
            mute += [host] if term is None else []
            warnings += [f"the arbiter {host} has voted in term {term}"] if (term or 0) > FIRST_TERM else []
        elif term is None:
            faults.append(f"{host}: whether it has voted in a term is not known")
        elif term > FIRST_TERM:
            faults.append(f"{host} has voted in term {term}")
    good = "no member with data has a term above 0"
    more = (f"the arbiter {', '.join(mute)} could not be read: an elected member had voted for itself",) if mute else ()
    return Check(
        code="TERMS-BEFORE",
        title=f"No member of {one.name} was ever elected by terms",
        verdict=verdict(faults, warnings),
        evidence=f"{one.name}: {'; '.join((*(faults or (good,)), *warnings, *more))}",
        why="Terms restart at 0, below those that the members remember: a primary aborts at its next step-down.",
        try_=_terms_gone(faults, warnings),
        each="No member of any set was ever elected by terms",
        host=one.speaker,
    )


def _terms_gone(faults: list[str], sentences: list[str]) -> tuple[str, ...]:
    anew = "Resync each of these members by an initial sync, one by one, the primary last; then check again."
    if faults:
        return (anew,)
    follower = "Resync each data-bearing member that existed then and was not resynced since by an initial sync."
    return (follower,) if sentences else ()


def delayed(one: GatheredSet) -> Check:
    """No member applies entries late: until it has one of the new protocol nothing goes on, and nothing goes back."""
    late = [
        f"{m.place.name} applies entries {duration(m.delay_s or 0)} late"
        for m in one.view.members
        if (m.delay_s or 0) > 0
    ]
    return checked(
        "DELAYED",
        f"No member of {one.name} is delayed",
        each="No member of each set is delayed",
        warn=late,
        evidence=f"{one.name}: {'; '.join(late) or 'none'}",
        why="The run waits that long for its first entry of the new protocol, and cannot be rolled back before.",
        try_=("Remove its delay first, or wait that long.",),
        host=one.speaker,
    )


def minor_version(one: GatheredSet) -> Check:
    """Up to 3.2.11, and in 3.4.0 and 3.4.1, protocol 1 elects less well where members are not alike."""
    versions = [version for mongo in one.views if (version := release(mongo.server.version)) is not None]
    risky = [v for v in versions if (v[:2] == (3, 2) and v <= _RISKY_32) or v in _RISKY_34]
    members = one.view.members
    uneven = [m.place.name for m in members if m.arbiter]
    priorities = {m.priority for m in members if not m.arbiter}
    reasons = [f"arbiters: {', '.join(uneven)}"] if uneven else []
    if len(priorities) > 1:
        reasons.append(f"priorities differ: {', '.join(f'{p:g}' for p in sorted(p or 0 for p in priorities))}")
    fault = bool(risky and reasons)
    return checked(
        "MINOR-VERSION",
        f"This release elects reliably with protocolVersion 1 in {one.name}",
        each="This release elects reliably with protocolVersion 1 in each set",
        warn=fault,
        evidence=f"{one.name}: {'.'.join(map(str, risky[0] if risky else versions[0]))}"
        + (f", {'; '.join(reasons)}" if fault else "")
        if versions
        else f"{one.name}: no version is known",
        why="Up to 3.2.11, in 3.4.0 and 3.4.1, writes acknowledged by one member (w: 1) are rolled back more often "
        "after an election if the set has arbiters or different priorities.",
        try_=("Upgrade to the newest minor release first.",),
        host=one.speaker,
    )


def burn_in(one: GatheredSet) -> Check:
    """The binaries have run for a day: what goes wrong with them goes wrong before the protocol is changed."""
    recent = []
    for host, mongo in zip(one.hosts, one.views, strict=True):
        up = mongo.server.uptime_s
        if up is None or up < BURN_IN_S:
            recent.append(f"{host} has run for {'an unknown time' if up is None else duration(up)}")
    return checked(
        "BURN-IN",
        f"The servers of {one.name} have run for a day",
        each="The servers of each set have run for a day",
        warn=recent,
        evidence=f"{one.name}: {'; '.join(recent) or 'each for more than 24 h'}",
        why="A downgrade to an older release requires protocolVersion 0.",
        try_=("Wait a day after an upgrade.",),
        host=one.speaker,
    )


def election_timeout(one: GatheredSet) -> Check:
    """How long a primary may be silent: told, not judged."""
    limit = one.view.election_ms
    return Check(
        code="ELECTION-TIMEOUT",
        title=f"Election timeout of {one.name}",
        verdict=Verdict.PASS,
        evidence=f"{one.name}: electionTimeoutMillis is {'not set (10 s)' if limit is None else limit}",
        to_read=True,
        each="Election timeout of each set",
        host=one.speaker,
    )

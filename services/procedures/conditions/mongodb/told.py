"""A replica set as its members tell it now: the looks of MongoDB's conditions are made of it."""

from __future__ import annotations

from services.connections.mongo.document import Stamp
from services.connections.reads import mongo as reads
from services.errors import QueryFailed, UserError
from services.facts.mongodb.replica_set import SERVING, ReplicaSet, SetMember, parse_set
from services.i18n import tr
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Asking

LIMIT_S = 4.0
_IN_NO_SET = frozenset({76, 94})
"""Error codes NoReplicationEnabled and NotYetInitialized (mongo 3.2, src/mongo/base/error_codes.err)."""


def told_by(asking: Asking, host: str) -> ReplicaSet:
    """Return the set in one member's eyes, state and configuration.

    Raises UserError subclasses: it does not answer, is in no set, or may not tell it.
    """
    session = asking.session(host)
    status = session.ask(reads.SET_STATUS, limit_s=LIMIT_S).body
    found = parse_set(status, session.ask(reads.SET_CONFIG, limit_s=LIMIT_S).body)
    if found is None or found.missing or found.own is None:
        raise QueryFailed(tr("{host} does not report its complete replica set.", host=host), host=host)
    return found


def told_by_all(asking: Asking, hosts: tuple[str, ...]) -> dict[str, ReplicaSet] | Answer:
    """Return what each member of one set tells, or the answer that there is where they don't.

    Not known while one of them tells nothing. One that says it is in no set is an answer, and no read that failed:
    nothing of a set is true of it.
    """
    answers = asking.each(hosts, lambda host: told_by(asking, host))
    alone = [host for host, one in answers.items() if isinstance(one, QueryFailed) and one.errno in _IN_NO_SET]
    for host, one in answers.items():
        if isinstance(one, UserError) and host not in alone:
            return Answer(holds=None, evidence=f"{host}: {one.sentence}")
    if alone:
        return Answer(holds=False, evidence=f"{', '.join(alone)} is in no replica set")
    views = {host: one for host, one in answers.items() if isinstance(one, ReplicaSet)}
    other = _apart(views)
    return Answer(holds=False, evidence=other) if other else views


def own(view: ReplicaSet) -> SetMember:
    """Return the member that was asked."""
    found = view.own
    assert found is not None, "told_by has seen to it"
    return found


def primaries(views: dict[str, ReplicaSet]) -> tuple[str, ...]:
    """Return the members that are primary by their own word."""
    return tuple(host for host, view in views.items() if own(view).state == "PRIMARY")


def _apart(views: dict[str, ReplicaSet]) -> str:
    """Return that these are not all of one set, 'm3 is in rs1, m1 in rs0'; '' where they are. Names alone tie nothing:
    the id counts that a set got when it was made."""
    (first, one), *others = views.items()
    other = next(((host, view) for host, view in others if (view.name, view.id) != (one.name, one.id)), None)
    if other is None:
        return ""
    host, view = other
    return f"{host} is in {view.name}, {first} in {'another set of that name' if view.name == one.name else one.name}"


def untold(views: dict[str, ReplicaSet]) -> str:
    """Return the first member with data that does not tell how far it is, '' where all do."""
    blind = (host for host, view in views.items() if not own(view).arbiter and own(view).optime is None)
    return next((f"{host} reported no optime" for host in blind), "")


def unserving(views: dict[str, ReplicaSet]) -> str:
    """Return the first member that does not do its part, 'm2 is RECOVERING'; '' where all do."""
    return next(
        (f"{host} is {own(view).state or 'in no known state'}" for host, view in views.items()
         if own(view).state not in SERVING), "",
    )  # fmt: skip


def unreached(view: ReplicaSet, but: str = "") -> str:
    """Return the first member that one sees away or not serving, 'd2:27018 as DOWN'; '' where none is.

    Args:
        but: the place of a member that does not count.
    """
    others = (one for one in view.members if one.place.name != but)
    found = (one for one in others if not one.reached or one.state not in SERVING)
    return next((f"{one.place.name} as {one.state or 'not reached'}" for one in found), "")


def leading_at(views: dict[str, ReplicaSet]) -> Stamp | None:
    """Return the newest entry of the primary by its own word, None where there is none."""
    return next((own(view).optime for view in views.values() if own(view).state == "PRIMARY"), None)


def behind(views: dict[str, ReplicaSet], leading: Stamp | None) -> dict[str, int]:
    """Return by how many seconds each member with data is behind an entry that the primary had, {} where none is known;
    of a delayed member its delay is meant.

    The entry is one of an earlier look: one that was made while the members were asked would tell the time that nobody
    wrote before it as a lag.
    """
    now = next((view.at for view in views.values() if own(view).state == "PRIMARY"), None)
    found = {host: own(view).behind_s(leading, now) for host, view in views.items()}
    return {host: lag for host, lag in found.items() if lag is not None}

"""What a process tells of itself beyond its set: its id, what two answers of it agree in, its words."""

from __future__ import annotations

from services.discovery.families.mongodb.claims import set_id
from services.discovery.families.mongodb.places import own_name
from services.discovery.families.port import QuorumWords
from services.facts.model import NodeFacts
from services.i18n import mark, tr

WORDS = QuorumWords(
    two=mark("{name}: two primaries accept writes separately: {sides}"),
    none=mark("{name}: no part of the set has a majority"),
    unheard=mark("{name}: none of the members that answer reaches a majority"),
    apart=mark("another primary accepts writes separately from this one: {names}"),
)


def live_id(facts: NodeFacts) -> tuple[str, ...]:
    """Return the set and the member's name in it, () for a process in none."""
    mongo = facts.mongo
    name = own_name(mongo) if mongo is not None and mongo.set is not None else ""
    if mongo is None or mongo.set is None or not name:
        return ()
    return "mongodb", f"{set_id(mongo.set)}/{name}"


def lost(old: NodeFacts, new: NodeFacts, name: str) -> str:
    """Return that a member rolled back writes since its answer before, '' where it did not, or does not tell.

    The state ROLLBACK may be over in milliseconds, and the server closes every connection in it: its counter stays. A
    start begins the counter anywhere in 3.2, so only a small step is one.
    """
    if old.mongo is None or new.mongo is None:
        return ""
    before, after = old.mongo.server.rollbacks, new.mongo.server.rollbacks
    if before is None or after is None or not 0 < after - before <= _MOST_ROLLBACKS:
        return ""
    where = new.mongo.server.data_path.rstrip("/")
    return tr(
        "{name} rolled back writes that the rest of its set does not have; the saved documents are in {folder}",
        name=name,
        folder=f"{where}/rollback" if where else tr("the rollback folder in its data directory"),
    )


_MOST_ROLLBACKS = 100
"""More than that between two looks is another counter."""


def self_report(facts: NodeFacts) -> tuple[object, ...]:
    """Return role, set, name in it, state and configuration. Answers of one moment agree in them."""
    mongo = facts.mongo
    if mongo is None:
        return (None,) * 6
    own = mongo.set.own if mongo.set is not None else None
    state = own.state if own is not None else ""
    version = mongo.set.version if mongo.set is not None else None
    key = set_id(mongo.set) if mongo.set is not None else ""
    return mongo.server.role, key, own_name(mongo), state, version, mongo.server.config_string

"""What a process tells of itself beyond its set: its id, what two answers of it agree in, its words."""

from __future__ import annotations

from services.discovery.families.mongodb.claims import set_id
from services.discovery.families.mongodb.places import own_name
from services.discovery.families.port import QuorumWords
from services.facts.model import NodeFacts
from services.i18n import mark

WORDS = QuorumWords(
    two=mark("{name}: two primaries take writes apart: {sides}"),
    none=mark("{name}: no part of the set has a majority"),
    unheard=mark("{name}: none of the members that answer reaches a majority"),
    apart=mark("another primary takes writes apart from this one: {names}"),
)


def live_id(facts: NodeFacts) -> tuple[str, ...]:
    """Return the set and the member's name in it, () for a process in none."""
    mongo = facts.mongo
    name = own_name(mongo) if mongo is not None and mongo.set is not None else ""
    if mongo is None or mongo.set is None or not name:
        return ()
    return "mongodb", f"{set_id(mongo.set)}/{name}"


def told(facts: NodeFacts) -> tuple[object, ...]:
    """Return role, set, name in it, state and configuration. Answers of one moment agree in them."""
    mongo = facts.mongo
    if mongo is None:
        return (None,) * 6
    own = mongo.set.own if mongo.set is not None else None
    state = own.state if own is not None else ""
    version = mongo.set.version if mongo.set is not None else None
    key = set_id(mongo.set) if mongo.set is not None else ""
    return mongo.server.role, key, own_name(mongo), state, version, mongo.server.config_string

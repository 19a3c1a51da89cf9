"""What a process's state is called, how serious it is, and the sentence behind it, in the vendor's own words.

A member that can't elect or follow still answers and still reads: it is never good by answering alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from services.discovery.families.mongodb.numbers import LAG_WARN_S, lag_health, lag_of, left_for
from services.discovery.families.mongodb.places import facts_of
from services.discovery.families.mongodb.views import SetOf, View
from services.discovery.judgement.judge import Around, Judgement, serving
from services.discovery.judgement.states import NOT_KNOWN, State
from services.discovery.nodes import Node
from services.discovery.words import joined
from services.facts.mongodb.model import MongoFacts
from services.i18n import mark, tr
from services.moments import duration
from services.types import Health

STALE = State("mongodb-stale-primary", mark("PRIMARY, outvoted"))
NO_MAJORITY = State("mongodb-no-majority", mark("no majority"))
NOT_INITIATED = State("mongodb-not-initiated", mark("not initiated"))
ALONE = State("mongodb-alone", mark("standalone"))
CONFIG_SERVER = State("mongodb-config-server", mark("config server"))
ROUTER = State("mongodb-router", "mongos")
STATES: Final[Mapping[str, State]] = {
    word: State(f"mongodb-{word.lower()}", word)
    for word in (
        "PRIMARY", "SECONDARY", "ARBITER", "RECOVERING", "ROLLBACK", "STARTUP", "STARTUP2", "UNKNOWN", "DOWN", "REMOVED"
    )
}  # fmt: skip
"""The vendor's own words (MongoDB manual, "Replica Set Member States")."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the processes of one cluster; `sets`: all of its replica sets."""

    sets: Sequence[SetOf]

    def __call__(self, node: Node, around: Around) -> Judgement:
        """Return the judgement of a process that answers."""
        facts = facts_of(node)
        if facts is None:
            return serving(node, around)
        role = facts.server.role
        if role == "router":
            return _router(node, facts)
        if role == "not-initiated":
            text = tr("{name} was started for a replica set but is in none: not initiated, or removed", name=node.name)
            return Judgement(NOT_INITIATED, Health.WARN, text)
        if role == "removed":
            return _by_its_word(node, "REMOVED", "")
        if facts.server.config and facts.set is None and role != "member":
            return Judgement(CONFIG_SERVER, Health.GOOD)  # of one in a set nothing is known without its set's status
        if role == "standalone":
            text = tr(
                "{name} runs standalone, but its set counts it as a member: its writes are not replicated",
                name=node.name,
            )
            return Judgement(ALONE, Health.BAD, text)
        one = next((s for s in self.sets if any(n is node for n in s.nodes)), None)
        view = one.view_of(node) if one is not None else None
        if one is None or view is None:
            return _unread(node, one, facts)
        return _member(node, one, view)


def _router(node: Node, facts: MongoFacts) -> Judgement:
    """Judge a mongos: one that can't read its cluster's metadata answers all the same, and is not good by that."""
    if facts.cluster is None or facts.cluster.shards is None:
        why = node.why("sql") or tr("no reason was reported")
        text = tr("{name} does not report its shards: {why}", name=node.name, why=why)
        return Judgement(ROUTER, Health.UNKNOWN, text)
    return Judgement(ROUTER, Health.GOOD)


def _unread(node: Node, one: SetOf | None, facts: MongoFacts) -> Judgement:
    """Judge a member whose status was not read; an arbiter under access control has no accounts to ask with.

    By its own greeting alone anybody is an arbiter, or a new member: what the majority has of it counts.
    """
    majority = one.majority if one is not None else ()
    if majority and all(node.node_id not in view.reached for view in majority):
        if facts.server.arbiter:
            text = tr("{name} answers, but no member of the majority reaches it", name=node.name)
            return Judgement(STATES["ARBITER"], Health.BAD, text)
    elif majority and one is not None and (facts.server.arbiter or not facts.proven):
        seen = one.configured.get(node.node_id)
        if seen is not None and seen.state in STATES:
            return _by_its_word(node, seen.state, tr("as seen by the majority of its set"))
    why = facts.set_untold or ("" if facts.proven else node.why("sql")) or tr("the status of its set was not read")
    return Judgement(NOT_KNOWN, Health.UNKNOWN, why)


def _member(node: Node, one: SetOf, view: View) -> Judgement:
    word = view.own_state
    state = STATES.get(word)
    if state is None:
        return Judgement(NOT_KNOWN, Health.UNKNOWN, tr("it does not report its state in the set"))
    if node.node_id in one.stale:
        text = tr(
            "{name} still acts as the primary, but another one was elected later: its writes may be rolled back",
            name=node.name,
        )
        return Judgement(STALE, Health.BAD, text)
    if view.votes.has is False and word in {"PRIMARY", "SECONDARY", "RECOVERING", "ARBITER"}:
        return Judgement(NO_MAJORITY.called(tr("{state}, no majority", state=word)), Health.BAD, _cut_off(node, view))
    facts = facts_of(node)
    if word == "PRIMARY" and facts is not None and facts.server.writable is False:
        return Judgement(
            state, Health.WARN, tr("{name} does not accept writes: it is catching up or stepping down", name=node.name)
        )
    if word == "SECONDARY":
        return _secondary(node, one, state)
    if word == "RECOVERING" and left_for(node, one).reach == "beyond":
        return Judgement(state, Health.BAD, tr(_NEEDS_SYNC, name=node.name))
    return _by_its_word(node, word, _said(view, word))


def _by_its_word(node: Node, word: str, said: str) -> Judgement:
    health, text = _WORDS.get(word, (Health.UNKNOWN, ""))
    return Judgement(STATES[word], health, joined(tr(text, name=node.name) if text else "", said))


_NEEDS_SYNC: Final = mark("{name} is behind the oplogs of all members of its set: it needs an initial sync")
_WORDS: Final[Mapping[str, tuple[Health, str]]] = {
    "PRIMARY": (Health.GOOD, ""),
    "ARBITER": (Health.GOOD, ""),
    "RECOVERING": (Health.WARN, mark("{name} does not serve reads: it is in maintenance, or is not ready yet")),
    "ROLLBACK": (
        Health.BAD,
        mark("{name} is rolling back writes that the others do not have; it saves them in its folder"),
    ),
    "STARTUP": (Health.TRANSFER, mark("{name} is starting")),
    "STARTUP2": (Health.TRANSFER, mark("{name} is copying its data from another member (initial sync)")),
    "REMOVED": (Health.BAD, mark("{name} is no longer in the configuration of its set")),
    "DOWN": (Health.BAD, ""),
    "UNKNOWN": (Health.UNKNOWN, ""),
}


def _said(view: View, word: str) -> str:
    own = view.set.own
    return own.said if own is not None and word not in {"PRIMARY", "ARBITER"} else ""


def _secondary(node: Node, one: SetOf, state: State) -> Judgement:
    """Judge by how far it is behind, and by what is left of the oplogs that it reads from."""
    left = left_for(node, one)
    if left.reach == "beyond":
        return Judgement(state, Health.BAD, tr(_NEEDS_SYNC, name=node.name))
    behind = lag_of(node, one)
    if behind is None:
        known = one.primary and any(v.observer.node_id == one.primary for v in one.views)
        if known:
            return Judgement(state, Health.UNKNOWN, tr("how far it is behind is not known"))
        if not one.primary:
            return Judgement(state, Health.UNKNOWN, tr("how far it is behind is not known: its set has no primary now"))
        return Judgement(state, Health.UNKNOWN, tr("how far it is behind is not known: the primary does not answer"))
    text = tr("{name} is {lag} behind", name=node.name, lag=duration(behind)) if behind > LAG_WARN_S else ""
    view = one.view_of(node)
    health = lag_health(behind, view.set.own if view is not None else None)
    if text and health is Health.UNKNOWN:
        text = tr("{sentence} beyond its delay, or there were no writes for that long", sentence=text)
    if left.reach == "near" and text:  # one that follows closely needs nothing of what is left
        more = tr("{left} remain in the oplog that it needs", left=duration(left.left_s or 0))
        return Judgement(state, max(health, Health.WARN, key=lambda h: h.severity), joined(text, more))
    return Judgement(state, health, text)


def _cut_off(node: Node, view: View) -> str:
    reached, whole = view.votes.reached or 0, view.votes.whole or 0
    text = tr("{name} reaches {n} of {whole} votes: no majority", name=node.name, n=reached, whole=whole)
    if view.own_state == "PRIMARY":
        return joined(text, tr("it is stepping down; writes accepted meanwhile may be rolled back"))
    return joined(text, tr("it cannot elect a primary"))

"""The parts of a replica set as they are drawn, who sees whom, and what is wrong with it as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.discovery.families.mongodb.problems import (
    ARBITER_BLOCKS,
    EVEN_VOTES,
    MAJORITY_NOT_KNOWN,
    NO_PRIMARY_MEMBER,
    OLD_PROTOCOL,
    STALE_PRIMARY,
)
from services.discovery.families.mongodb.views import SetOf, View
from services.discovery.families.port import Agreement
from services.discovery.model import ALL_DOWN, NO_PRIMARY, NO_PRIMARY_HEARD, TWO_PRIMARIES, Component, ObserverView
from services.discovery.nodes import Node
from services.discovery.words import joined, listing, moment, names
from services.facts.model import Problem
from services.i18n import tr, tr_n

PART = "mongodb"


def components_of(one: SetOf) -> tuple[Component, ...]:
    """Return the part with the majority and the islands, and write each node's component and observers into it."""
    called = {node.node_id: node for node in one.nodes}
    for view in one.views:
        for member in view.reached & called.keys():
            node = called[member]
            node.seen_by = (*node.seen_by, view.observer.node_id)
    majority = one.majority
    found: list[Component] = []
    if majority:
        first = majority[0]
        # Who is reached by the part, and does not say itself that it reaches none.
        inside = {m for m in first.reached if m in called and not _cut_off(called[m], one)}
        inside |= {view.observer.node_id for view in majority if view.observer.node_id in first.reached}
        observers = [view for view in majority if view.observer.node_id in inside]
        found.append(_component(one, one.key, inside, observers, first))
    for view in one.views:
        if view.votes.has is None or any(view.observer.node_id in c.members for c in found):
            continue  # of whom nobody knows whether it reaches a majority, no part is drawn
        own = {m for m in view.reached if m in called and not any(m in c.members for c in found)}
        others = [v for v in one.views if v.observer.node_id in own and v.reached == view.reached]
        found.append(_component(one, f"{one.key}/{view.observer.node_id}", own, others, view))
    absent = tuple(sorted(one.configured.keys() - {member for part in found for member in part.members}))
    return (replace(found[0], absent=absent), *found[1:]) if found and one.title else tuple(found)


def _cut_off(node: Node, one: SetOf) -> bool:
    view = one.view_of(node)
    return node.node_id in one.stale or (view is not None and view.votes.has is False)


def _component(one: SetOf, component_id: str, members: set[str], observers: Sequence[View], view: View) -> Component:
    by_id = {node.node_id: node for node in one.nodes}
    for member in members:
        by_id[member].component = component_id
    has = component_id == one.key
    votes = sum(m.votes or 0 for i, m in one.configured.items() if i in members)
    if has and view.votes.reached is not None:
        votes = min(votes, view.votes.reached)  # whoever says that it reaches nobody gives this part no vote
    return Component(
        component_id=component_id,
        primary=has,
        members=tuple(sorted(members)),
        observers=tuple(sorted(v.observer.node_id for v in observers)),
        votes=votes,
        votes_known=view.votes.whole or 0,
        may_lose=max(0, votes - (view.votes.majority or 0)) if has else None,
        size=len(members),
        title=one.title,
    )


def silent_of(one: SetOf) -> tuple[Node, ...]:
    """Return the members of which nothing is known now: no answer, and no host says that no server runs."""
    voters = (n for n in one.nodes if not one.configured or n.node_id in one.configured)
    return tuple(n for n in voters if not (n.spare or n.sql_fresh or stopped(n)))


def stopped(node: Node) -> bool:
    """Return whether a host says that no server runs."""
    return node.ssh_fresh and node.machine is not None and node.machine.server_state == ""


def set_problems(one: SetOf) -> list[Problem]:
    """Return what is wrong with a set, the gravest first."""
    who = one.title or tr("the replica set {name}", name=one.name or one.key)
    found: list[Problem] = []
    majority = one.majority
    if one.stale and one.primary:
        stale = names(sorted(n.name for n in one.nodes if n.node_id in one.stale))
        now = next((n.name for n in one.nodes if n.node_id == one.primary), one.primary)
        text = tr(
            "{who}: {stale} still acts as the primary, but {now} was elected later: writes on {stale} may be "
            "rolled back.",
            who=who,
            stale=stale,
            now=now,
        )
        taking = [view for view in one.views if view.own_state == "PRIMARY" and view.votes.has]
        found.append(Problem(PART, text, TWO_PRIMARIES if len(taking) > 1 else STALE_PRIMARY))
    if not majority:
        found += _not_told(one, who) or _none(one, who)
    elif not one.primary:
        text = tr("{who} has a majority and no primary: writes wait for an election.", who=who)
        found.append(Problem(PART, text, NO_PRIMARY_MEMBER))
    return [*found, *_shape(one, who)]


def _not_told(one: SetOf, who: str) -> list[Problem]:
    """Return that nobody can tell of a majority: no member gives the votes that are configured."""
    mute = [view.observer.name for view in one.views if view.votes.has is None]
    if not mute or len(mute) < len(one.views):
        return []
    told = names(sorted(mute))
    if all("config" not in view.set.missing for view in one.views):
        text = tr(
            "Whether {who} has a majority is not known: the votes in the configuration from {names} are impossible.",
            who=who,
            names=told,
        )
        return [Problem(PART, text, MAJORITY_NOT_KNOWN)]
    text = tr(
        "Whether {who} has a majority is not known: this account may not read the configuration on {names}.",
        who=who,
        names=told,
    )
    return [Problem(PART, text, MAJORITY_NOT_KNOWN)]


def _none(one: SetOf, who: str) -> list[Problem]:
    if one.views:
        silent = silent_of(one)
        if not silent:
            text = tr("No part of {who} has a majority; it has no primary, and writes wait.", who=who)
            return [Problem(PART, text, NO_PRIMARY)]
        text = tr_n(
            "No member of {who} that answers reaches a majority; the state of {names} is not known: it may be "
            "part of one.",
            "No member of {who} that answers reaches a majority; the states of {names} are not known: they "
            "may form one.",
            len(silent),
            who=who,
            names=names(sorted(n.name for n in silent)),
        )
        return [Problem(PART, text, NO_PRIMARY_HEARD)]
    if one.nodes and all(stopped(n) and not n.sql_fresh for n in one.nodes):
        text = tr("All members of {who} are down: each host reports that no server runs.", who=who)
        return [Problem(PART, text, ALL_DOWN)]
    return []


def _shape(one: SetOf, who: str) -> list[Problem]:
    """Return what its configuration makes likely to go wrong."""
    newest, found = one.newest, list[Problem]()
    if newest is None:
        return found
    whole = newest.votes
    if whole and whole % 2 == 0:
        text = tr(
            "{who} has {n} votes, an even number: it tolerates no more failures than with {less}.",
            who=who,
            n=whole,
            less=whole - 1,
        )
        found.append(Problem(PART, text, EVEN_VOTES))
    if newest.protocol == 0:
        text = tr("{who} uses the old election protocol (protocolVersion 0).", who=who)
        found.append(Problem(PART, text, OLD_PROTOCOL))
    return [*found, *_arbiters(one, who)]


def _arbiters(one: SetOf, who: str) -> list[Problem]:
    """Return a problem where w: "majority" can't be met though there is a primary: arbiters vote and hold no data.

    It takes the majority of the votes, or all data-bearing voters where they are fewer (MongoDB manual, "Replica Set
    Arbiter", Concerns with Multiple Arbiters; DOCS-9790).
    """
    voters = {i: m for i, m in one.configured.items() if m.votes}
    bearing = {i for i, m in voters.items() if not m.arbiter}
    if not voters or len(bearing) == len(voters) or not one.primary or not one.majority:
        return []
    view = one.majority[0]
    up = {i for i in bearing if i in view.reached}
    need = min(len(voters) // 2 + 1, len(bearing))
    if len(up) >= need:
        return []
    text = tr(
        '{who}: w: "majority" cannot be satisfied: {up} of the {need} required data-bearing members are '
        "reached; an arbiter has no data.",
        who=who,
        up=len(up),
        need=need,
    )
    return [Problem(PART, text, ARBITER_BLOCKS)]


def agreement_of(sets: Sequence[SetOf], components: Sequence[Component], last: float | None) -> Agreement:
    """Return who sees whom; `last`: when a member told a view last, None where nobody knows."""
    called = {n.node_id: n.name for one in sets for n in one.nodes}
    views = [c for c in components if c.observers]
    shown = tuple(ObserverView(c.observers, c.members, c.primary, _sees(c, called)) for c in views)
    if not views:
        nobody = tr("No member reports a view of its set")
        text = tr("{sentence}; one was reported at {at}", sentence=nobody, at=moment(last)) if last else nobody
        return Agreement(True, text)
    titles = [c.title for c in views]
    if len(set(titles)) == len(views):
        who = listing(sorted(called[o] for c in views for o in c.observers))
        return Agreement(True, tr("Seen from {names}", names=who), shown)
    parted = (view.sentence for c, view in zip(views, shown, strict=True) if titles.count(c.title) > 1)
    return Agreement(False, joined(*parted), shown)


def _sees(component: Component, called: dict[str, str]) -> str:
    who = names(sorted(called[o] for o in component.observers))
    reached = names(sorted(called[m] for m in component.members))
    share = tr("{n} of {nodes} votes", n=component.votes, nodes=component.votes_known)
    return tr_n("{names} reaches {members}: {share}", "{names} reach {members}: {share}", len(component.observers),
                names=who, members=reached, share=share)  # fmt: skip

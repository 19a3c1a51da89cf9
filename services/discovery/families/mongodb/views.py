"""Who is a replica set now: the members' views of one another, merged to the part with a majority and those cut off.

Voters are those that the configuration names, never who answers now (findings reference, 6.2). A part is the majority
where one of its members that answers reaches more than half of the votes. Of two that call themselves primary the one
of the later term is (protocol 0: elected later): the other has not noticed yet, and what it takes may be rolled back.
Sources: MongoDB manual, "Replica Set Elections", "Rollbacks During Replica Set Failover"; tried on 3.2.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.discovery.families.mongodb.places import PREFIX, Directory, facts_of
from services.discovery.nodes import Node
from services.facts.mongodb.judged import Votes, votes_of
from services.facts.mongodb.replica_set import ReplicaSet, SetMember

CLOSE_S = 12.0
"""A member is taken for unreachable ten seconds after its last heartbeat (heartbeatTimeoutSecs, 10 by default)."""


@dataclass(frozen=True, slots=True)
class View:
    """What one member that answers now sees.

    Attributes:
        reached: node ids that it reaches, itself included; primary: node id of whom it takes for the primary.
    """

    observer: Node
    set: ReplicaSet
    votes: Votes
    reached: frozenset[str]
    primary: str = ""

    @property
    def own_state(self) -> str:
        """Return what it says that it is."""
        own = self.set.own
        return own.state if own is not None else ""


@dataclass(slots=True)
class SetOf:
    """One replica set in the making.

    Attributes:
        key: its id; title: what is said of it in a cluster of several, '' where it is the cluster.
        nodes: its members, those only spoken of included; configured: node id -> the newest configuration's member.
        views: of the members that answer. primary: node id; stale: node ids of those that only think they are it.
    """

    key: str
    name: str
    title: str
    nodes: list[Node]
    configured: Mapping[str, SetMember] = field(default_factory=dict)
    views: tuple[View, ...] = ()
    newest: ReplicaSet | None = None
    primary: str = ""
    stale: frozenset[str] = frozenset()

    @property
    def majority(self) -> tuple[View, ...]:
        """Return the views of who reaches a majority, the primary's first."""
        having = [view for view in self.views if view.votes.has and view.observer.node_id not in self.stale]
        return tuple(sorted(having, key=lambda v: (v.observer.node_id != self.primary, -len(v.reached))))

    def view_of(self, node: Node) -> View | None:
        """Return what a member sees, None where it does not answer."""
        return next((view for view in self.views if view.observer is node), None)


def set_of(key: str, title: str, members: Sequence[Node], directory: Directory, at: float) -> SetOf:
    """Return a set: its members, those that only others name too (the directory gets them), and who sees whom."""
    pairs = [(node, facts.set) for node in members if (facts := facts_of(node)) is not None and facts.set is not None]
    newest = max((view for _, view in pairs), key=lambda v: (v.version or 0, v.term or 0), default=None)
    nodes = list(members)
    configured: dict[str, SetMember] = {}
    for member in newest.members if newest is not None else ():
        node = directory.node(member.place)
        if node is None and member.own:
            node = next((n for n, view in pairs if view is newest), None)
        if node is None:
            node = _placeholder(member, key, at)
            directory.add(node)
        if all(node is not one for one in nodes):
            nodes.append(node)
        configured.setdefault(node.node_id, member)
    found = SetOf(key, newest.name if newest is not None else "", title, nodes, configured, newest=newest)
    found.views = tuple(_view(n, view, directory) for n, view in pairs if n.sql_fresh and "status" not in view.missing)
    found.primary, found.stale = _primary(found.views)
    return found


def _placeholder(member: SetMember, key: str, at: float) -> Node:
    """Return a node for a member that no host of ours is."""
    place = member.place
    return Node(
        node_id=f"{PREFIX}{place.name}",
        name=place.name,
        facts=None,
        at=at,
        cluster=key,
        address=place.name,
        arbitrator=member.arbiter is True,
        addresses=frozenset({place.host} if place.host else set()),
    )


def _view(node: Node, view: ReplicaSet, directory: Directory) -> View:
    known = [(one, node if one.own else directory.node(one.place)) for one in view.members]
    reached = {found.node_id for one, found in known if found is not None and one.reached}
    taken = view.primary
    primary = next((f.node_id for one, f in known if f is not None and one is taken), "")
    return View(node, view, votes_of(view), frozenset(reached | {node.node_id}), primary)


def _primary(views: Sequence[View]) -> tuple[str, frozenset[str]]:
    """Return (primary, those that only think so) as node ids; the primary need not answer us, where others reach it."""
    claim = sorted((v for v in views if v.own_state == "PRIMARY"), key=_rank, reverse=True)
    if claim:
        first = claim[0]
        outvoted = _outvoted(first, views)
        if not outvoted:
            return first.observer.node_id, frozenset(v.observer.node_id for v in claim[1:] if not _old_news(v, first))
        return outvoted, frozenset(v.observer.node_id for v in claim)
    told = [view.primary for view in views if view.primary and view.votes.has and not _denied(view, views)]
    return (max(set(told), key=told.count) if told else ""), frozenset()


def _old_news(view: View, first: View) -> bool:
    """Return whether a member was asked last before we learnt that another leads: it may have stepped down since.

    Members are asked a second each, at moments of their own: of every planned election one of the two tells first. On a
    first look both are asked at once, and who claims it then is told.
    """
    before, asked, learnt = first.observer.previous, _asked(view.observer), _asked(first.observer)
    if before is None or asked is None or learnt is None:
        return False
    since = before.state_since if before.state == "PRIMARY" else learnt
    return since is not None and asked < since


def _asked(node: Node) -> float | None:
    return node.facts.sql_at if node.facts is not None else None


def _rank(view: View) -> tuple[bool, int, bool, float]:
    """Return how well it may lead: not without a majority, then the later term; votes nobody could read are no lack."""
    own = view.set.own
    elected = own.elected_at if own is not None and own.elected_at is not None else 0.0
    return (view.votes.has is not False, _term(view), view.votes.has is True, elected)


def _outvoted(first: View, views: Sequence[View]) -> str:
    """Return the primary of those that reach a majority in a later term without the one that claims it, '' for none."""
    others = (v for v in views if v.votes.has and v.primary not in {"", first.observer.node_id})
    later = [v for v in others if _later(v, first) and not _denied(v, views)]
    return max(later, key=_rank).primary if later else ""


def _denied(view: View, views: Sequence[View]) -> bool:
    """Return whether the one that a view takes for the primary says that it is none, in a term no earlier.

    Others hear of a step-down by their next heartbeat, seconds later.
    """
    own = next((v for v in views if v.observer.node_id == view.primary), None)
    return own is not None and own.own_state not in {"", "PRIMARY"} and not _term(view) > _term(own)


def _term(view: View) -> int:
    return view.set.term if view.set.term is not None else -1


def _later(view: View, than: View) -> bool:
    if _term(view) >= 0 and _term(than) >= 0:  # 0 is the first one under protocolVersion 1
        return _term(view) > _term(than)
    theirs = next((m.elected_at for m in view.set.members if m.state == "PRIMARY"), None)
    own = than.set.own
    return theirs is not None and own is not None and own.elected_at is not None and theirs > own.elected_at

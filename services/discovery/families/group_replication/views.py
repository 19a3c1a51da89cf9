"""A group as its members see it: who reaches whom, which part has the majority, and how many more it may lose.

Each member keeps a view of its own: one that it does not reach is UNREACHABLE to it alone, and counts on until the part
with a majority expels it (MySQL manual, "Responses to Failure Detection and Network Partitioning"). A part that reaches
no more than half of its view takes no writes, whatever its members call themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.discovery.families.port import Agreement
from services.discovery.model import Component, ObserverView, place_of
from services.discovery.nodes import MOST_HISTORY, Node
from services.discovery.words import joined, listing, moment, names, some
from services.facts.model import GroupMember
from services.facts.reading import count, host_port
from services.i18n import tr, tr_n

IN_THE_GROUP = frozenset({"ONLINE", "RECOVERING"})
LAG_S = 2.5
"""An observer this much older than the newest may simply not have been asked since the view changed."""
MOST_STRANGERS = 64


@dataclass(frozen=True, slots=True)
class View:
    """What one set of observers sees.

    Attributes:
        reached, unreached, members: node ids of its view; a member that is known to be gone (its host, or it itself,
            says so) is neither reached nor unreached, however the others list it for some seconds still.
        untold: members whose state is a word that nobody knows: whether they are reached is not known.
        past: a newer view left these observers behind, and they do not know it yet.
    """

    observers: tuple[Node, ...]
    reached: frozenset[str]
    unreached: frozenset[str]
    members: frozenset[str]
    untold: frozenset[str] = frozenset()
    past: bool = False

    @property
    def majority(self) -> bool:
        """Return whether more than half of the view is reached, and no newer one is known."""
        return 2 * len(self.reached) > len(self.members) and not self.past

    @property
    def majority_not_known(self) -> bool:
        """Return whether it would be a majority if it reached those whose state is not known, and only then."""
        return not (self.majority or self.past) and 2 * len(self.reached | self.untold) > len(self.members)

    @property
    def number(self) -> tuple[str, int]:
        """Return (the group's instance, the number of the view in it), as far as all observers tell the same."""
        told = {n.facts.group.view_id for n in self.observers if n.facts is not None and n.facts.group is not None}
        instance, _, number = next(iter(told)).rpartition(":") if len(told) == 1 else ("", "", "")
        return instance, count(number) or 0

    @property
    def may_lose(self) -> int | None:
        """Return how many more may fail at a time: more than half of the view must stay. None: not known."""
        if self.untold:
            return None
        return max(0, len(self.reached) - len(self.members) // 2 - 1)


class Directory:
    """The nodes of one group, found by what others call them; members that no host is become placeholders here."""

    def __init__(self, cluster: str, nodes: list[Node], at: float) -> None:
        self._cluster = cluster
        self._at = at
        self.nodes = nodes
        self._by_id: dict[str, list[Node]] = {}
        for node in nodes:
            for uuid in node.history:
                self._by_id.setdefault(uuid, []).append(node)

    def node(self, member: GroupMember) -> Node | None:
        """Return the node of a member: by its id, else by its host and port; None where it can't be told."""
        known = self._by_id.get(member.member_id, [])
        if len(known) == 1:
            return known[0]
        host = host_port(member.host)[0]
        there = [n for n in self.nodes if host and host in n.addresses and not _is_another(n, member)]
        if len(there) > 1:  # two servers of one machine
            there = [n for n in there if n.port == member.port is not None]
        if len(there) == 1:
            return there[0]
        return self._stranger(member) if member.member_id else None

    def _stranger(self, member: GroupMember) -> Node | None:
        key = f"member:{member.member_id}"
        found = next((n for n in self.nodes if n.node_id == key), None)
        if found is None:
            if sum(n.facts is None for n in self.nodes) >= MOST_STRANGERS:
                return None
            name = member.host or member.member_id[:8]
            found = Node(node_id=key, name=name, facts=None, at=self._at, cluster=self._cluster)
            self.nodes.append(found)
        host = host_port(member.host)[0]
        found.address = place_of(host, member.port) if host else found.address
        found.addresses = frozenset({host} if host else set())
        found.history = tuple(dict.fromkeys((*found.history, member.member_id)))[-MOST_HISTORY:]
        return found


def _is_another(node: Node, member: GroupMember) -> bool:
    """Return whether a server's own uuid is another than the member's: it is another one of that machine."""
    return node.server is not None and bool(node.server.server_uuid) and member.member_id not in {"", *node.history}


def state_of(node: Node) -> str:
    """Return the state that a member that answers gives itself, '' where it was not read."""
    group = node.facts.group if node.facts is not None else None
    own = group.own if group is not None else None
    return own.state if own is not None else ""


def word_of(node: Node) -> str:
    """Return the state that a member gives itself where that is a word that nobody knows."""
    own = node.facts.group.own if node.facts is not None and node.facts.group is not None else None
    return own.state_word if own is not None else ""


def views_of(directory: Directory) -> tuple[View, ...]:
    """Return the distinct views of the members that answer now, the part with the majority first."""
    everyone = list(directory.nodes)
    gone = {node.node_id for node in everyone if _is_gone(node)}
    found: dict[tuple[frozenset[str], ...], list[Node]] = {}
    for node in everyone:
        if node.sql_fresh and state_of(node) in IN_THE_GROUP:
            found.setdefault(_seen(node, directory, gone), []).append(node)
    views = [View(tuple(nodes), sets[0], sets[1], sets[2], sets[3]) for sets, nodes in found.items()]
    # The newest view first; of one view what somebody does not reach, before another notices it too.
    views.sort(key=lambda v: (not v.majority, -v.number[1], len(v.reached), -_asked(v), v.observers[0].node_id))
    return _settled(views)


def _is_gone(node: Node) -> bool:
    """Return whether a server is known to be in no group: it says so itself, or its host that no server runs."""
    if node.sql_fresh:
        return state_of(node) in {"ERROR", "OFFLINE"}
    return node.ssh_fresh and node.machine is not None and node.machine.server_state == ""


def _seen(node: Node, directory: Directory, gone: set[str]) -> tuple[frozenset[str], ...]:
    """Return (reached, unreached, members, untold) of a node's view as node ids."""
    group = node.facts.group if node.facts is not None else None
    own = group.own if group is not None else None
    # Its own row is its own, whoever else shows its id.
    rows = [(row, node if row is own else directory.node(row)) for row in (group.members if group is not None else ())]
    known = [(row.state, found.node_id) for row, found in rows if found is not None]
    untold = {i for state, i in known if not state and i not in gone} - {node.node_id}
    reached = {i for state, i in known if state in IN_THE_GROUP and i not in gone} | {node.node_id}
    unreached = {i for state, i in known if state == "UNREACHABLE" and i not in gone}
    members = {i for state, i in known if state in {*IN_THE_GROUP, "UNREACHABLE"}} | {node.node_id} | untold
    return frozenset(reached), frozenset(unreached), frozenset(members), frozenset(untold)


def _asked(view: View) -> float:
    return max((n.facts.sql_at or 0.0 for n in view.observers if n.facts is not None), default=0.0)


def _settled(views: Sequence[View]) -> tuple[View, ...]:
    """Give observers whom the newest majority reaches to its view: their answers are older, or notice a loss later.

    Whoever tells of an older view, and is not reached, was left behind and does not know it yet (a server that was
    paused and goes on tells its old view, all of it ONLINE, for some seconds; seen on MySQL 9.7.4).
    Whoever does not reach a member that the newest view counts as reached disagrees with it, however high its number:
    that stays a view of its own, and a high number takes nobody's word away.
    """
    if len(views) < 2 or not views[0].majority:
        return tuple(views)
    newest, rest = views[0], []
    instance, number = newest.number
    for view in views[1:]:
        reached = {o.node_id for o in view.observers} <= newest.reached
        older = view.number[0] == instance and 0 < view.number[1] < number
        if view.majority and reached and view.unreached & newest.reached:
            rest.append(view)
        elif view.majority and reached and (not older or abs(_asked(newest) - _asked(view)) <= LAG_S):
            newest = replace(newest, observers=(*newest.observers, *view.observers))
        else:
            rest.append(replace(view, past=True) if older else view)
    rest.sort(key=lambda v: not v.majority)
    return (newest, *rest)


def components_of(views: Sequence[View], nodes: Sequence[Node]) -> tuple[Component, ...]:
    """Return one component a view, and write each node's component and observers into `nodes`."""
    by_id = {n.node_id: n for n in nodes}
    known = len([n for n in nodes if not (n.behind or n.spare)])
    found = []
    for number, view in enumerate(views):
        own = f"island-{min(o.node_id for o in view.observers)}"
        component_id = ("primary" if number == 0 else f"primary-{number + 1}") if view.majority else own
        for member in view.members:
            node = by_id[member]
            node.seen_by = (*node.seen_by, *(o.node_id for o in view.observers))
            if (member in view.reached and not node.component) or any(o is node for o in view.observers):
                node.component = component_id
        found.append(
            Component(
                component_id=component_id,
                primary=view.majority,
                members=tuple(sorted(view.reached)),
                observers=tuple(sorted(o.node_id for o in view.observers)),
                votes=len(view.reached),
                votes_known=max(known, len(view.members)),
                may_lose=view.may_lose if view.majority else None,
                view_id=str(view.number[1] or ""),
                size=len(view.reached),
            )
        )
    return tuple(found)


def agreement_of(
    views: Sequence[View], components: Sequence[Component], called: Mapping[str, str], last: float | None
) -> Agreement:
    """Return who sees whom.

    Args:
        called: node id -> name; last: when a member told a view last, None where nobody knows.
    """
    shown = tuple(
        ObserverView(c.observers, c.members, c.primary, _sees(v, called))
        for v, c in zip(views, components, strict=True)
    )
    if not views:
        nobody = tr("No member reports a view of the group")
        return Agreement(
            True, tr("{sentence}; one was reported at {at}", sentence=nobody, at=moment(last)) if last else nobody
        )
    if len(views) == 1:
        who = listing(sorted(o.name for o in views[0].observers))
        if len(views[0].observers) > 1:
            return Agreement(True, tr("Seen from {names} (they agree)", names=who), shown)
        return Agreement(True, tr("Seen from {names}", names=who), shown)
    return Agreement(False, joined(*(view.sentence for view in shown)), shown)


def _sees(view: View, called: Mapping[str, str]) -> str:
    who = names(sorted(o.name for o in view.observers))
    reached = names(sorted(called[m] for m in view.reached))
    share = tr("{n} of {nodes}", n=len(view.reached), nodes=some(len(view.members), "{n} member", "{n} members"))
    return tr_n("{names} reaches {members}: {share}", "{names} reach {members}: {share}", len(view.observers),
                names=who, members=reached, share=share)  # fmt: skip

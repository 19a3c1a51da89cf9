"""A Galera cluster as its nodes see it: their views merged into components, who agrees, and what quorum allows.

Nodes in one primary view share its conf_id; nodes outside a primary component are together when they list the same
addresses. Quorum (Galera documentation, "Weighted Quorum"): the nodes that remain keep the primary component when their
weights are more than half of the last primary component's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.discovery.families.galera.members import Directory, listed, longest_incoming
from services.discovery.families.galera.transfers import tells_a_past_view
from services.discovery.families.port import Agreement
from services.discovery.model import Component, ObserverView
from services.discovery.nodes import Node
from services.discovery.words import joined, listing, moment, names, some
from services.facts.model import GaleraMember
from services.i18n import tr, tr_n

LAG_S = 2.5
"""An observer this much older than the newest may simply not have been asked since the view changed."""
_MOST_WEIGHT = 255
"""Of pc.weight (Galera documentation, "Galera Parameters")."""


@dataclass(frozen=True, slots=True)
class View:
    """What one group of observers sees. `members` are node ids; `unknown`: members that nobody can name."""

    primary: bool
    conf_id: int | None
    observers: tuple[Node, ...]
    members: tuple[Node, ...]
    size: int

    @property
    def unknown(self) -> int:
        """Return how many members no observer and no host accounts for."""
        return max(0, self.size - len(self.members))


def views_of(directory: Directory) -> tuple[View, ...]:
    """Return the distinct views of the nodes that answer now, primary ones first; placeholders go to `directory`."""
    groups: list[_Group] = []
    for node in list(directory.nodes):
        kind = _kind(node)
        if kind:
            home = next((g for g in groups if g.takes(node, kind)), None)
            if home is None:
                groups.append(_Group(kind, [node]))
            else:
                home.observers.append(node)
    _settle(groups, directory)
    found = [_view(group, directory) for group in groups if group.observers]
    # The newest primary view first: an older one is one that has not learnt of it yet.
    found.sort(key=lambda v: (not v.primary, -(v.conf_id or 0), -len(v.observers), v.observers[0].node_id))
    return tuple(found)


@dataclass(slots=True)
class _Group:
    """Observers that see the same. `kind`: "primary" or "island"."""

    kind: str
    observers: list[Node]

    @property
    def conf_id(self) -> int | None:
        """Return the conf_id the observers share; None outside a primary component."""
        galera = self.observers[0].galera
        return galera.conf_id if galera is not None and self.kind == "primary" else None

    def takes(self, node: Node, kind: str) -> bool:
        """Return whether `node` is in the same view as every observer here."""
        if kind != self.kind:
            return False
        # In a primary view everybody lists the same, so one comparison does; minorities may each know only a part.
        others = self.observers[:1] if kind == "primary" else self.observers
        return all(_together(node, other, kind) for other in others)


def _kind(node: Node) -> str:
    galera = node.galera
    if galera is None or not node.sql_fresh:
        return ""
    if galera.cluster_status == "Primary":
        return "primary"
    if tells_a_past_view(galera):
        return ""
    return "island" if galera.cluster_status.lower() == "non-primary" and galera.connected is not False else ""


def _together(node: Node, other: Node, kind: str) -> bool:
    """Return whether two observers tell of one view.

    Primary: the same state UUID and conf_id, and lists of addresses that don't exclude each other (after a split brain
    both halves count on from the same conf_id). Outside: both list as many members, and the lists say the same at every
    place that both know.
    """
    one, two = node.galera, other.galera
    if one is None or two is None or one.cluster_size != two.cluster_size:
        return False
    left, right = one.incoming_addresses, two.incoming_addresses
    if kind == "primary":
        if (one.state_uuid, one.conf_id) != (two.state_uuid, two.conf_id):
            return False
        named = [] if left == right else [{a for a in side if a} for side in (left, right)]
        return not named or not named[0] or not named[1] or bool(named[0] & named[1])
    if not left or len(left) != len(right):
        return False
    return (one.cluster_size or 0) > 1 and all(a == b or not a or not b for a, b in zip(left, right, strict=True))


def _settle(groups: list[_Group], directory: Directory) -> None:
    """Give an observer that was asked before a view change to the new view: its answer is old, not another opinion.

    Only when the newer view counts it as a member, and only within `LAG_S`; after that it is a real disagreement.
    """
    primaries = [g for g in groups if g.kind == "primary" and g.conf_id is not None]
    if len(primaries) < 2:
        return
    newest = max(primaries, key=lambda g: g.conf_id or 0)
    asked = min(_asked(node) for node in newest.observers)
    members = {node.node_id for node in _view(newest, directory).members}
    for group in primaries:
        if group is newest:
            continue
        late = [n for n in group.observers if n.node_id in members and 0 <= asked - _asked(n) <= LAG_S]
        newest.observers.extend(late)
        group.observers[:] = [n for n in group.observers if n not in late]


def _asked(node: Node) -> float:
    return (node.facts.sql_at if node.facts is not None else None) or 0.0


def _view(group: _Group, directory: Directory) -> View:
    observers, primary = group.observers, group.kind == "primary"
    newest = max(observers, key=lambda n: (n.galera.conf_id if n.galera is not None else 0) or 0)
    galera = newest.galera
    size = max(len(observers), (galera.cluster_size if galera is not None else None) or 0)
    members = {node.node_id: node for node in observers}
    table: tuple[GaleraMember, ...] = ()
    if len(members) < size and primary:
        table = next((rows for node in (newest, *observers) if (rows := listed(node))), ())
        for row in table:
            node = directory.member(row)
            if node is not None:
                members[node.node_id] = node
    if len(members) < size and not table:
        _add_by_address(members, size, longest_incoming(observers), directory)
    conf_id = galera.conf_id if galera is not None and primary else None
    return View(primary, conf_id, tuple(observers), tuple(members.values()), max(size, len(members)))


def _add_by_address(members: dict[str, Node], size: int, addresses: tuple[str, ...], directory: Directory) -> None:
    strangers = []
    for address in addresses:
        node = directory.at_address(address)
        if node is not None:
            members[node.node_id] = node
        elif address.strip(" :0"):
            strangers.append(address)
    for address in strangers[: max(0, size - len(members))]:
        node = directory.stranger(address)
        if node is not None:
            members[node.node_id] = node


def components_of(
    views: Sequence[View], nodes: Sequence[Node], senders: frozenset[str], before: Sequence[Component] = ()
) -> tuple[Component, ...]:
    """Return one component a view and write each node's component and observers into `nodes`.

    Args:
        senders: node ids that send flow control now. before: the components of the last snapshot.
    """
    known = _votes_known(views, nodes, before)
    found = []
    for number, view in enumerate(views):
        component_id = ("primary" if number == 0 else f"primary-{number + 1}") if view.primary else _island_id(view)
        for node in view.members:
            node.seen_by = (*node.seen_by, *(o.node_id for o in view.observers))
            if not node.component or any(o is node for o in view.observers):
                node.component = component_id
        votes = _votes(view)
        found.append(
            Component(
                component_id=component_id,
                primary=view.primary,
                members=tuple(sorted(n.node_id for n in view.members)),
                observers=tuple(sorted(n.node_id for n in view.observers)),
                votes=votes,
                votes_known=max(known, votes),
                may_lose=_spare(view, votes) if view.primary else None,
                view_id="" if view.conf_id is None else str(view.conf_id),
                segments=tuple(sorted({n.segment for n in view.members if n.segment is not None})),
                flow_control_by=tuple(sorted(n.node_id for n in view.members if n.node_id in senders)),
                size=view.size,
            )
        )
    return tuple(found)


def _spare(view: View, votes: int) -> int | None:
    """Return how many nodes the view may lose; None where the group's own count contradicts the weights (`votes`).

    What one member's weight is, where all others' are known, is what is left of the count.
    """
    told = [None if n.galera is None else n.galera.weight for n in view.members]
    weights = [weight_of(n) for n in view.members] + [1] * view.unknown
    left = votes - sum(weights)
    unknown = [index for index, weight in enumerate([*told, *[None] * view.unknown]) if weight is None]
    if left and len(unknown) == 1:
        weights[unknown[0]] += left
        return may_lose(weights) if 0 <= weights[unknown[0]] <= _MOST_WEIGHT else None
    return None if left else may_lose(weights)


def _votes_known(views: Sequence[View], nodes: Sequence[Node], before: Sequence[Component]) -> int:
    """Return the votes of all known members; those of lost ones only as far as the group ever had so many.

    A server that names others each time would add to them without end.
    """
    named = {n.node_id for v in views for n in v.members}
    lost = sum(weight_of(n) for n in nodes if n.facts is None and n.node_id not in named)
    present = sum(weight_of(n) for n in nodes if is_member(n)) - lost
    held = max((c.votes_known for c in before), default=present + lost)
    return present + min(lost, max(0, held - present))


def _island_id(view: View) -> str:
    return f"island-{min(n.node_id for n in view.observers)}"


def _votes(view: View) -> int:
    """Return the summed weights: the group's own count where it is given and fits, else the members'."""
    counted = sum(weight_of(n) for n in view.members) + view.unknown
    # An observer asked before a view change counts the old view's weights: only the newest view's observers count.
    newest = [n.galera for n in view.observers if n.galera is not None and n.galera.conf_id == view.conf_id]
    own = [galera.cluster_weight for galera in newest if galera.cluster_weight]
    return max(own) if view.primary and own and max(own) <= _MOST_WEIGHT * max(1, view.size) else counted


def weight_of(node: Node) -> int:
    """Return pc.weight, 1 where it is not known (its default)."""
    galera = node.galera
    return 1 if galera is None or galera.weight is None else min(_MOST_WEIGHT, galera.weight)


def is_member(node: Node) -> bool:
    """Return whether this node is, or was, part of the group (a plain replica behind it is not)."""
    return node.galera is not None or bool(node.seen_by) or node.facts is None


def may_lose(weights: Sequence[int]) -> int:
    """Return how many nodes may fail at the same moment, the heaviest first, without losing the primary component."""
    total, rest, lost = sum(weights), sum(weights), 0
    for weight in sorted(weights, reverse=True):
        rest -= weight
        if 2 * rest <= total:
            break
        lost += 1
    return lost


def agreement_of(
    views: Sequence[View], components: Sequence[Component], silent: Sequence[Node], last: float | None = None
) -> Agreement:
    """Return who sees whom.

    Args:
        silent: nodes that answer but are in no view (joining, disconnected).
        last: when a node of the cluster told one (UTC epoch seconds), None where nobody knows.
    """
    shown = tuple(
        ObserverView(
            observers=c.observers,
            members=c.members,
            primary=v.primary,
            sentence=tr(
                "{sees}: {state}, {votes} of {known}",
                sees=_sees_members(v),
                state="Primary" if v.primary else "non-Primary",
                votes=c.votes,
                known=some(c.votes_known, "{n} vote", "{n} votes"),
            ),
        )
        for v, c in zip(views, components, strict=True)
    )
    if not views:
        nobody = tr("No node reports a view of the group")
        if silent:
            outside = tr_n("{names} is in no view", "{names} are in no view", len(silent), names=_names(silent))
            nobody = tr("{sentence} ({more})", sentence=nobody, more=outside)
        elif last is not None:
            nobody = tr("{sentence}; one was reported at {at}", sentence=nobody, at=moment(last))
        return Agreement(True, nobody, shown)
    if len(views) == 1:
        one = views[0]
        who = listing(sorted(n.name for n in one.observers))
        if len(one.observers) > 1:
            return Agreement(True, tr("Seen from {names} (they agree)", names=who), shown)
        return Agreement(True, tr("Seen from {names}", names=who), shown)
    return Agreement(False, joined(*(_sees(v) for v in views)), shown)


def _sees(view: View) -> str:
    if len(view.members) == 1 and view.size == 1:
        return tr("{name} sees only itself", name=_observers(view))
    if len(view.members) == len(view.observers) == 2 and view.size == 2:
        return tr("{names} see each other", names=_observers(view))
    return _sees_members(view)


def _sees_members(view: View) -> str:
    who, members = _observers(view), _members(view)
    return tr_n("{names} sees {members}", "{names} see {members}", len(view.observers), names=who, members=members)


def _observers(view: View) -> str:
    return _names(view.observers)


def _members(view: View) -> str:
    if len(view.members) == 1 and view.size == 1:
        return tr("only itself")
    known = sorted(node.name for node in view.members)
    if view.unknown:
        known.append(some(view.unknown, "{n} member without a name", "{n} members without a name"))
    return names(known)


def _names(nodes: Sequence[Node]) -> str:
    return names(sorted(node.name for node in nodes))


def rates_senders(rates: Mapping[str, Mapping[str, float]], nodes: Sequence[Node]) -> frozenset[str]:
    """Return the node ids that sent flow control lately (rate "flow_control_sent", 1/s)."""
    return frozenset(n.node_id for n in nodes if rates.get(n.host, {}).get("flow_control_sent", 0.0) > 0)

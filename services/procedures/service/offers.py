"""Which procedures fit a node as it is now: what the menu, the inspector and the palette offer. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from services.discovery.judgement.states import SYNCED
from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView, nobody_answered, stands_alone
from services.discovery.shared_hosts import shared_words
from services.discovery.words import names
from services.errors import UNREACHED, BadInput
from services.facts.model import SSH
from services.i18n import tr
from services.procedures.plan.procedure import About
from services.types import ALONE, NOT_KNOWN, SEVERAL_GROUPS, VOTES, Reach

_REFUSED = frozenset(
    {"auth-failed", "tls-failed", "tls-missing", "certificate-unknown", "certificate-changed", "secret-missing"}
)
"""Codes of a login that fails at a server which may serve everybody else."""


_ACCESS = _REFUSED | {"host-key-unknown", "host-key-changed", "other-protocol", "name-unknown"}
"""Codes of what a person mends where the connection is written."""


def situations(cluster: ClusterSnapshot, node: NodeView) -> frozenset[str]:
    """Return the words of `About.for_states` that are true of a node."""
    if shared_words(cluster):
        return frozenset()
    primary = any(component.primary for component in cluster.components)
    votes = VOTES in cluster.kind.traits
    if SEVERAL_GROUPS in cluster.kind.traits:
        return frozenset({"member"}) if _is_member(node) else frozenset()
    if not votes or node.role == SPARE:
        stands_by = ALONE in cluster.kind.traits or (votes and primary)
        return frozenset({"spare"}) if stands_by and _runs_no_server(node) else frozenset()
    found = {"member"} if _is_member(node) else set()
    if not primary and not nobody_answered(cluster):
        found.add("no-primary")
    if node.code == SYNCED.code and node.reach in {Reach.FULL, Reach.SQL_ONLY} and primary:
        found.add("synced")
    away = node.reach in {Reach.NONE, Reach.SSH_ONLY} and (_was_a_node(node) or _runs_no_server(node))
    down = away and primary and not login_refused(node)
    if down and not _is_counted(cluster, node):
        found.add("down")
    return frozenset(found)


def _is_member(node: NodeView) -> bool:
    """Return whether it answers and is drawn inside a part of its group."""
    return bool(node.component) and node.reach in {Reach.FULL, Reach.SQL_ONLY}


def _is_counted(cluster: ClusterSnapshot, node: NodeView) -> bool:
    """Return whether members of the Primary Component that answer count this node among them: it is up, for others."""
    primary = {member for component in cluster.components if component.primary for member in component.observers}
    answering = {one.node_id for one in cluster.nodes if one.reach in {Reach.FULL, Reach.SQL_ONLY}}
    return bool(primary & answering & set(node.seen_by))


def _was_a_node(node: NodeView) -> bool:
    """Return whether anything shows that a node of the group was there: what is only written down shows nothing."""
    facts = node.facts
    heard = facts is not None and (facts.galera is not None or facts.server is not None)
    return heard or bool(node.uuid_history or node.seen_by or node.component or node.segment is not None)


def _runs_no_server(node: NodeView) -> bool:
    """Return whether the host says itself, over SSH, that no server runs on it.

    Outside every cluster it could join one; in a group, where it is no spare, others named it a node. One that never
    answered, one that is asked over SQL alone, and one that serves are none: nobody knows what an SST would erase.
    """
    return node.reach is Reach.SSH_ONLY and _is_stopped(node)


def _is_stopped(node: NodeView) -> bool:
    machine = node.facts.machine if node.facts is not None else None
    return machine is not None and machine.server_state == ""


def why_none_fits(cluster: ClusterSnapshot | None, about: About) -> str:
    """Return why what is in sight is no cluster that a procedure is for, '' where it may be."""
    if cluster is None:
        return ""
    if why := shared_words(cluster):
        return why
    if about.fits(cluster.kind):
        return _nobody_heard(cluster) or _no_way_in(cluster)
    if ALONE in cluster.kind.traits and any(_runs_no_server(node) for node in cluster.nodes):
        return ""
    if NOT_KNOWN in cluster.kind.traits and _no_server_tells(cluster):
        return _no_way_in(cluster) if _may_be_dead(cluster) else _nothing_known(cluster)
    return tr(about.elsewhere, name=cluster.name)


def refuse_other_kinds(about: About, cluster: str, seen: Sequence[ClusterSnapshot]) -> None:
    """Raise BadInput where every cluster meant ('': every one seen) is known to be of a kind that it is not for."""
    of_name = [c for c in seen if not cluster or cluster in {c.name, c.cluster_id}]
    other = [c for c in of_name if not about.fits(c.kind) and not {ALONE, NOT_KNOWN} & c.kind.traits]
    if other and len(other) == len(of_name):
        raise BadInput(tr(about.elsewhere, name=other[0].name), safe=tr("Nothing was changed."))


def _may_be_dead(cluster: ClusterSnapshot) -> bool:
    """Return whether it may be a cluster that was down before we looked: no server of it says what it is.

    Of hosts that are all silent nothing is known, and there is no disk to read.
    """
    unknown = NOT_KNOWN in cluster.kind.traits and not stands_alone(cluster)
    return unknown and _no_server_tells(cluster) and not nobody_answered(cluster)


def _nobody_heard(cluster: ClusterSnapshot) -> str:
    """Return that no host of a group that was known before has answered yet, '' where one has."""
    if not nobody_answered(cluster):
        return ""
    return tr("No host of {name} has answered: there is nothing to plan from.", name=cluster.name)


def _nothing_known(cluster: ClusterSnapshot) -> str:
    if nobody_answered(cluster) and stands_alone(cluster):
        return tr("The kind of {name} is not known: no host answered.", name=cluster.name)
    if nobody_answered(cluster):
        return tr("The kind of {name} is not known: none of its hosts has answered.", name=cluster.name)
    return tr("No server of {name} answers: its cluster is not known yet.", name=cluster.name)


def _no_server_tells(cluster: ClusterSnapshot) -> bool:
    return all(node.facts is None or node.facts.server is None for node in cluster.nodes)


def _all_dark(estate: EstateSnapshot) -> bool:
    """Return whether several hosts are watched and no server of any says what it is: one dead cluster, perhaps."""
    alone = all(stands_alone(c) and _no_server_tells(c) for c in estate.clusters)
    return alone and len(estate.clusters) > 1 and not all(map(nobody_answered, estate.clusters))


def _no_way_in(cluster: ClusterSnapshot) -> str:
    """Return what an SSH way would give where no host of the cluster has one: a run acts, and holds its lock, by it."""
    hosts = [node.facts for node in cluster.nodes if node.host and node.facts is not None]
    if not hosts or any(SSH not in facts.no_way for facts in hosts):
        return ""
    return tr(
        "The inventory contains no SSH access to any host of {name}. These procedures require it.",
        name=cluster.name,
    )


def why_not(about: About, cluster: ClusterSnapshot | None, estate: EstateSnapshot) -> str:
    """Return why a procedure is not for what is in sight, '' where it may be; said of what is seen, not of what is."""
    if cluster is None or ("no-primary" in about.for_states and (_may_be_dead(cluster) or _all_dark(estate))):
        return ""  # what brings a dead cluster back reads first: what it finds on the disks decides
    if why := why_none_fits(cluster, about):
        return why
    return "" if fitting_cluster((about,), cluster, estate) else _what_is_missing(about, cluster)


def _what_is_missing(about: About, cluster: ClusterSnapshot) -> str:
    if NOT_KNOWN in cluster.kind.traits:
        return _nothing_known(cluster)
    if "member" in about.for_states:
        return tr("No member of {name} answers now.", name=cluster.name)
    if VOTES not in cluster.kind.traits:
        return tr("{name} is in no cluster. Choose the cluster in the tree first.", name=cluster.name)
    primary = any(component.primary for component in cluster.components)
    if not primary:
        return tr("{name} has no Primary Component now: restore it first.", name=cluster.name)
    if "no-primary" in about.for_states:
        return tr("{name} has a Primary Component now: this procedure is for a cluster without one.", name=cluster.name)
    if "synced" in about.for_states:
        return tr("No node of {name} is known to be Synced now.", name=cluster.name)
    return tr("No node of {name} is down, and no watched host could join it.", name=cluster.name)


def fitting(abouts: Sequence[About], cluster: ClusterSnapshot, node: NodeView) -> tuple[About, ...]:
    """Return the procedures for this node, in the catalogue's order; what only a cluster without a Primary needs is
    not offered where there is one."""
    return _answering(_meant_for(abouts, cluster), situations(cluster, node))


def fitting_cluster(abouts: Sequence[About], cluster: ClusterSnapshot, estate: EstateSnapshot) -> tuple[About, ...]:
    """Return the procedures that fit any node of a cluster, and what brings a spare host of the estate into it."""
    true = frozenset[str]().union(*(situations(cluster, node) for node in cluster.nodes if node.host))
    if VOTES in cluster.kind.traits and any(component.primary for component in cluster.components):
        others = (c for c in estate.clusters if c.cluster_id != cluster.cluster_id)
        true |= frozenset[str]().union(*(situations(c, n) & {"spare"} for c in others for n in c.nodes if n.host))
    return _answering(_meant_for(abouts, cluster), true)


def _meant_for(abouts: Sequence[About], cluster: ClusterSnapshot) -> tuple[About, ...]:
    """Return the procedures for such a cluster; a host that stands alone may come into one of any kind."""
    return tuple(about for about in abouts if about.fits(cluster.kind) or ALONE in cluster.kind.traits)


def in_order(abouts: Sequence[About], cluster: ClusterSnapshot | None) -> tuple[About, ...]:
    """Return the cards as they are shown beside a cluster: those for its kind first, else in the catalogue's order."""
    return tuple(sorted(abouts, key=lambda about: cluster is not None and not about.fits(cluster.kind)))


def can_be_retried(node: NodeView) -> bool:
    """Return whether another try may find what is not reached: the host, or a server that its host says is there."""
    facts = node.facts
    if node.reach is Reach.NONE or facts is None:
        return node.reach is Reach.NONE
    return node.reach is Reach.SSH_ONLY and not _is_stopped(node) and any(p.code in UNREACHED for p in facts.problems)


def login_refused(node: NodeView) -> bool:
    """Return whether the console is refused by a server that may well be Synced: its connection is to be mended."""
    facts = node.facts
    return (
        facts is not None
        and node.reach is Reach.SSH_ONLY
        and not _is_stopped(node)
        and any(p.part == "sql" and p.code in _REFUSED for p in facts.problems)
    )


def to_be_mended(node: NodeView) -> bool:
    """Return whether what is told of a node is mended in its connection: a key, a login, an address, a port."""
    told = node.facts.problems if node.facts is not None else ()
    return node.reach is Reach.NONE or login_refused(node) or any(p.code in _ACCESS for p in told)


def first_find_out(cluster: ClusterSnapshot) -> str:
    """Return what must come before a start from nothing: a silent node may be Primary and take rows; '' for nothing."""
    if VOTES not in cluster.kind.traits or any(c.primary for c in cluster.components) or not cluster.silent:
        return ""
    who = names(sorted(node.name for i in cluster.silent if (node := cluster.node(i)) is not None))
    return tr("First check {names}", names=who)


def _answering(abouts: Sequence[About], true: frozenset[str]) -> tuple[About, ...]:
    if not true:
        return ()
    return tuple(
        about
        for about in abouts
        if ({"any", *true} & set(about.for_states)) and ("no-primary" in true or "no-primary" not in about.for_states)
    )

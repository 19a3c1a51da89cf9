"""What all pages agree on about nodes: their curve colour, and when a number counts as stale."""

from __future__ import annotations

from services.discovery.model import SPARE, ClusterSnapshot, NodeView
from services.drawing.cluster import ordered_nodes
from services.i18n import tr
from services.types import Health, Reach
from widgets.common.look.text import one_line

STALE_AFTER_S = 3.0
"""A number older than two samples (and a little jitter) is shown grey with its age."""


def curve_indexes(cluster: ClusterSnapshot) -> dict[str, int]:
    """Return which curve colour each node has on every page."""
    return {node.node_id: at for at, node in enumerate(ordered_nodes(cluster))}


def curve_index(cluster: ClusterSnapshot, node_id: str) -> int:
    """Return which curve colour a node has on every page (its place in the order of names)."""
    return next((i for i, n in enumerate(ordered_nodes(cluster)) if n.node_id == node_id), 0)


def state_word(node: NodeView) -> str:
    """Return the node's state in the person's language (a vendor's word is its own), else how it is reached."""
    return one_line(tr(node.state)) or tr(node.reach.value)


def missing_words(cluster: ClusterSnapshot) -> str:
    """Return "2 of 3 expected nodes" for a cluster that is smaller than the inventory says, else ''."""
    if cluster.expected is None or cluster.size is None or cluster.size >= cluster.expected:
        return ""
    return tr("{size} of {expected} expected nodes", size=cluster.size, expected=cluster.expected)


def silence_words(cluster: ClusterSnapshot) -> str:
    """Return "3 of 15 answer" for a cluster of which a host gives no answer at all, else ''."""
    hosts = [node for node in cluster.nodes if node.host]
    if not any(node.reach is Reach.NONE for node in hosts):
        return ""
    answering = sum(node.reach not in {Reach.NONE, Reach.NOT_TRIED} for node in hosts)
    return tr("{answering} of {total} answer", answering=answering, total=len(hosts))


def age_of(node: NodeView, at: float) -> float | None:
    """Return how old the node's numbers are at `at`, in seconds; None when it never answered.

    While SQL can't answer (a joiner receives an SST) the numbers come over SSH and from its peers: the poll's age then.
    An attempt that failed is no answer, and makes nothing younger.
    """
    if node.facts is None:
        return None
    taken = node.facts.at if node.reach is Reach.SSH_ONLY else (node.facts.sql_at or node.facts.ssh_at)
    return None if taken is None else max(0.0, at - taken)


def last_answer(node: NodeView) -> float | None:
    """Return when what is silent now last answered (UTC epoch seconds): the host, over any way, where it is silent
    itself; its server where the host answers. None: it never did.

    Every 'last answer' of a page is this one; where a host is silent, the server's own is told as the server's.
    """
    return server_answered(node) if node.reach is Reach.SSH_ONLY else heard_last(node)


def server_answered(node: NodeView) -> float | None:
    """Return when the node's server last answered, None when it never did (UTC epoch seconds)."""
    return node.facts.sql_at if node.facts is not None else None


def answer_age(node: NodeView, at: float) -> float | None:
    """Return how long ago a node answered: a silent host in any way; of any other one the age of its numbers."""
    heard = heard_last(node)
    if node.reach is Reach.NONE and heard is not None:
        return max(0.0, at - heard)
    return age_of(node, at)


def heard_last(node: NodeView) -> float | None:
    """Return when the host last answered over any way, None when it never did (UTC epoch seconds)."""
    moments = [m for m in (node.facts.sql_at, node.facts.ssh_at) if m is not None] if node.facts is not None else []
    return max(moments, default=None)


def is_stale(node: NodeView, at: float) -> bool:
    """Return whether the node's numbers are too old to be shown as the present."""
    age = age_of(node, at)
    return age is not None and age > STALE_AFTER_S


def lasting_role(node: NodeView) -> str:
    """Return the role that a node has though it does not answer: what is written down stays, what it said may not."""
    named = node.facts is not None and bool(node.facts.kind)
    return node.role if node.role == SPARE or named else ""


def is_silent(node: NodeView) -> bool:
    """Return whether the console has no SQL answer from the node now: drawn dashed, with the reason.

    A joiner is not silent: its server takes no connection during an SST, as it should.
    """
    if node.reach is Reach.SSH_ONLY:
        return node.health is not Health.TRANSFER
    return node.reach is Reach.NONE or node.reach is Reach.NOT_TRIED

"""What is said of a cluster none of whose hosts answers: how many, why, since when. Pure."""

from __future__ import annotations

from services.discovery.model import ClusterSnapshot, NodeView
from services.errors import NothingListens
from services.i18n import tr, tr_n
from services.types import Health, Reach
from widgets.common.look.text import format_clock, in_past
from widgets.common.nodes import heard_last


def is_dark(cluster: ClusterSnapshot) -> bool:
    """Return whether every host of the cluster was asked and none answers."""
    hosts = [node for node in cluster.nodes if node.host]
    return bool(hosts) and all(node.reach is Reach.NONE for node in hosts)


def dark_notice(cluster: ClusterSnapshot) -> tuple[Health, tuple[str, ...]]:
    """Return how bad it is that none answers, and the sentences: red where connections are refused."""
    hosts = [node for node in cluster.nodes if node.host]
    refused = sum(map(is_refused, hosts))
    text = tr_n(
        "The only host of {name} does not answer.",
        "None of the {n} hosts of {name} answers.",
        len(hosts),
        name=cluster.name,
    )
    if refused:
        more = tr_n("{n} refuses the connection.", "{n} refuse the connection.", refused)
        text = tr("{sentence} {more}", sentence=text, more=more)
    return (Health.BAD if refused else Health.UNKNOWN), (text, _since(cluster))


def is_refused(node: NodeView) -> bool:
    """Return whether the host refuses connections: it is there, and what is asked for is not."""
    return node.facts is not None and any(p.code == NothingListens.code for p in node.facts.problems)


def _since(cluster: ClusterSnapshot) -> str:
    last = max((at for node in cluster.nodes if (at := heard_last(node)) is not None), default=None)
    if in_past():  # nobody is asked in a recording
        never = tr("There has been no answer.")
        return never if last is None else tr("The last answer came at {at}.", at=format_clock(last))
    if last is not None:
        return tr("The last answer came at {at}; retries continue automatically.", at=format_clock(last))
    asked = min((n.watched_since for n in cluster.nodes if n.watched_since is not None), default=cluster.at)
    return tr(
        "There has been no answer since the first query at {at}; retries continue automatically.",
        at=format_clock(asked),
    )

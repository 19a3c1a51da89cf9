"""What the drawing says, as text made from a snapshot. Pure: every sentence is tested without painting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.discovery.model import (
    TWO_PRIMARIES,
    ClusterSnapshot,
    Component,
    NodeView,
    ReplicationEdge,
    TransferEdge,
    kind_words,
    was_so_before,
)
from services.drawing.cluster import part_name, transfer_fraction
from services.facts.model import GroupRecovery, SemiSyncFacts
from services.i18n import mark, tr, tr_n
from services.types import Health, Reach
from widgets.common.look.text import (
    UNKNOWN,
    format_age,
    format_bytes,
    format_bytes_of,
    format_clock,
    format_count,
    format_duration,
    format_rate,
    one_line,
    plural,
    short_id,
)
from widgets.common.nodes import (
    age_of,
    is_silent,
    is_stale,
    last_answer,
    lasting_role,
    missing_words,
    server_answered,
    state_word,
)

WEEK_S = 7 * 86_400.0
"""What a reach is cut at where it is measured."""


@dataclass(frozen=True, slots=True)
class CardText:
    """The words of one node card. `rows`: (label, value, health). `lines`: sentences instead of rows."""

    name: str
    state: str
    health: Health
    role: str
    rows: tuple[tuple[str, str, Health], ...] = ()
    lines: tuple[str, ...] = ()
    footer: str = ""
    silent: bool = False
    stale: bool = False


def card_text(node: NodeView, at: float) -> CardText:
    """Return the words of a node's card as of `at`."""
    name = one_line(node.name or node.host or node.node_id)
    if is_silent(node):
        return CardText(
            name,
            state_word(node),
            node.health,
            tr(lasting_role(node)),
            (),
            _silence(node),
            _last_seen(node),
            silent=True,
        )
    if is_stale(node, at):
        # An old state is no longer known: the shape of "unknown", the old word in grey, and its age.
        age = format_age(age_of(node, at))
        return CardText(name, one_line(tr(node.state)), Health.UNKNOWN, age, _numbers(node), stale=True)
    return CardText(name, one_line(tr(node.state)), node.health, one_line(tr(node.role)), _numbers(node), _why(node))


def _numbers(node: NodeView) -> tuple[tuple[str, str, Health], ...]:
    return tuple((tr(label), value, health) for label, value, health in node.numbers[:3])


def _why(node: NodeView) -> tuple[str, ...]:
    """Return the reason where the numbers leave room for it: a bad node with little else to say."""
    room = not node.numbers or (node.health is Health.BAD and len(node.numbers) == 1)
    return (node.reason,) if node.reason and room else ()


def _silence(node: NodeView) -> tuple[str, ...]:
    if node.reason:
        return (node.reason,)
    if node.reach is Reach.NOT_TRIED:
        return (tr("waiting for the first answer"),)
    return (tr(node.reach.value),)


def _last_seen(node: NodeView) -> str:
    answered = last_answer(node)
    if answered is not None:
        at = format_clock(answered)  # of a host that answers the server's own, by its name
        return tr("server answered {at}", at=at) if node.reach is Reach.SSH_ONLY else tr("last answer {at}", at=at)
    if node.state_since is not None:
        at = format_clock(node.state_since)
        return tr("since before {at}", at=at) if was_so_before(node) else tr("since {at}", at=at)
    return ""


def component_title(component: Component, cluster: ClusterSnapshot) -> str:
    """Return the bold words of a component."""
    name = part_name(component, cluster)
    return tr("{part}, split", part=name) if component.primary and is_split(cluster) else name


def is_split(cluster: ClusterSnapshot) -> bool:
    """Return whether two Primary Components of the cluster are seen: neither is the calm one."""
    return any(problem.code == TWO_PRIMARIES for problem in cluster.problems)


def component_detail(component: Component, cluster: ClusterSnapshot) -> str:
    """Return the words behind the title: votes, what may fail, who is seen, the view."""
    parts = [_votes(component)]
    if component.primary:
        parts.append(missing_words(cluster))
        parts.append(_may_lose(component))
        if component.view_id:
            parts.append(tr("view {view}", view=short_id(component.view_id)))
        if component.flow_control_by:
            parts.append(tr("flow control by {names}", names=_names(cluster, component.flow_control_by)))
        parts.append(cluster_reach_words(cluster))
        return " · ".join(p for p in parts if p)
    return ", ".join(p for p in (parts[0], sees_whom(component, cluster)) if p)


def _may_lose(component: Component) -> str:
    if component.may_lose is None:
        return tr("how many nodes it may lose is not known")
    return tr("may lose {n} at a time", n=component.may_lose) if component.may_lose else tr("may lose none")


def cluster_reach_words(cluster: ClusterSnapshot) -> str:
    """Return how long any node may be away and still return by IST, '' while that is not known."""
    reach = cluster.ist_reach
    if reach is None or reach.seconds is None:
        return ""
    return tr("IST reach {time}", time=reach_words(reach.seconds))


def reach_words(seconds: float) -> str:
    """Return a reach; from a week on it is counted no further."""
    return tr("a week or more") if seconds >= WEEK_S else format_duration(seconds)


def _votes(component: Component) -> str:
    if component.votes_known and component.votes != component.votes_known:
        known = format_count(component.votes_known)
        shown = format_count(component.votes)
        return tr_n("{votes} of {n} vote", "{votes} of {n} votes", component.votes_known, n=known, votes=shown)
    return plural(component.votes, "{n} vote", "{n} votes")


def sees_whom(component: Component, cluster: ClusterSnapshot) -> str:
    """Return "sees only itself", "see only db3 and db4"."""
    if len(component.members) == 1:
        return tr("sees only itself")
    return tr("see only {names}", names=_names(cluster, component.members))


def _names(cluster: ClusterSnapshot, ids: Sequence[str]) -> str:
    names = [node.name if (node := cluster.node(i)) else short_id(i) for i in ids]
    if len(names) > 3:
        return tr("{names} and {n} more", names=", ".join(names[:2]), n=len(names) - 2)
    return tr("{names} and {last}", names=", ".join(names[:-1]), last=names[-1]) if len(names) > 1 else "".join(names)


def segment_label(segment: int) -> str:
    """Return a chamber's label."""
    return tr("segment {segment}", segment=segment)


def channel_mode(edge: ReplicationEdge, cluster: ClusterSnapshot) -> str:
    """Return "GTID", "file and position" or '' for the channel of an edge, as its replica's facts tell."""
    node = cluster.node(edge.replica_id)
    if node is None or node.facts is None or node.facts.replication is None:
        return ""
    channels = node.facts.replication.channels
    mode = next((c.gtid_mode for c in channels if c.name == edge.channel), "")
    if not mode:
        return ""
    return tr("file and position") if mode.casefold() in {"no", "off"} else "GTID"


def replication_lines(edge: ReplicationEdge, cluster: ClusterSnapshot) -> tuple[str, str]:
    """Return the two lines at a channel's arrow: what it is, how it fares."""
    parts = (edge.channel, semi_sync_words(edge) or ("" if edge.channel else tr("async")), channel_mode(edge, cluster))
    first = " · ".join(part for part in parts if part)
    return first, lag_words(edge)


def semi_sync_words(edge: ReplicationEdge) -> str:
    """Return whether the source's commits wait for this replica; '' where they need not, or nobody can tell."""
    if edge.semi_sync is None:
        return ""
    return tr("semi-sync") if edge.semi_sync else tr("semi-sync fallen back")


def semi_sync_rows(facts: SemiSyncFacts) -> Iterator[tuple[str, str, str, Health]]:
    """Yield (label, value, note, health) of a server on which it is enabled, as a source and as a replica."""
    if facts.source_enabled:
        words = {True: tr("commits wait"), False: tr("fallen back to asynchronous"), None: tr("not known")}
        health = {True: Health.GOOD, False: Health.WARN, None: Health.UNKNOWN}[facts.source_active]
        yield mark("semi-sync"), words[facts.source_active], facts.wait_point, health
        if facts.clients is not None:
            enough = Health.GOOD if facts.wanted is not None else Health.UNKNOWN
            few = Health.WARN if facts.few else enough
            wanted = tr("of {n} that commits wait for", n="?" if facts.wanted is None else facts.wanted)
            yield mark("semi-sync replicas"), format_count(facts.clients), wanted, few
        if facts.not_acknowledged is not None:
            count = format_count(facts.not_acknowledged)
            yield mark("not acknowledged"), count, tr("commits since the start"), Health.UNKNOWN
        if facts.waiting:
            yield mark("in their commit"), format_count(facts.waiting), tr("wait for a replica"), Health.UNKNOWN
    if facts.replica_enabled:
        told = {True: tr("acknowledges"), False: tr("enabled, not active"), None: tr("not known")}
        yield mark("semi-sync replica"), told[facts.replica_active], "", Health.UNKNOWN


def recovery_words(recovery: GroupRecovery) -> str:
    """Return how far a member of a group is that is RECOVERING: what it clones, else what it still has to apply."""
    if recovery.clone_stage:
        return _clone_words(recovery)
    if recovery.missing is None:
        return tr("not known")
    return tr("{n} transactions received and not applied", n=format_count(recovery.missing))


def _clone_words(recovery: GroupRecovery) -> str:
    """Return "FILE COPY, 70 MB of about 84 MB"."""
    if recovery.clone_done is None:
        return recovery.clone_stage
    return f"{recovery.clone_stage}, {format_bytes_of(recovery.clone_done, recovery.clone_whole, about=True)}"


def meant_words(delay_s: int | None) -> str:
    """Return what of a lag is meant; '' where none is."""
    if delay_s is None:
        return tr("the intended delay is not known")
    return tr("{span} intended", span=format_duration(delay_s)) if delay_s else ""


def lag_words(edge: ReplicationEdge, *, short: bool = False) -> str:
    """Return how a channel fares: what stopped, else its lag; a delay that is meant is told as one.

    `short`: for the narrow boxes where several channels enter one card.
    """
    if short:
        stopped = {edge.sql_running, edge.io_running} - {"Yes", ""}
        return tr("stopped") if stopped else format_duration(edge.lag_s)
    if edge.sql_running and edge.sql_running != "Yes":
        return tr("SQL thread stopped")
    if edge.io_running and edge.io_running != "Yes":
        return tr("IO thread connecting") if edge.io_running == "Connecting" else tr("IO thread stopped")
    lag = tr("lag not known") if edge.lag_s is None else tr("lag {lag}", lag=format_duration(edge.lag_s))
    meant = meant_words(edge.delay_s)
    return f"{lag}, {meant}" if meant else lag


def transfer_lines(edge: TransferEdge, at: float) -> tuple[str, str]:
    """Return the two lines at a transfer's arrow: kind, method and share; amount and what is left."""
    head = ", ".join(p for p in (edge.kind or tr("state transfer"), edge.method) if p)
    fraction = transfer_fraction(edge)
    first = head if fraction is None else f"{head} · {fraction * 100:.0f} %"
    parts = []
    if edge.bytes_done is not None:
        parts.append(format_bytes_of(edge.bytes_done, edge.bytes_total, about=True))
    elif edge.seqno_done is not None and edge.seqno_first is not None:
        parts.append(tr("{n} write sets", n=format_count(edge.seqno_done - edge.seqno_first)))
    if edge.eta_s is not None:
        parts.append(tr("{span} left", span=format_duration(edge.eta_s)))
    elif edge.rate:
        parts.append(format_rate(edge.rate))
    if not parts and edge.since is not None:
        parts.append(tr("for {span}", span=format_duration(max(0.0, at - edge.since))))
    return first, " · ".join(parts)


def subtitle(cluster: ClusterSnapshot) -> str:
    """Return the header's second part, whole: "Galera · MariaDB 10.11.14 · state 8f21c0de-77b2-..."."""
    server = f"{cluster.flavour.value} {cluster.version}".strip() if cluster.version else ""
    state = tr(cluster.kind.identity, uuid=cluster.cluster_id) if cluster.kind.identity else ""
    return " · ".join(p for p in (kind_words(cluster), server, state) if p)


def seen_from(cluster: ClusterSnapshot, at: float) -> str:
    """Return the line below the drawing: who saw this, whether they agree, how long ago."""
    if cluster.agreement and not any(node.reach in {Reach.FULL, Reach.SQL_ONLY} for node in cluster.nodes):
        return tr("{sentence} · {last}", sentence=cluster.agreement, last=_last_answer_words(cluster, at))
    age = format_age(max(0.0, at - cluster.at))
    return f"{cluster.agreement} · {age}" if cluster.agreement else tr("Not seen by any node yet · {age}", age=age)


def _last_answer_words(cluster: ClusterSnapshot, at: float) -> str:
    """Return how old the last answer of a server is: a try is no answer."""
    moments = [last for node in cluster.nodes if (last := server_answered(node)) is not None]
    if not moments:
        return tr("no server has answered since this console started watching")
    return tr("a server last answered {age}", age=format_age(max(0.0, at - max(moments))))


def tooltip(node: NodeView, at: float) -> str:
    """Return what hovering a node tells: address, reason, since when."""
    lines = [" · ".join(p for p in (node.name, node.address, tr(node.state)) if p)]
    if node.reason:
        lines.append(node.reason)
    if node.state_since is not None:
        span = format_duration(max(0.0, at - node.state_since))
        lines.append(tr("for more than {span}", span=span) if was_so_before(node) else tr("for {span}", span=span))
    return "\n".join(lines)


def accessible_text(node: NodeView, at: float) -> str:
    """Return a node as a screen reader should say it."""
    text = card_text(node, at)
    rows = [f"{label} {value}" for label, value, _ in text.rows]
    return ", ".join(p for p in (text.name, text.state, text.role, *rows, *text.lines, text.footer) if p)


def size_words(size: int | None, free: int | None) -> str:
    """Return "640 GB free of 1.92 TB"."""
    if free is None:
        return UNKNOWN
    return (
        tr("{free} free of {size}", free=format_bytes(free), size=format_bytes(size))
        if size
        else tr("{free} free", free=format_bytes(free))
    )

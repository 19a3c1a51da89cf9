"""Asynchronous replication between nodes: each channel finds its source, and becomes an edge that says how it fares.

An edge's key is (replica, channel, source) from the start: several sources of one replica never overwrite one another
(openark/orchestrator #38, #433), and rings are nothing special (#604).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.addresses import is_this_machine
from services.discovery.judgement.replication_known import channels_doubt
from services.discovery.model import ReplicationEdge, place_of
from services.discovery.nodes import Node
from services.discovery.words import joined, some
from services.facts.model import ReplicaSeen, ReplicationChannel, SemiSyncFacts
from services.facts.reading import host_port, without_port
from services.facts.replication import gtid
from services.facts.replication.replication import received_gap
from services.i18n import tr
from services.moments import duration
from services.types import Health, worst

LAG_WARN_S, LAG_BAD_S = 10.0, 60.0
"""Beyond the delay that is meant (metrics reference, 'Replication lag')."""
_SQL_WORDS = frozenset({"yes", "no", "connecting"})
_IO_WORDS = frozenset({"yes", "no", "connecting", "preparing"})
"""MySQL manual, "SHOW REPLICA STATUS Statement"; MariaDB KB, "SHOW REPLICA STATUS" (Preparing)."""


@dataclass(frozen=True, slots=True)
class Link:
    """One channel with both its ends. `source` may be a placeholder."""

    replica: Node
    channel: ReplicationChannel
    source: Node


def links_of(nodes: list[Node], at: float) -> tuple[Link, ...]:
    """Return every channel of every node with its source; unknown sources are added to `nodes` as placeholders."""
    found = []
    strangers: dict[str, Node] = {}
    index = _Index(nodes)
    for node in list(nodes):
        for channel in node.replication.channels if node.replication is not None else ():
            source = index.source_of(node, channel)
            if source is None:
                source = _stranger(channel, at, strangers)
            found.append(Link(node, channel, source))
    nodes.extend(strangers.values())
    return tuple(found)


def _stranger(channel: ReplicationChannel, at: float, strangers: dict[str, Node]) -> Node:
    address = place_of(without_port(channel.source_host), channel.source_port)
    key = f"source:{address.lower()}"
    if key not in strangers:
        strangers[key] = Node(node_id=key, name=channel.source_host, facts=None, at=at, address=address)
    return strangers[key]


class _Index:
    """Finds a channel's source among the known nodes, by what can't be mistaken first."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._by_uuid: dict[str, list[Node]] = {}
        self._by_address: dict[str, list[Node]] = {}
        self._by_server_id: dict[int, list[Node]] = {}
        for node in nodes:
            for address in node.addresses:
                self._by_address.setdefault(address, []).append(node)
            server = node.server
            if server is not None and server.server_uuid:
                self._by_uuid.setdefault(server.server_uuid, []).append(node)
            if server is not None and server.server_id:
                self._by_server_id.setdefault(server.server_id, []).append(node)

    def source_of(self, replica: Node, channel: ReplicationChannel) -> Node | None:
        """Return the source: by server uuid if one node has it, by address and port, by server id with a witness."""
        same = [n for n in self._by_uuid.get(channel.source_uuid, []) if n is not replica]
        by_uuid = [n for n in same if not _contradicts(n, channel)]
        if len(by_uuid) == 1:
            return by_uuid[0]
        by_address = [n for n in self._at(replica, channel) if not _contradicts(n, channel)]
        if len(by_uuid) > 1:
            by_address = [n for n in by_address if n in by_uuid] or by_address
        if len(by_address) == 1:
            return by_address[0]
        return None if by_address else self._by_witness(replica, channel)

    def _at(self, replica: Node, channel: ReplicationChannel) -> list[Node]:
        host = host_port(channel.source_host)[0]
        if is_this_machine(host):  # another server on the replica's own machine
            near = [n for n in self._by_address.get(host_port(replica.address)[0], []) if n is not replica]
            return _on_port(near, channel.source_port)
        found = [n for n in self._by_address.get(host, []) if n is not replica]
        if len(found) == 1 and found[0].server is None:
            return found  # it never told its port
        return _on_port(found, channel.source_port)

    def _by_witness(self, replica: Node, channel: ReplicationChannel) -> Node | None:
        """Return the one node of that server id that itself sees this replica (a VIP's address says nothing)."""
        of_that_id = self._by_server_id.get(channel.source_server_id or 0, [])
        found = [n for n in of_that_id if n is not replica and not _contradicts(n, channel) and _sees(n, replica)]
        return found[0] if len(found) == 1 else None


def _on_port(nodes: Sequence[Node], port: int | None) -> list[Node]:
    """Return those that a port leads to: by the port that the console itself asks at, else by the server's own.

    In a container, or behind a forwarded port, a server tells another one than leads to it. No port leads to nobody.
    """
    if port is None:
        return []
    asked = [n for n in nodes if n.asked_port == port]
    return asked or [n for n in nodes if n.port == port]


def _contradicts(node: Node, channel: ReplicationChannel) -> bool:
    """Return whether a server's own uuid or id is another than the channel tells of its source: it is not that one."""
    server = node.server
    if server is None:
        return False
    uuids = (channel.source_uuid, server.server_uuid)
    ids = (channel.source_server_id, server.server_id)
    return (all(uuids) and uuids[0] != uuids[1]) or (all(ids) and ids[0] != ids[1])


def _sees(source: Node, replica: Node) -> bool:
    seen = source.replication.replicas if source.replication is not None else ()
    return any(_is_seen(one, replica) for one in seen)


def _is_seen(one: ReplicaSeen, replica: Node) -> bool:
    """Return whether a replica as its source sees it is this one: by its uuid, its id, and its address without them."""
    server = replica.server
    for told, own in (
        (one.server_uuid, server.server_uuid if server is not None else ""),
        (one.server_id, server.server_id if server is not None else None),
    ):
        if told and own:
            return told == own
    return bool(one.host) and host_port(one.host)[0] in replica.addresses


def edges_of(links: Sequence[Link], rates: Mapping[str, Mapping[str, float]]) -> tuple[ReplicationEdge, ...]:
    """Return the judged edges, in the order of the links."""
    return tuple(_edge(link, rates.get(link.replica.host, {})) for link in links)


def _edge(link: Link, rates: Mapping[str, float]) -> ReplicationEdge:
    channel = link.channel
    lag, lag_source = lag_of(link, rates)
    health, reason = judged(link, lag)
    return ReplicationEdge(
        source_id=link.source.node_id,
        replica_id=link.replica.node_id,
        channel=channel.name,
        health=health,
        io_running=channel.io_running,
        sql_running=channel.sql_running,
        lag_s=lag,
        lag_source=lag_source,
        gtid_gap=gap_of(link),
        delay_s=channel.delay_s,
        reason=reason,
        semi_sync=acknowledges(link),
    )


def acknowledges(link: Link) -> bool | None:
    """Return whether a channel's replica acknowledges commits; None where it should not, or nobody can tell.

    The replica's own status stays ON when its source fell back: then nobody waits for it.
    """
    facts = _semi_sync(link.replica)
    if facts is None or not facts.replica_enabled or facts.replica_active is None:
        return None
    source = _semi_sync(link.source)
    if source is None:
        return facts.replica_active
    if source.source_enabled is False or source.source_active is None:
        return None
    return facts.replica_active and source.source_active


def _semi_sync(node: Node) -> SemiSyncFacts | None:
    return node.facts.semi_sync if node.facts is not None and node.sql_fresh else None


def lag_of(link: Link, rates: Mapping[str, float]) -> tuple[float | None, str]:
    """Return (seconds, where from). NULL stays None; a server that says 0 while a thread is stopped is not believed."""
    channel, replication = link.channel, link.replica.replication
    if replication is not None and replication.heartbeat_lag_s is not None and len(replication.channels) == 1:
        return max(0.0, replication.heartbeat_lag_s), "heartbeat"
    if not (_runs(channel.io_running) and _runs(channel.sql_running)) or channels_doubt(link.replica):
        return None, ""
    if channel.seconds_behind is None:
        return None, ""
    exact = rates.get("lag_s")
    if exact is not None and replication is not None and len(replication.channels) == 1 and exact >= 0:
        return exact, "seconds behind"
    return channel.seconds_behind, "seconds behind"


def _runs(word: str) -> bool:
    return word.lower() == "yes"


def _unknown_word(channel: ReplicationChannel) -> str:
    """Return the sentence of a thread whose state is no word that servers are known to say; '' for none."""
    threads = (("SQL", channel.sql_running, _SQL_WORDS), ("IO", channel.io_running, _IO_WORDS))
    for thread, word, known in threads:
        if word.lower() not in known:
            return tr("the {thread} thread's state is '{word}', which is not known", thread=thread, word=word)
    return ""


def judged(link: Link, lag: float | None) -> tuple[Health, str]:
    """Return a channel's health and the sentence that says why it is not simply good."""
    channel, source = link.channel, link.source.name
    if not link.replica.sql_fresh:
        return Health.UNKNOWN, tr("{name} does not answer; these are its last values", name=link.replica.name)
    if unknown := channels_doubt(link.replica) or _unknown_word(channel):
        return Health.UNKNOWN, unknown
    if not _runs(channel.sql_running):
        return Health.BAD, _stopped(tr("SQL thread stopped"), channel.sql_errno, channel.sql_error)
    if not _runs(channel.io_running):
        return _not_fetching(channel, source)
    health, behind = _by_lag(channel, lag)
    error = _named_error(channel)
    return (worst((health, Health.WARN)), joined(error, behind)) if error else (health, behind)


def _by_lag(channel: ReplicationChannel, lag: float | None) -> tuple[Health, str]:
    if lag is None:
        return Health.UNKNOWN, tr("the server does not report its lag")
    if channel.delay_s is None:  # it can be no less than none
        return (Health.UNKNOWN, _meant_not_known(lag)) if lag > LAG_WARN_S else (Health.GOOD, "")
    beyond = lag - channel.delay_s
    if beyond > LAG_WARN_S:
        return Health.BAD if beyond > LAG_BAD_S else Health.WARN, _behind(beyond, channel)
    return Health.GOOD, tr("delayed by {span} on purpose", span=duration(channel.delay_s)) if channel.delay_s else ""


def _named_error(channel: ReplicationChannel) -> str:
    """Return the error that a channel names though both its threads run, '' for none.

    A thread's start clears its error, and so does a new connection that succeeds (MySQL source, rpl_replica.cc:
    handle_slave_sql, handle_slave_io, connect_to_master): what is named is of now. The SQL thread tells its error
    before it stops (MySQL manual, "SHOW REPLICA STATUS Statement", Last_Errno).
    """
    for what, errno, error in (
        (tr("the SQL thread reports an error although it is running"), channel.sql_errno, channel.sql_error),
        (tr("the IO thread reports an error although it is running"), channel.io_errno, channel.io_error),
    ):
        if errno:
            return _stopped(what, errno, error)
    return ""


def _not_fetching(channel: ReplicationChannel, source: str) -> tuple[Health, str]:
    if channel.io_running.lower() in {"connecting", "preparing"}:
        text = tr("the IO thread cannot connect to {source}", source=source)
        if channel.io_errno or channel.io_error:
            return Health.BAD, _stopped(text, channel.io_errno, channel.io_error)
        return Health.WARN, tr("the IO thread is connecting to {source}", source=source)
    return Health.BAD, _stopped(tr("IO thread stopped"), channel.io_errno, channel.io_error)


def _stopped(what: str, errno: int, error: str) -> str:
    if not errno and not error:
        return what
    if errno:
        return tr("{what}: error {errno}: {error}", what=what, errno=errno, error=error)
    return tr("{what}: {error}", what=what, error=error)


def _meant_not_known(lag: float) -> str:
    return tr("{span} behind; the intended delay is not known", span=duration(lag))


def _behind(beyond: float, channel: ReplicationChannel) -> str:
    if not channel.delay_s:
        return tr("{span} behind", span=duration(beyond))
    return tr(
        "{span} behind in addition to the intended {delay}", span=duration(beyond), delay=duration(channel.delay_s)
    )


def gap_of(link: Link) -> int | None:
    """Return how many transactions the replica still has to execute, None when its GTIDs don't tell.

    Received minus executed comes from one answer and is exact. It says nothing while the IO thread does not run, nor
    while nothing was received since it started (MySQL forgets the set then): then the source's own position counts,
    which was read a little earlier or later, so the number is about right; an old one of a silent source says nothing.
    """
    channel, source = link.channel, link.source.replication
    if channels_doubt(link.replica):
        return None
    inside = received_gap(channel)
    if (inside is not None and _runs(channel.io_running)) or source is None or not link.source.sql_fresh:
        return inside
    if not channel.gtid_executed and not by_gtid(channel):
        return inside  # without GTIDs the replica has executed more than it tells
    outside = gtid.gap(source.gtid_executed or source.gtid_binlog_pos, channel.gtid_executed)
    return inside if outside is None else max(outside, inside or 0)


def by_gtid(channel: ReplicationChannel) -> bool:
    """Return whether a channel finds its place by GTID, so that a gap is there to be known."""
    return channel.gtid_mode.lower() not in {"", "no"}


def gap_health(link: Link, gap: int, lag: Health) -> Health:
    """Return the colour of a gap: how many transactions says nothing of how long they take, the lag does.

    With a stopped thread there is no lag, and what is missing stays missing.
    """
    stopped = not (_runs(link.channel.sql_running) and _runs(link.channel.io_running))
    if not gap:
        return Health.GOOD
    return Health.BAD if stopped else lag


def gap_words(gap: int) -> str:
    """Return "12 transactions"."""
    return some(gap, "{n} transaction", "{n} transactions")


def groups_of(nodes: Sequence[Node], links: Sequence[Link]) -> tuple[tuple[Node, ...], ...]:
    """Return the nodes that replication connects, each group in the nodes' order; Galera nodes connect nobody."""
    leader: dict[str, str] = {node.node_id: node.node_id for node in nodes}

    def find(node_id: str) -> str:
        while leader[node_id] != node_id:
            leader[node_id] = leader[leader[node_id]]
            node_id = leader[node_id]
        return node_id

    for link in links:
        if link.replica.node_id in leader and link.source.node_id in leader:
            leader[find(link.replica.node_id)] = find(link.source.node_id)
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(find(node.node_id), []).append(node)
    return tuple(tuple(group) for group in groups.values())

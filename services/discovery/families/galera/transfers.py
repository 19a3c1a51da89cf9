"""Who brings whom up to date: donor and joiner, out of the logs of any node and out of the nodes' own states."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from services.discovery.looks.starting import coming_up
from services.discovery.model import ONE_TRANSFER_S, ClusterSnapshot, TransferEdge
from services.discovery.nodes import Node
from services.facts.galera.whole import DONOR, JOINED, JOINER, SYNCED
from services.facts.logs.error_log import status_progress
from services.facts.model import GaleraFacts, TransferFacts
from services.facts.reading import host_port

SAME_S = 5.0
"""Two logs that tell of the same pair within so many seconds tell of the same transfer (clocks differ)."""


ARRIVED_B = 2**20
"""An SST has begun to arrive when more than this lies in its folder."""

RECENT_S = 60.0
"""How long a finished transfer is still shown."""


Pair = tuple[str, str]
"""Node ids of donor and joiner."""


def transfers_of(
    nodes: Sequence[Node],
    previous: ClusterSnapshot | None,
    rates: Mapping[str, Mapping[str, float]],
    at: float,
) -> tuple[TransferEdge, ...]:
    """Return the transfers that run, and those that ended within the last minute, newest last."""
    edges: dict[Pair, TransferEdge] = {}
    logged: list[tuple[Pair, TransferFacts]] = []
    begun = {(t.donor_id, t.joiner_id): t.since for t in previous.transfers} if previous is not None else {}
    for facts in _merged(nodes):
        donor, joiner = _named(nodes, facts.donor_name), _named(nodes, facts.joiner_name)
        if donor is None or joiner is None or donor is joiner:
            continue
        logged.append(((donor.node_id, joiner.node_id), facts))
        active = (
            facts.ended is None and not facts.failed and _still_joining(joiner) and not _outlived(donor, joiner, facts)
        )
        if active or (facts.ended is not None and not facts.failed and at - facts.ended <= RECENT_S):
            # Once a beginning was told it stays: logs of other nodes, with other clocks, may be read later.
            since = _same_beginning(begun.get((donor.node_id, joiner.node_id)), facts.since)
            kept = replace(facts, since=since)
            edges[donor.node_id, joiner.node_id] = _edge(donor, joiner, kept, rates, active=active)
    if not any(edge.active for edge in edges.values()):
        for edge in _from_states(nodes, previous, rates, at):
            # What a log has ended has ended, however long the states take to say so.
            edges.setdefault((edge.donor_id, edge.joiner_id), edge)
    for edge in _just_over(nodes, previous, logged, at, unread=_unread(nodes)):
        edges.setdefault((edge.donor_id, edge.joiner_id), edge)
    return tuple(sorted(edges.values(), key=lambda e: e.since or 0.0))


def _just_over(
    nodes: Sequence[Node],
    previous: ClusterSnapshot | None,
    logged: Sequence[tuple[Pair, TransferFacts]],
    at: float,
    *,
    unread: Collection[Pair],
) -> list[TransferEdge]:
    """Return the transfers that were seen and are over, of which no log tells the end yet.

    The states say it first; the log that is read seconds later must find what it speaks of, not a second transfer.

    Args:
        unread: of these it is not known whether they are over: nobody reads their log.
    """
    here = {node.node_id for node in nodes}
    found = []
    for edge in previous.transfers if previous is not None else ():
        pair = (edge.donor_id, edge.joiner_id)
        ended = at if edge.active or edge.ended is None else edge.ended
        told = any(
            p == pair and facts.ended is not None and _same_beginning(edge.since, facts.since) == edge.since
            for p, facts in logged
        )
        if not told and pair not in unread and at - ended <= RECENT_S and here.issuperset(pair):
            found.append(replace(edge, active=False, ended=ended, rate=None, eta_s=None))
    return found


def _unread(nodes: Sequence[Node]) -> frozenset[Pair]:
    """Return who brings whom up to date by a log that nobody has read for too long."""
    left = [t for n in nodes if n.facts is not None for t in n.facts.transfers if t not in n.facts.known_transfers]
    pairs = [(_named(nodes, t.donor_name), _named(nodes, t.joiner_name)) for t in left]
    return frozenset((donor.node_id, joiner.node_id) for donor, joiner in pairs if donor and joiner)


def _same_beginning(told: float | None, since: float | None) -> float | None:
    """Return the beginning that was told before, when both are of one transfer, else the new one."""
    if told is None or since is None:
        return told if since is None else since
    return told if abs(told - since) <= ONE_TRANSFER_S else since


def _merged(nodes: Sequence[Node]) -> list[TransferFacts]:
    """Return every node's transfers, those of the same pair and moment made one: each log knows another part."""
    merged: list[TransferFacts] = []
    for facts in (t for node in nodes if node.facts is not None for t in node.facts.known_transfers):
        for index, other in enumerate(merged):
            same = (facts.joiner_name, facts.donor_name) == (other.joiner_name, other.donor_name)
            if same and abs((facts.since or 0.0) - (other.since or 0.0)) <= SAME_S:
                merged[index] = _joined(other, facts)
                break
        else:
            merged.append(facts)
    merged.sort(key=lambda t: t.since or 0.0)
    return merged


def _joined(one: TransferFacts, other: TransferFacts) -> TransferFacts:
    ended = [t for t in (one.ended, other.ended) if t is not None]
    current = [s for s in (one.current_seqno, other.current_seqno) if s is not None]
    return TransferFacts(
        joiner_name=one.joiner_name,
        donor_name=one.donor_name,
        kind="SST" if "SST" in {one.kind, other.kind} else one.kind or other.kind,
        method=one.method or other.method,
        since=min((t for t in (one.since, other.since) if t is not None), default=None),
        ended=max(ended, default=None),
        failed=one.failed or other.failed,
        donor_done=one.donor_done or other.donor_done,
        first_seqno=one.first_seqno or other.first_seqno,
        last_seqno=one.last_seqno or other.last_seqno,
        current_seqno=max(current, default=None),
    )


def _named(nodes: Sequence[Node], name: str) -> Node | None:
    """Return the node that calls itself so in the group; identical names are told apart by nothing and give None."""
    found = [n for n in nodes if (n.galera.node_name if n.galera is not None else n.name) == name]
    return found[0] if len(found) == 1 else None


def _still_joining(joiner: Node) -> bool:
    """Return whether a transfer that no log has ended may still run: a joiner that serves has ended it."""
    galera = joiner.galera
    if not joiner.sql_fresh or galera is None:
        return joiner.machine is None or joiner.machine.server_state != "" or not joiner.ssh_fresh
    return galera.local_state not in {SYNCED, DONOR}


def _outlived(donor: Node, joiner: Node, facts: TransferFacts) -> bool:
    """Return whether a transfer that no log has ended is over: one of its two servers was started since.

    Or the joiner is gone from the group by its donor's own word. A log may be rotated, cut or unread; a donor that
    ended itself writes no end.
    """
    if facts.since is None:
        return False
    begun = facts.since + SAME_S
    starts = [n.server.started_at for n in (donor, joiner) if n.sql_fresh and n.server is not None]
    if any(started is not None and started > begun for started in starts):
        return True
    view = donor.galera
    asked = donor.facts.sql_at if donor.facts is not None else None
    if view is None or not donor.sql_fresh or asked is None or asked <= begun or view.cluster_status != "Primary":
        return False
    names = {member.name for member in view.members}
    if names:
        return "" not in names and facts.donor_name in names and facts.joiner_name not in names
    return _lists_without(view, donor, joiner)


def _lists_without(view: GaleraFacts, donor: Node, joiner: Node) -> bool:
    """Return whether a donor's list of addresses has itself and not the joiner: Galera 3 has no table of members."""
    listed = {host_port(address)[0] for address in view.incoming_addresses}
    whole = "" not in listed and len(view.incoming_addresses) == view.cluster_size
    return whole and bool(listed & donor.addresses) and bool(joiner.addresses) and not listed & joiner.addresses


def _edge(
    donor: Node, joiner: Node, facts: TransferFacts, rates: Mapping[str, Mapping[str, float]], *, active: bool
) -> TransferEdge:
    kind, share = status_progress(joiner.machine.unit_status_text) if joiner.machine is not None else ("", None)
    done = _seqno_done(joiner, facts)
    received = joiner.machine.sst_bytes if joiner.machine is not None and active and facts.kind != "IST" else None
    if received is not None and received < ARRIVED_B:
        received = None  # the folder itself: the script still waits, nothing has come, and no rate is this transfer's
    elapsed = None if facts.since is None or not active else joiner.at - facts.since
    rate = rates.get(joiner.host, {}).get("network_in_per_s")
    if received is None:
        rate = None
    elif rate is None and elapsed is not None and elapsed > 0:
        rate = received / elapsed
    total = _held(donor) if received is not None else None
    if total is not None and (received is None or total < received):
        total = None  # the estimate was too low: none is better than more than all
    eta = _eta(facts, done, share, elapsed)
    if eta is None and total is not None and received and rate:
        eta = (total - received) / rate
    return TransferEdge(
        donor_id=donor.node_id,
        joiner_id=joiner.node_id,
        kind=facts.kind or kind,
        method=facts.method or (joiner.galera.sst_method if joiner.galera is not None else ""),
        since=facts.since,
        bytes_done=received,
        bytes_total=total,
        rate=rate if active and facts.kind != "IST" else None,
        seqno_done=done,
        seqno_first=facts.first_seqno if facts.kind == "IST" or done is not None else None,
        seqno_last=facts.last_seqno if facts.kind == "IST" or done is not None else None,
        eta_s=eta,
        active=active,
        ended=None if active else facts.ended,
    )


def _held(donor: Node) -> int | None:
    """Return the bytes in use on the donor's data disk: about what an SST will carry."""
    disk = donor.machine.data_disk if donor.machine is not None else None
    return disk.size - disk.free if disk is not None and disk.size and disk.free is not None else None


def _seqno_done(joiner: Node, facts: TransferFacts) -> int | None:
    galera = joiner.galera
    if galera is not None and galera.ist_current is not None and joiner.sql_fresh:
        return galera.ist_current  # PXC tells it itself
    return facts.current_seqno


def _eta(facts: TransferFacts, done: int | None, share: float | None, elapsed: float | None) -> float | None:
    """Return the seconds left if it goes on as until now; None before anything can be said."""
    if done is not None and facts.first_seqno is not None and facts.last_seqno is not None:
        span = facts.last_seqno - facts.first_seqno + 1
        share = (done - facts.first_seqno + 1) / span if span > 0 else share
    if share is None or elapsed is None or not 0.01 < share <= 1 or elapsed < 1:
        return None
    return elapsed * (1 - share) / share


def _from_states(
    nodes: Sequence[Node], previous: ClusterSnapshot | None, rates: Mapping[str, Mapping[str, float]], at: float
) -> list[TransferEdge]:
    """Return the one pair that the states leave no doubt about, for estates whose logs can't be read."""
    donors = [n for n in nodes if n.sql_fresh and n.galera is not None and n.galera.local_state == DONOR]
    joiners = [n for n in nodes if is_joining(n)]
    if len(donors) != 1 or len(joiners) != 1:
        return []
    pair = (donors[0].node_id, joiners[0].node_id)
    before = previous.transfers if previous is not None else ()
    old = next((t for t in before if (t.donor_id, t.joiner_id) == pair and t.active), None)
    facts = TransferFacts(since=old.since if old is not None else at)
    return [_edge(donors[0], joiners[0], facts, rates, active=True)]


def is_joining(node: Node) -> bool:
    """Return whether a node is being brought up to date: by its own state, or by systemd while SQL is still closed."""
    if node.sql_fresh:
        return node.galera is not None and node.galera.local_state == JOINER
    return coming_up(node)


def tells_a_past_view(galera: GaleraFacts) -> bool:
    """Return whether a joiner shows a view of before its coming, of which it is no member: no view of now.

    The write sets of an IST carry the views between them, and the joiner takes each on its way: as "non-Primary", for
    it was not in it then. A node that is outside now counts itself, and its view has no number (wsrep_cluster_conf_id).
    """
    if galera.local_state not in {JOINER, JOINED} or galera.cluster_status.lower() != "non-primary":
        return False
    own, listed = host_port(galera.node_address)[0], {host_port(a)[0] for a in galera.incoming_addresses}
    return galera.conf_id is not None and bool(listed) and own not in listed

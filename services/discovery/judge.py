"""What a node's state is called, how serious it is, and the sentence behind it: calm, true, and with who saw it.

The vendor's own word where the node speaks for itself; plain words where it does not. A node that can't be judged is
never good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.discovery.model import was_so_before
from services.discovery.nodes import STALE_S, Node
from services.discovery.transfers import DONOR, JOINED, JOINER, SYNCED, is_joining, receiving, tells_a_past_view
from services.discovery.words import clock, duration, joined, names, number, size
from services.errors import UNREACHED, NothingListens
from services.facts.galera import OFF_SENTENCE
from services.facts.model import SQL, DiskFacts, GaleraFacts, NodeFacts
from services.types import Health, Reach
from services.words import english, mark, tr, tr_n

DISK_FULL_B = 16 * 2**20
DISK_WARN_SHARE = 0.05

ERROR_STATE = 5
"""wsrep_local_state of a node that found itself inconsistent (galera/wsrep_api.h: WSREP_MEMBER_ERROR)."""


NOT_RUNNING = mark("not running")
REFUSED, SILENT, NO_SQL = mark("refused"), mark("no answer"), mark("SQL does not answer")
MEMBER_REFUSED, MEMBER_SILENT = mark("member, refused"), mark("member, no answer")
NON_PRIMARY, DISCONNECTED = "non-Primary", "Disconnected"  # the vendor's own words
STARTING, STARTED = mark("starting"), mark("started, SQL not asked yet")
ARBITRATOR, DISK_FULL = mark("arbitrator"), mark("{state}, disk full")
NOT_KNOWN = mark("state not known")
NOT_REPLICATING = mark("wsrep_on is OFF")
_UNSEEN = mark("not seen by any node")
_RECEIVING = {
    "SST": mark("Joining: receiving SST"),
    "IST": mark("Joining: receiving IST"),
    "": mark("Joining: receiving state transfer"),
}
OFF = frozenset(
    {NOT_RUNNING, REFUSED, SILENT, NO_SQL, MEMBER_REFUSED, MEMBER_SILENT, NON_PRIMARY, DISCONNECTED, _UNSEEN}
)
"""States of a server that is off, or on its way off or on."""
GRACE_S = 35.0
"""Longest wait between two attempts to reconnect, and a little more."""

_LOGIN_REFUSED = frozenset(
    {"auth-failed", "tls-failed", "tls-missing", "certificate-unknown", "certificate-changed", "query-failed"}
)
"""The server is there, and it or we refused the login: that says nothing bad of the server."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A node's state word, its health and why it is not simply good ('' when it is)."""

    state: str
    health: Health
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """What the rest of the cluster says, for the judgement of one node.

    Attributes:
        observers: nodes that answer and tell a view of the group.
        seen: names of the observers that count this node as a member.
        transfer: the words of a transfer that this node takes part in ("SST to db4"), '' for none.
    """

    observers: Sequence[Node] = ()
    seen: Sequence[str] = ()
    transfer: str = ""


def verdict(node: Node, around: Around) -> Verdict:
    """Return the judgement of one node."""
    if node.sql_fresh:
        own = _galera(node, node.galera, around) if node.galera is not None else Verdict(mark("serving"), Health.GOOD)
        return _with_host(_with_disk(own, node), node)
    if node.facts is None:
        return _by_hearsay(node, around)
    if node.ssh_fresh:
        return _without_sql(node, around)
    return _unreached(node, around)


# --- a node that speaks for itself ------------------------------------------------------------------------------------


def _galera(node: Node, galera: GaleraFacts, around: Around) -> Verdict:
    if galera.off:
        return Verdict(NOT_REPLICATING, Health.BAD, tr(OFF_SENTENCE))
    status = galera.cluster_status.lower()
    comment = galera.local_state_comment
    if galera.local_state == ERROR_STATE or comment.lower() == "inconsistent":
        text = tr(
            "{name} found its data inconsistent with the group and left it; it needs a full state transfer",
            name=node.name,
        )
        return Verdict(comment or "Inconsistent", Health.BAD, text)
    if status == "primary" or tells_a_past_view(galera):
        return _primary(node, galera, around)
    if status == "non-primary":
        return Verdict(NON_PRIMARY, Health.BAD, _island(node, galera, around))
    if status == "disconnected":
        if is_joining(node) or comment.lower().startswith("join"):
            return Verdict(
                comment or mark("joining"), Health.TRANSFER, tr("{name} is joining the group", name=node.name)
            )
        text = tr("{name} is connected to no group; it refuses queries", name=node.name)
        return Verdict(DISCONNECTED, Health.BAD, text)
    why = node.why("galera") or tr("the server does not tell its group state")
    return Verdict(NOT_KNOWN, Health.UNKNOWN, why)


def _island(node: Node, galera: GaleraFacts, around: Around) -> str:
    others = (galera.cluster_size or 1) - 1
    sees = (
        tr("{name} sees only itself", name=node.name)
        if others < 1
        else tr_n(
            "{name} sees only {n} other node",
            "{name} sees only {n} other nodes",
            others,
            n=number(others),
            name=node.name,
        )
    )
    refuses = "" if galera.ready else tr("it refuses queries")
    primary = [o.name for o in around.observers if o.galera is not None and o.galera.cluster_status == "Primary"]
    who = names(primary)
    without = tr_n("{names} goes on without it", "{names} go on without it", len(primary), names=who) if primary else ""
    return joined(dated(sees, node, NON_PRIMARY), refuses, without)


def _primary(node: Node, galera: GaleraFacts, around: Around) -> Verdict:
    state = galera.local_state
    if state == SYNCED:
        return _synced(node, galera)
    if state == DONOR:
        text = around.transfer or tr("{name} is desynced: flow control does not wait for it", name=node.name)
        return Verdict("Donor/Desynced", Health.TRANSFER, text)
    if state == JOINER:
        text = around.transfer or tr("{name} is receiving a state transfer", name=node.name)
        return Verdict("Joiner", Health.TRANSFER, text)
    if state == JOINED:
        text = tr("{name} is catching up", name=node.name)
        if galera.recv_queue is not None:
            text = tr("{name} is catching up: {n} write sets to go", name=node.name, n=number(galera.recv_queue))
        return Verdict("Joined", Health.TRANSFER, text)
    word = galera.local_state_comment or NOT_KNOWN
    text = tr("{name} is in the primary component but not synced ({state})", name=node.name, state=tr(word))
    return Verdict(word, Health.WARN, text)


def _synced(node: Node, galera: GaleraFacts) -> Verdict:
    word = galera.local_state_comment or "Synced"
    rejects = galera.reject_queries.upper()
    if rejects not in {"", "NONE"}:
        text = tr("{name} refuses queries: wsrep_reject_queries is {value}", name=node.name, value=rejects)
        return Verdict(word, Health.WARN, text)
    if galera.gcache_frozen_at is not None:
        text = tr(
            "the gcache of {name} is frozen at {seqno}: its disk fills until somebody releases it",
            name=node.name,
            seqno=galera.gcache_frozen_at,
        )
        return Verdict(word, Health.WARN, text)
    if galera.ready is False:
        return Verdict(word, Health.WARN, tr("{name} is Synced but not ready: it refuses queries", name=node.name))
    if galera.provider_suspect:
        why = node.why("galera") or tr("the Galera provider's answers can't be trusted")
        return Verdict(word, Health.WARN, why)
    limit = galera.flow_control_high
    if galera.recv_queue is not None and limit and galera.recv_queue >= limit:
        text = tr(
            "{n} write sets wait on {name}: it slows the group down (limit {limit:.0f})",
            n=number(galera.recv_queue),
            name=node.name,
            limit=limit,
        )
        return Verdict(word, Health.WARN, text)
    return Verdict(word, Health.GOOD)


def disk_health(disk: DiskFacts | None) -> Health:
    """Return BAD for a full data disk, WARN for one with less than a twentieth free."""
    if disk is None or disk.free is None:
        return Health.UNKNOWN
    if disk.free < DISK_FULL_B:
        return Health.BAD
    return Health.WARN if disk.size and disk.free < disk.size * DISK_WARN_SHARE else Health.GOOD


def _with_host(own: Verdict, node: Node) -> Verdict:
    """Say that the host below a server that answers is not watched: what SSH would tell is missing."""
    why = node.why_bare("ssh")
    if node.reach is not Reach.SQL_ONLY or not why:
        return own
    return Verdict(own.state, own.health, joined(own.reason, tr("the host itself is not watched: {why}", why=why)))


def _with_disk(own: Verdict, node: Node) -> Verdict:
    disk = node.machine.data_disk if node.machine is not None and node.ssh_fresh else None
    health = disk_health(disk)
    if disk is None or disk.free is None or health not in {Health.BAD, Health.WARN}:
        return own
    free = size(disk.free)
    if disk.size:
        free = tr("{part} free of {whole}", part=free, whole=size(disk.size))
    else:
        free = tr("{size} free", size=free)
    words = mark("data disk full: {free} on {mount}")
    if health is not Health.BAD:
        words = mark("data disk nearly full: {free} on {mount}")
    text = tr(words, free=free, mount=disk.mount)
    if health.severity <= own.health.severity:
        return Verdict(own.state, own.health, joined(own.reason, text))
    return Verdict(tr(DISK_FULL, state=tr(own.state)) if health is Health.BAD else own.state, health, text)


# --- a node that others, or its host, must speak for ------------------------------------------------------------------


def _without_sql(node: Node, around: Around) -> Verdict:
    """Judge a node whose host answers and whose server does not."""
    machine = node.machine
    state = machine.process_state if machine is not None else "?"
    if state == "":
        return _not_running(node)
    if state == "T":
        pid = f", pid {machine.process_pid}" if machine is not None and machine.process_pid else ""
        signal = f"SIGSTOP{pid}"
        text = tr(
            "{daemon} on {name} is stopped by a signal ({signal})", daemon=node.daemon, name=node.name, signal=signal
        )
        return Verdict(mark("process stopped (SIGSTOP)"), Health.BAD, joined(text, _still_counted(around)))
    if node.code("sql") == "secret-missing":  # ours to mend: it says nothing of the server
        return Verdict(mark("SQL not asked"), Health.UNKNOWN, node.why_bare("sql"))
    if is_joining(node) or around.transfer:
        return _starting(node, around)
    if node.code("sql") in _LOGIN_REFUSED:
        health = Health.BAD if _founded(node, around) else Health.UNKNOWN
        return Verdict(mark("SQL login refused"), health, joined(_founded(node, around), node.why_bare("sql")))
    if node.facts is not None and node.facts.sql_at is None and not node.why_bare("sql"):
        return _not_asked(node.facts)
    if _just_started(node):
        text = tr("{daemon} on {name} is up; the console has not asked it yet", daemon=node.daemon, name=node.name)
        return Verdict(STARTED, Health.TRANSFER, text)
    runs = tr("the server's process could not be seen")
    if state != "?":
        runs = tr("{daemon} runs (state {state})", daemon=node.daemon, state=state)
    text = tr("SSH answers and {runs}, but SQL does not answer", runs=runs)
    if node.why_bare("sql"):
        text = tr("{sentence}: {why}", sentence=text, why=node.why_bare("sql"))
    health = Health.BAD if state != "?" else Health.UNKNOWN
    return Verdict(NO_SQL, health, joined(_founded(node, around), text, _still_counted(around)))


def _founded(node: Node, around: Around) -> str:
    """Say of a server that SQL does not reach, and that nobody counts, that it was started to found a cluster."""
    machine = node.machine
    if machine is None or around.seen or machine.founded_pid is None or machine.founded_pid != machine.process_pid:
        return ""
    return tr(
        "{daemon} on {name} was started with --wsrep-new-cluster: it FOUNDED a cluster of its own, and no other "
        "member is seen in it",
        daemon=node.daemon,
        name=node.name,
    )


def _not_asked(facts: NodeFacts) -> Verdict:
    text = tr("SQL was not tried yet")
    if SQL in facts.no_way:
        text = tr("the inventory gives no SQL way: with one its state, replication, settings and load are seen")
    return Verdict(mark("not asked over SQL"), Health.UNKNOWN, text)


def _just_started(node: Node) -> bool:
    """Return whether a refused connection only means that nobody tried again since the server's port opened."""
    old = node.previous
    if old is None or node.code("sql") not in UNREACHED:
        return False
    if old.state == STARTED and old.state_since is not None:
        return node.at - old.state_since < GRACE_S
    return old.state == STARTING or old.state.startswith("Joining: receiving")


def _starting(node: Node, around: Around) -> Verdict:
    """Judge a server that systemd is starting: SQL opens only after the state transfer (mariabackup, xtrabackup)."""
    text = node.machine.unit_status_text if node.machine is not None else ""
    if around.transfer or receiving(text):
        known = english(around.transfer)
        state = next((state for kind, state in _RECEIVING.items() if f"({kind})" in known), _RECEIVING[""])
        reason = around.transfer or tr("{name} is receiving its state; SQL opens when it is done", name=node.name)
        return Verdict(state, Health.TRANSFER, reason)
    text = tr("{daemon} on {name} is starting; SQL is not open yet", daemon=node.daemon, name=node.name)
    return Verdict(STARTING, Health.TRANSFER, text)


def _not_running(node: Node) -> Verdict:
    """Judge a host without the server's process; one that never was a node of anything is no alarm."""
    unit = node.machine.unit_state if node.machine is not None else ""
    state = NOT_RUNNING  # one word whatever the server's program is called: its name may be learnt later
    words = tr("SSH answers; {daemon} is not running", daemon=node.daemon)
    known = f" (systemd: {unit})" if unit and not unit.startswith("active/") else ""
    never = node.facts is not None and node.facts.sql_at is None and node.cluster.startswith("host:")
    if node.spare or (never and unit.startswith("inactive")):
        return Verdict(state, Health.UNKNOWN, tr("{sentence}{more}", sentence=words, more=known))
    return Verdict(state, Health.BAD, tr("{sentence}{more}", sentence=dated(words, node, state), more=known))


def _still_counted(around: Around) -> str:
    if not around.seen:
        return ""
    who = names(around.seen)
    return tr_n(
        "{names} still counts it as a member", "{names} still count it as a member", len(around.seen), names=who
    )


def _unreached(node: Node, around: Around) -> Verdict:
    """Judge a node whose host the console does not reach. One that refuses is there: that is no silence, it is bad."""
    refused = next((part for part in ("sql", "ssh") if node.code(part) == NothingListens.code), "")
    why = node.why_bare(refused) or node.why_bare("ssh") or node.why_bare("sql")
    if node.reach is Reach.NOT_TRIED:
        return Verdict(mark("not contacted yet"), Health.UNKNOWN, tr("waiting for the first answer"))
    if node.reach is not Reach.NONE and node.facts is not None:
        age = duration(node.at - max(node.facts.sql_at or 0.0, node.facts.ssh_at or 0.0))
        text = tr("nothing was heard for {age} (more than {limit:.0f} s)", age=age, limit=STALE_S)
        return Verdict(mark("no news"), Health.UNKNOWN, text)
    if around.seen:
        who = names(around.seen)
        counted = tr_n("{names} counts it as a member", "{names} count it as a member", len(around.seen), names=who)
        text = tr("the console does not reach {name}", name=node.name)
        if why:
            text = tr("{sentence}: {why}", sentence=text, why=why)
        if refused:
            return Verdict(MEMBER_REFUSED, Health.BAD, joined(text, counted))
        return Verdict(MEMBER_SILENT, Health.UNKNOWN, joined(text, counted))
    state, health = (REFUSED, Health.BAD) if refused else (SILENT, Health.UNKNOWN)
    return Verdict(state, health, joined(_nobody(node, around), _last(node), why))


def _nobody(node: Node, around: Around) -> str:
    others = sorted(o.name for o in around.observers if o is not node)
    return tr("not seen by {names}", names=names(others)) if others else ""


def _last(node: Node) -> str:
    moments = [m for m in (node.facts.sql_at, node.facts.ssh_at) if m is not None] if node.facts is not None else []
    return tr("last answer {at}", at=clock(max(moments))) if moments else ""


def _by_hearsay(node: Node, around: Around) -> Verdict:
    """Judge a placeholder: a member that no host of the inventory is, or a source that only its replicas name."""
    if node.arbitrator and around.seen:
        text = tr("votes, holds no data; seen by {names}", names=names(around.seen))
        return Verdict(ARBITRATOR, Health.GOOD, text)
    if around.seen:
        text = tr_n(
            "{names} sees it as a member; the console has no way to it",
            "{names} see it as a member; the console has no way to it",
            len(around.seen),
            names=names(around.seen),
        )
        return Verdict(mark("member, not in the inventory"), Health.UNKNOWN, text)
    if node.node_id.startswith("source:"):
        text = tr("its replicas name it; the console has no way to it")
        return Verdict(mark("not in the inventory"), Health.UNKNOWN, text)
    return Verdict(_UNSEEN, Health.UNKNOWN, dated(_nobody(node, around), node, _UNSEEN))


def dated(sentence: str, node: Node, state: str) -> str:
    """Return the sentence with " since 02:31:07" when the node has been in this state for a while.

    A state that was there when we first looked is older than that, nobody knows by how much.
    """
    old = node.previous
    if old is None or old.state != state or old.state_since is None:
        return sentence
    if was_so_before(old):
        return tr("{sentence} since before {at}", sentence=sentence, at=clock(old.state_since))
    return tr("{sentence} since {at}", sentence=sentence, at=clock(old.state_since))

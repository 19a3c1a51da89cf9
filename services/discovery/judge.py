"""What a node's state is called, how serious it is, and the sentence behind it: calm, true, and with who saw it.

The vendor's own word where the node speaks for itself; plain words where it does not. A node that can't be judged is
never good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.discovery.nodes import STALE_S, Node
from services.discovery.transfers import DONOR, JOINED, JOINER, SYNCED, is_joining, receiving
from services.discovery.words import clock, duration, names, number, size, verb
from services.facts.model import DiskFacts, GaleraFacts
from services.types import Health, Reach

DISK_FULL_B = 16 * 2**20
DISK_WARN_SHARE = 0.05

ERROR_STATE = 5
"""wsrep_local_state of a node that found itself inconsistent (galera/wsrep_api.h: WSREP_MEMBER_ERROR)."""


STARTING, STARTED = "starting", "started, SQL not asked yet"
GRACE_S = 35.0
"""Longest wait between two attempts to reconnect, and a little more."""


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
        own = _galera(node, node.galera, around) if node.galera is not None else Verdict("serving", Health.GOOD)
        return _with_host(_with_disk(own, node), node)
    if node.facts is None:
        return _by_hearsay(node, around)
    if node.ssh_fresh:
        return _without_sql(node, around)
    return _unreached(node, around)


# --- a node that speaks for itself ------------------------------------------------------------------------------------


def _galera(node: Node, galera: GaleraFacts, around: Around) -> Verdict:
    status = galera.cluster_status.lower()
    comment = galera.local_state_comment
    if galera.local_state == ERROR_STATE or comment.lower() == "inconsistent":
        text = f"{node.name} found its data inconsistent with the group and left it; it needs a full state transfer"
        return Verdict(comment or "Inconsistent", Health.BAD, text)
    if status == "primary":
        return _primary(node, galera, around)
    if status == "non-primary":
        return Verdict("non-Primary", Health.BAD, _island(node, galera, around))
    if status == "disconnected":
        if is_joining(node) or comment.lower().startswith("join"):
            return Verdict(comment or "joining", Health.TRANSFER, f"{node.name} is joining the group")
        text = f"{node.name} is connected to no group; it refuses queries"
        return Verdict("Disconnected", Health.BAD, text)
    return Verdict("state not known", Health.UNKNOWN, node.why("galera") or "the server does not tell its group state")


def _island(node: Node, galera: GaleraFacts, around: Around) -> str:
    others = (galera.cluster_size or 1) - 1
    sees = (
        "sees only itself" if others < 1 else f"sees only {number(others)} other {'node' if others == 1 else 'nodes'}"
    )
    refuses = "" if galera.ready else "; it refuses queries"
    primary = [o.name for o in around.observers if o.galera is not None and o.galera.cluster_status == "Primary"]
    without = f"; {names(primary)} {verb(primary, 'goes', 'go')} on without it" if primary else ""
    return f"{node.name} {sees}{since(node, 'non-Primary')}{refuses}{without}"


def _primary(node: Node, galera: GaleraFacts, around: Around) -> Verdict:
    state = galera.local_state
    if state == SYNCED:
        return _synced(node, galera)
    if state == DONOR:
        text = around.transfer or f"{node.name} is desynced: flow control does not wait for it"
        return Verdict("Donor/Desynced", Health.TRANSFER, text)
    if state == JOINER:
        return Verdict("Joiner", Health.TRANSFER, around.transfer or f"{node.name} is receiving a state transfer")
    if state == JOINED:
        queue = "" if galera.recv_queue is None else f": {number(galera.recv_queue)} write sets to go"
        return Verdict("Joined", Health.TRANSFER, f"{node.name} is catching up{queue}")
    word = galera.local_state_comment or "state not known"
    return Verdict(word, Health.WARN, f"{node.name} is in the primary component but not synced ({word})")


def _synced(node: Node, galera: GaleraFacts) -> Verdict:
    word = galera.local_state_comment or "Synced"
    rejects = galera.reject_queries.upper()
    if rejects not in {"", "NONE"}:
        return Verdict(word, Health.WARN, f"{node.name} refuses queries: wsrep_reject_queries is {rejects}")
    if galera.ready is False:
        return Verdict(word, Health.WARN, f"{node.name} is Synced but not ready: it refuses queries")
    if galera.provider_suspect:
        return Verdict(word, Health.WARN, node.why("galera") or "the Galera provider's answers can't be trusted")
    limit = galera.flow_control_high
    if galera.recv_queue is not None and limit and galera.recv_queue >= limit:
        text = (
            f"{number(galera.recv_queue)} write sets wait on {node.name}: it slows the group down (limit {limit:.0f})"
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
    why = node.why("ssh")
    if node.reach is not Reach.SQL_ONLY or not why:
        return own
    text = f"the host itself is not watched: {why}"
    return Verdict(own.state, own.health, f"{own.reason}; {text}" if own.reason else text)


def _with_disk(own: Verdict, node: Node) -> Verdict:
    disk = node.machine.data_disk if node.machine is not None and node.ssh_fresh else None
    health = disk_health(disk)
    if disk is None or disk.free is None or health not in {Health.BAD, Health.WARN}:
        return own
    of = f" of {size(disk.size)}" if disk.size else ""
    full = "data disk full" if health is Health.BAD else "data disk nearly full"
    text = f"{full}: {size(disk.free)} free{of} on {disk.mount}"
    if health.severity <= own.health.severity:
        return Verdict(own.state, own.health, f"{own.reason}; {text}" if own.reason else text)
    return Verdict(f"{own.state}, disk full" if health is Health.BAD else own.state, health, text)


# --- a node that others, or its host, must speak for ------------------------------------------------------------------


def _without_sql(node: Node, around: Around) -> Verdict:
    """Judge a node whose host answers and whose server does not."""
    machine = node.machine
    state = machine.process_state if machine is not None else "?"
    if state == "":
        return _not_running(node)
    if state == "T":
        pid = f", pid {machine.process_pid}" if machine is not None and machine.process_pid else ""
        text = f"{node.daemon} on {node.name} is stopped by a signal (SIGSTOP{pid}){_still_counted(around)}"
        return Verdict("process stopped (SIGSTOP)", Health.BAD, text)
    if node.code("sql") == "secret-missing":
        return Verdict("SQL not asked", Health.UNKNOWN, node.why("sql"))  # ours to mend: it says nothing of the server
    if is_joining(node) or around.transfer:
        return _starting(node, around)
    if node.code("sql") in {"auth-failed", "tls-failed", "query-failed"}:
        return Verdict("SQL login refused", Health.UNKNOWN, node.why("sql"))
    if node.facts is not None and node.facts.sql_at is None and not node.why("sql"):
        return Verdict("not asked over SQL", Health.UNKNOWN, "the inventory gives no SQL way, or it was not tried yet")
    if _just_started(node):
        return Verdict(
            STARTED, Health.TRANSFER, f"{node.daemon} on {node.name} is up; the console has not asked it yet"
        )
    runs = f"{node.daemon} runs (state {state})" if state != "?" else "the server's process could not be seen"
    why = f": {node.why('sql')}" if node.why("sql") else ""
    text = f"SSH answers and {runs}, but SQL does not answer{why}{_still_counted(around)}"
    return Verdict("SQL does not answer", Health.BAD if state != "?" else Health.UNKNOWN, text)


def _just_started(node: Node) -> bool:
    """Return whether a refused connection only means that nobody tried again since the server's port opened."""
    old = node.previous
    if old is None or node.code("sql") != "unreachable":
        return False
    if old.state == STARTED and old.state_since is not None:
        return node.at - old.state_since < GRACE_S
    return old.state == STARTING or old.state.startswith("Joining: receiving")


def _starting(node: Node, around: Around) -> Verdict:
    """Judge a server that systemd is starting: SQL opens only after the state transfer (mariabackup, xtrabackup)."""
    text = node.machine.unit_status_text if node.machine is not None else ""
    if around.transfer or receiving(text):
        kind = next((k for k in ("SST", "IST") if f"({k})" in around.transfer), "state transfer")
        reason = around.transfer or f"{node.name} is receiving its state; SQL opens when it is done"
        return Verdict(f"Joining: receiving {kind}", Health.TRANSFER, reason)
    return Verdict(STARTING, Health.TRANSFER, f"{node.daemon} on {node.name} is starting; SQL is not open yet")


def _not_running(node: Node) -> Verdict:
    """Judge a host without the server's process; one that never was a node of anything is no alarm."""
    unit = node.machine.unit_state if node.machine is not None else ""
    state = f"{node.daemon} is not running"
    known = f" (systemd: {unit})" if unit and not unit.startswith("active/") else ""
    never = node.facts is not None and node.facts.sql_at is None and node.cluster.startswith("host:")
    if never and unit.startswith("inactive"):
        return Verdict(state, Health.UNKNOWN, f"SSH answers; {state}{known}")
    return Verdict(state, Health.BAD, f"SSH answers; {state}{since(node, state)}{known}")


def _still_counted(around: Around) -> str:
    if not around.seen:
        return ""
    return f"; {names(around.seen)} still {verb(around.seen, 'counts', 'count')} it as a member"


def _unreached(node: Node, around: Around) -> Verdict:
    """Judge a node whose host the console does not reach."""
    why = node.why("ssh") or node.why("sql")
    reason = f": {why}" if why else ""
    if node.reach is Reach.NOT_TRIED:
        return Verdict("not contacted yet", Health.UNKNOWN, "waiting for the first answer")
    if node.reach is not Reach.NONE and node.facts is not None:
        age = duration(node.at - max(node.facts.sql_at or 0.0, node.facts.ssh_at or 0.0))
        return Verdict("no news", Health.UNKNOWN, f"nothing was heard for {age} (more than {STALE_S:.0f} s)")
    if around.seen:
        counted = f"{names(around.seen)} {verb(around.seen, 'counts', 'count')} it as a member"
        text = f"the console does not reach {node.name}{reason}; {counted}"
        return Verdict("member, not reached", Health.UNKNOWN, text)
    parts = (_nobody(node, around), _last(node), why)
    return Verdict("no answer", Health.UNKNOWN, "; ".join(p for p in parts if p))


def _nobody(node: Node, around: Around) -> str:
    others = sorted(o.name for o in around.observers if o is not node)
    return f"not seen by {names(others)}" if others else ""


def _last(node: Node) -> str:
    moments = [m for m in (node.facts.sql_at, node.facts.ssh_at) if m is not None] if node.facts is not None else []
    return f"last answer {clock(max(moments))}" if moments else ""


def _by_hearsay(node: Node, around: Around) -> Verdict:
    """Judge a placeholder: a member that no host of the inventory is, or a source that only its replicas name."""
    if node.arbitrator and around.seen:
        return Verdict("arbitrator", Health.GOOD, f"votes, holds no data; seen by {names(around.seen)}")
    if around.seen:
        text = f"{names(around.seen)} {verb(around.seen, 'sees', 'see')} it as a member; the console has no way to it"
        return Verdict("member, not in the inventory", Health.UNKNOWN, text)
    if node.node_id.startswith("source:"):
        return Verdict("not in the inventory", Health.UNKNOWN, "its replicas name it; the console has no way to it")
    return Verdict(
        "not seen by any node", Health.UNKNOWN, f"{_nobody(node, around)}{since(node, 'not seen by any node')}"
    )


def since(node: Node, state: str) -> str:
    """Return " since 02:31:07" when the node has been in this state for a while, else ''."""
    old = node.previous
    if old is None or old.state != state or old.state_since is None:
        return ""
    return f" since {clock(old.state_since)}"

"""What a node's state is called, how serious it is, and the sentence behind it: calm, true, and with who saw it.

The vendor's own word where the node speaks for itself; plain words where it does not. A node that can't be judged is
never good.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.discovery.judgement import states
from services.discovery.judgement.replication_known import channels_doubt
from services.discovery.judgement.states import State
from services.discovery.judgement.switches import switches
from services.discovery.looks.starting import coming_up, receiving
from services.discovery.model import was_so_before
from services.discovery.nodes import Node
from services.discovery.words import clock, joined, names, size
from services.errors import UNREACHED, NothingListens, OfflineMode
from services.facts.absence import HIDDEN, NO_SYSTEMD, SEVERAL, UNIT_RUNS
from services.facts.model import SQL, DiskFacts, MachineFacts
from services.i18n import mark, tr, tr_n
from services.moments import duration
from services.types import Health, Reach, worst

GRACE_S = 35.0
"""Longest wait between two attempts to reconnect, and a little more."""

_LOGIN_REFUSED = frozenset(
    {"auth-failed", "tls-failed", "tls-missing", "certificate-unknown", "certificate-changed", "query-failed"}
)
"""The server is there, and it or we refused the login: that says nothing bad of the server."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A node's state, its health and why it is not simply good ('' when it is)."""

    state: State
    health: Health
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """What the rest of the cluster says, for the judgement of one node.

    Attributes:
        observers: nodes that answer and tell a view of the group.
        seen: names of the observers that count this node as a member.
        transfer: the words of a transfer that this node takes part in ("SST to db4"), '' for none; transfer_kind: SST,
            IST, '' for none or one that nobody knows yet.
    """

    observers: Sequence[Node] = ()
    seen: Sequence[str] = ()
    transfer: str = ""
    transfer_kind: str = ""


def serving(_node: Node, _around: Around) -> Judgement:
    """Return what is said of a server that answers and is a member of nothing."""
    return Judgement(states.SERVING, Health.GOOD)


Own = Callable[[Node, Around], Judgement]
"""How a family judges a node that answers over SQL."""


def verdict(node: Node, around: Around, own: Own = serving) -> Judgement:
    """Return the judgement of one node; `own`: its family's, of a node that speaks for itself."""
    if node.sql_fresh:
        told = _with_switches(own(node, around), node)
        return _with_host(_with_disk(_with_channels(told, node), node), node)
    if node.facts is None:
        return _by_hearsay(node, around)
    if node.code("sql") == OfflineMode.code:
        return _offline(node, around)
    if node.ssh_fresh:
        return _without_sql(node, around)
    return _unreached(node, around)


# --- a node that speaks for itself ------------------------------------------------------------------------------------


def disk_health(disk: DiskFacts | None) -> Health:
    """Return BAD for a full data disk, WARN for one with less than a twentieth free."""
    if disk is None or disk.free is None:
        return Health.UNKNOWN
    return Health.BAD if disk.is_full else Health.WARN if disk.is_nearly_full else Health.GOOD


def _with_switches(own: Judgement, node: Node) -> Judgement:
    """Say what a server's own switches keep out: one that refuses clients does not serve, whatever it tells us."""
    health, text = switches(node)
    if not text:
        return own
    state = states.OFFLINE_MODE if health.severity > own.health.severity and health is Health.BAD else own.state
    return Judgement(state, worst((own.health, health)), joined(own.reason, text))


def _with_host(own: Judgement, node: Node) -> Judgement:
    """Say that the host below a server that answers is not watched: what SSH would tell is missing."""
    why = node.why_bare("ssh")
    if node.reach is not Reach.SQL_ONLY or not why:
        return own
    if node.server is not None and node.server.service:
        words = tr("it is an instance of {service}: its host cannot be watched", service=node.server.service)
        return Judgement(own.state, own.health, joined(own.reason, words))
    return Judgement(own.state, own.health, joined(own.reason, tr("the host itself is not watched: {why}", why=why)))


def _with_channels(own: Judgement, node: Node) -> Judgement:
    """Say of a server whose channels could not be read that it is not known: neither good nor bad."""
    doubt = channels_doubt(node)
    if not doubt:
        return own
    return Judgement(own.state, worst((own.health, Health.UNKNOWN)), joined(own.reason, doubt))


def _with_disk(own: Judgement, node: Node) -> Judgement:
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
        return Judgement(own.state, own.health, joined(own.reason, text))
    full = states.DISK_FULL.called(tr(states.DISK_FULL.word, state=tr(own.state.word)))
    return Judgement(full if health is Health.BAD else own.state, health, text)


# --- a node that others, or its host, must speak for ------------------------------------------------------------------


def _runs(node: Node, state: str) -> str:
    """Return what is known of the server's process, in the state that was seen ('?' is not known)."""
    machine = node.machine
    if state != "?":
        return tr("{daemon} runs (state {state})", daemon=node.daemon, state=state)
    if machine is not None and machine.process_state not in {"", "?"}:
        return _anybodys(machine)
    return _not_seen(machine)


def _anybodys(machine: MachineFacts) -> str:
    """Return the sentence of a process that is called like the server, and may be another's."""
    pid, owner = machine.process_pid, machine.process_owner
    if not owner:
        return tr("a process with its name (pid {pid}) runs; its owner is not known", pid=pid)
    return tr("a process with its name (pid {pid}) runs, started by {owner}", pid=pid, owner=owner)


def _without_sql(node: Node, around: Around) -> Judgement:
    """Judge a node whose host answers and whose server does not."""
    machine = node.machine
    state = machine.server_state if machine is not None else "?"
    if state == "":
        return _not_running(node)
    if state == "T":
        pid = f", pid {machine.process_pid}" if machine is not None and machine.process_pid else ""
        signal = f"SIGSTOP{pid}"
        text = tr(
            "{daemon} on {name} is stopped by a signal ({signal})", daemon=node.daemon, name=node.name, signal=signal
        )
        return Judgement(states.HELD, Health.BAD, joined(text, _still_counted(around)))
    if node.code("sql") == "secret-missing":  # ours to mend: it says nothing of the server
        return Judgement(states.NO_SECRET.over(node.speaks), Health.UNKNOWN, node.why_bare("sql"))
    if coming_up(node) or around.transfer:
        return _starting(node, around)
    if node.code("sql") in _LOGIN_REFUSED:
        health = Health.BAD if _founded(node, around) else Health.UNKNOWN
        return Judgement(
            states.LOGIN_REFUSED.over(node.speaks), health, joined(_founded(node, around), node.why_bare("sql"))
        )
    if (not_asked := _not_asked(node)) is not None:
        return not_asked
    if _just_started(node):
        text = tr("{daemon} on {name} is up; the console has not queried it yet", daemon=node.daemon, name=node.name)
        return Judgement(states.STARTED.over(node.speaks), Health.TRANSFER, text)
    text = tr("SSH answers and {runs}, but {sql} does not answer", runs=_runs(node, state), sql=node.speaks)
    if node.why_bare("sql"):
        text = tr("{sentence}: {why}", sentence=text, why=node.why_bare("sql").removesuffix("."))
    refused = node.code("sql") == NothingListens.code  # whoever refuses is there: that is no silence
    health = Health.BAD if state != "?" or refused else Health.UNKNOWN
    return Judgement(
        states.NO_SQL.over(node.speaks), health, joined(_founded(node, around), text, _still_counted(around))
    )


_UNSEEN = {
    HIDDEN: mark("whether its server runs is not known: the login cannot see processes of other users"),
    NO_SYSTEMD: mark("whether its server runs is not known: no process was seen, and systemd reports nothing about it"),
    SEVERAL: mark("whether its server runs is not known: several processes have its name, and none can be identified"),
    UNIT_RUNS: mark(
        "whether its server runs is not known: no process was seen, but systemd reports its unit as {unit}"
    ),
}


def _not_seen(machine: MachineFacts | None) -> str:
    """Return why the process is not known: what would have shown that there is none."""
    words = _UNSEEN.get(machine.process_doubt) if machine is not None else None
    if machine is None or words is None:
        return tr("the server's process could not be seen")
    return tr(words, unit=machine.unit_state) if "{unit}" in words else tr(words)


def _founded(node: Node, around: Around) -> str:
    """Say of a server that SQL does not reach, and that nobody counts, that it was started to found a cluster."""
    machine = node.machine
    if machine is None or around.seen or machine.founded_pid is None or machine.founded_pid != machine.process_pid:
        return ""
    return tr(
        "{daemon} on {name} was started with --wsrep-new-cluster: it FOUNDED a cluster of its own, without "
        "any other visible member",
        daemon=node.daemon,
        name=node.name,
    )


def _not_asked(node: Node) -> Judgement | None:
    """Judge a server that nobody has asked, ever or for a while; None where an attempt failed."""
    facts = node.facts
    if facts is not None and facts.sql_at is not None and node.reach in {Reach.FULL, Reach.SQL_ONLY}:
        # This console was late itself, or asleep: that is no word against the server.
        age = duration(node.at - facts.sql_at)
        words = mark("no answer over {sql} for {age} (more than {limit:.0f} s)")
        text = tr(words, sql=node.speaks, age=age, limit=node.stale_s)
        return Judgement(states.NO_NEWS, Health.UNKNOWN, text)
    if facts is None or facts.sql_at is not None or node.why_bare("sql"):
        return None
    text = tr("{sql} was not tried yet", sql=node.speaks)
    if SQL in facts.no_way:
        words = mark("the inventory has no {sql} connection; one would show its state, replication, settings and load")
        text = tr(words, sql=node.speaks)
    return Judgement(states.NOT_ASKED_SQL.over(node.speaks), Health.UNKNOWN, text)


def _just_started(node: Node) -> bool:
    """Return whether a refused connection only means that nobody tried again since the server's port opened."""
    old = node.previous
    if old is None or node.code("sql") not in UNREACHED:
        return False
    if old.code == states.STARTED.code and old.state_since is not None:
        return node.at - old.state_since < GRACE_S
    return old.code in {states.STARTING.code, states.RECEIVING[""].code}


def _starting(node: Node, around: Around) -> Judgement:
    """Judge a server that systemd is starting: SQL opens only after the state transfer (mariabackup, xtrabackup)."""
    text = node.machine.unit_status_text if node.machine is not None else ""
    if around.transfer or receiving(text):
        state = states.RECEIVING.get(around.transfer_kind, states.RECEIVING[""])
        reason = around.transfer or tr("{name} is receiving its state; SQL opens afterwards", name=node.name)
        return Judgement(state, Health.TRANSFER, reason)
    words = mark("{daemon} on {name} is starting; {sql} is not open yet")
    text = tr(words, daemon=node.daemon, name=node.name, sql=node.speaks)
    return Judgement(states.STARTING, Health.TRANSFER, text)


def _not_running(node: Node) -> Judgement:
    """Judge a host without the server's process; one that never was a node of anything is no alarm."""
    unit = node.machine.unit_state if node.machine is not None else ""
    state = states.NOT_RUNNING  # one word whatever the server's program is called: its name may be learnt later
    words = tr("SSH answers; {daemon} is not running", daemon=node.daemon)
    known = f" (systemd: {_once(unit)})" if unit and not unit.startswith("active/") else ""
    never = node.facts is not None and node.facts.sql_at is None and node.cluster.startswith("host:")
    if node.spare or (never and unit.startswith("inactive")):
        return Judgement(state, Health.UNKNOWN, tr("{sentence}{more}", sentence=words, more=known))
    return Judgement(state, Health.BAD, tr("{sentence}{more}", sentence=dated(words, node, state), more=known))


def _once(unit: str) -> str:
    """Return a unit's state with its finer one ('inactive/dead'), once where both are one word: a card has no room."""
    state, _, finer = unit.partition("/")
    return state if state == finer else unit


def _offline(node: Node, around: Around) -> Judgement:
    """Judge a server that refuses everybody on purpose: what a member does that left its group in error."""
    log = node.machine.group_error if node.machine is not None and node.ssh_fresh else ""
    words = tr("its log: {line}", line=log) if log else ""
    refused = node.why_bare("sql").rstrip(".")
    return Judgement(states.OFFLINE_MODE, Health.BAD, joined(refused, words, _still_counted(around)))


def _still_counted(around: Around) -> str:
    if not around.seen:
        return ""
    who = names(around.seen)
    return tr_n(
        "{names} still counts it as a member", "{names} still count it as a member", len(around.seen), names=who
    )


def _unreached(node: Node, around: Around) -> Judgement:
    """Judge a node whose host the console does not reach. One that refuses is there: that is no silence, it is bad."""
    refused = next((part for part in ("sql", "ssh") if node.code(part) == NothingListens.code), "")
    why = node.why_bare(refused) or node.why_bare("ssh") or node.why_bare("sql")
    if node.reach is Reach.NOT_TRIED:
        return Judgement(states.NOT_CONTACTED, Health.UNKNOWN, tr("waiting for the first answer"))
    if node.reach is not Reach.NONE and node.facts is not None:
        age = duration(node.at - max(node.facts.sql_at or 0.0, node.facts.ssh_at or 0.0))
        text = tr("no answer for {age} (more than {limit:.0f} s)", age=age, limit=node.stale_s)
        return Judgement(states.NO_NEWS, Health.UNKNOWN, text)
    if around.seen:
        who = names(around.seen)
        counted = tr_n("{names} counts it as a member", "{names} count it as a member", len(around.seen), names=who)
        text = tr("the console does not reach {name}", name=node.name)
        if why:
            text = tr("{sentence}: {why}", sentence=text, why=why)
        if refused:
            return Judgement(states.MEMBER_REFUSED, Health.BAD, joined(text, counted))
        return Judgement(states.MEMBER_SILENT, Health.UNKNOWN, joined(text, counted))
    state, health = (states.REFUSED, Health.BAD) if refused else (states.SILENT, Health.UNKNOWN)
    return Judgement(state, health, joined(_nobody(node, around), _last(node), why))


def _nobody(node: Node, around: Around) -> str:
    others = sorted(o.name for o in around.observers if o is not node)
    return tr("not seen by {names}", names=names(others)) if others else ""


def _last(node: Node) -> str:
    moments = [m for m in (node.facts.sql_at, node.facts.ssh_at) if m is not None] if node.facts is not None else []
    return tr("last answer {at}", at=clock(max(moments))) if moments else ""


def _by_hearsay(node: Node, around: Around) -> Judgement:
    """Judge a placeholder: a member that no host of the inventory is, or a source that only its replicas name."""
    if node.arbitrator and around.seen:
        text = tr("votes, holds no data; seen by {names}", names=names(around.seen))
        return Judgement(states.ARBITRATOR, Health.GOOD, text)
    if around.seen:
        text = tr_n(
            "{names} sees it as a member; the console has no connection to it",
            "{names} see it as a member; the console has no connection to it",
            len(around.seen),
            names=names(around.seen),
        )
        return Judgement(states.STRANGER, Health.UNKNOWN, text)
    if node.node_id.startswith("source:"):
        text = tr("its replicas name it; the console has no connection to it")
        return Judgement(states.SOURCE_NAMED, Health.UNKNOWN, text)
    return Judgement(states.UNSEEN, Health.UNKNOWN, dated(_nobody(node, around), node, states.UNSEEN))


def dated(sentence: str, node: Node, state: State) -> str:
    """Return the sentence with " since 02:31:07" when the node has been in this state for a while.

    A state that was there when we first looked is older than that, nobody knows by how much.
    """
    old = node.previous
    if old is None or old.code != state.code or old.state_since is None:
        return sentence
    if was_so_before(old):
        return tr("{sentence} since before {at}", sentence=sentence, at=clock(old.state_since))
    return tr("{sentence} since {at}", sentence=sentence, at=clock(old.state_since))

"""What the inspector says of a node, as values: sections of rows made from its facts. Pure, so it is tested in text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.discovery.model import IST_REACH, ClusterSnapshot, NodeView, place_of
from services.facts.model import (
    SQL,
    SSH,
    GaleraFacts,
    GroupFacts,
    MachineFacts,
    NodeFacts,
    Problem,
    ReplicationChannel,
    ServerFacts,
)
from services.i18n import mark, tr
from services.types import Flavour, Health, Reach
from widgets.common.look.text import (
    format_age,
    format_bytes,
    format_clock,
    format_count,
    format_duration,
    format_number,
    one_line,
    plural,
    short_id,
)
from widgets.common.nodes import STALE_AFTER_S, answer_age, heard_last, state_word
from widgets.topology.advice import advice_now
from widgets.topology.inspector.mongodb import mongodb_rows
from widgets.topology.wording import meant_words, recovery_words, semi_sync_rows, size_words

_DONOR = 2
"""wsrep_local_state of Donor/Desynced (galera/wsrep_api.h)."""
_MOST_VALUE = 4000
_MOST_CHANNELS = 16
"""A server that claims hundreds would have the window lay out thousands of labels each second."""
_MOST_SENTENCES = 32
_BYTES = re.compile(r"[0-9]{6,19}")
REPLICATION, MACHINE, SETTINGS, PROBLEMS = (
    mark("Replication"),
    mark("Machine"),
    mark("Key settings"),
    mark("Problems"),
)
RETURN = mark("Return by IST")


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `note` is a grey remark behind the value; `mono`: seqnos, addresses; `wraps`: a sentence;
    `whole`: never cut, it goes on below where the panel is too narrow."""

    label: str
    value: str
    note: str = ""
    health: Health = Health.UNKNOWN
    mono: bool = False
    wraps: bool = False
    whole: bool = False


ExtraRows = Mapping[str, Sequence[tuple[str, str, Health] | Row]]
"""Section title -> rows, or (label, value with unit, health): what the samplers know, at the top of that section."""


@dataclass(frozen=True, slots=True)
class Section:
    """A titled group of rows; `stale` says how old they are when they are no longer the present.

    `age` says it of numbers that are the present.
    """

    title: str
    rows: tuple[Row, ...]
    stale: str = ""
    age: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """Everything the inspector shows of one node."""

    name: str
    state: str
    health: Health
    age: str
    sections: tuple[Section, ...]


def content(cluster: ClusterSnapshot, node: NodeView, at: float, extra: ExtraRows, *, live: bool = True) -> Content:
    """Return the inspector's words for `node` as of `at`; `live`: that is the present, in which hosts are asked."""
    facts = node.facts
    sql_age = None if facts is None or facts.sql_at is None else at - facts.sql_at  # of an answer, never of a try
    ssh_age = None if facts is None or facts.ssh_at is None else at - facts.ssh_at
    sections = (
        Section("", (*_identity(node, facts), *_answered(node, at))),
        Section(PROBLEMS, tuple(_problems(node, live=live))),
        Section(REPLICATION, tuple(_replication(cluster, node, facts, at, extra)), _stale(sql_age)),
        _return(extra, sql_age),
        Section(MACHINE, tuple(_machine(facts, extra)), _stale(ssh_age)),
        Section(SETTINGS, tuple(_settings(facts, extra)), _stale(sql_age)),
    )
    return Content(
        node.name or node.host or node.node_id,
        state_word(node),
        node.health,
        format_age(answer_age(node, at)),
        tuple(s for s in sections if s.rows),
    )


def _stale(age: float | None) -> str:
    return "" if age is None or age <= STALE_AFTER_S else format_age(age)


def _return(extra: ExtraRows, sql_age: float | None) -> Section:
    """Return how long a node may be away: rows of the samplers only."""
    rows = _extra(extra, RETURN)
    return Section(RETURN, tuple(_present(rows)), _stale(sql_age), format_age(max(0.0, sql_age or 0.0)))


def _present(rows: Sequence[Row | None]) -> list[Row]:
    return [replace(r, value=one_line(r.value, _MOST_VALUE)) for r in rows if r is not None and r.value]


def _extra(extra: ExtraRows, title: str) -> list[Row]:
    return [r if isinstance(r, Row) else Row(r[0], r[1], health=r[2], whole=True) for r in extra.get(title, ())]


def _identity(node: NodeView, facts: NodeFacts | None) -> list[Row]:
    server = facts.server if facts else None
    galera = facts.galera if facts else None
    answers = node.reach in {Reach.FULL, Reach.SQL_ONLY}  # what a dead server said of itself last is no 'up'
    up = format_duration(server.uptime_s) if answers and server and server.uptime_s is not None else ""
    return _present(
        [
            Row(mark("address"), node.address or (facts.address if facts else "") or node.host, mono=True, whole=True),
            Row(mark("role"), tr(node.role)),
            Row(mark("server"), _server_words(server), whole=True),
            Row(
                mark("provider"),
                f"Galera {galera.provider_version.split('(')[0]}" if galera and galera.provider_version else "",
            ),
            Row(mark("host"), _host_words(facts.machine if facts else None), whole=True),
            Row(mark("up"), up),
        ]
    )


def _answered(node: NodeView, at: float) -> list[Row]:
    """Return when a host that gives no answer last gave one: an attempt that failed makes nothing younger."""
    if node.reach is not Reach.NONE:
        return []
    heard = heard_last(node)
    if heard is not None:
        return [Row(mark("last answer"), format_age(max(0.0, at - heard)), tr("at {at}", at=format_clock(heard)))]
    since = "" if node.watched_since is None else tr("asked since {at}", at=format_clock(node.watched_since))
    return [Row(mark("last answer"), tr("never"), since)]


def _server_words(server: ServerFacts | None) -> str:
    if server is None or not server.version:
        return ""
    name = "" if server.flavour is Flavour.UNKNOWN else f"{server.flavour.value} "
    service = f", {server.service}" if server.service else ""
    return f"{name}{server.version}{service}"


def _host_words(machine: MachineFacts | None) -> str:
    if machine is None:
        return ""
    os = machine.os.replace("GNU/Linux ", "").split(" (")[0]
    cores = plural(machine.cores, "{n} core", "{n} cores") if machine.cores else ""
    memory = format_bytes(machine.memory) if machine.memory else ""
    return ", ".join(p for p in (os, cores, memory) if p)


def _replication(
    cluster: ClusterSnapshot, node: NodeView, facts: NodeFacts | None, at: float, extra: ExtraRows
) -> list[Row]:
    rows: list[Row | None] = []
    if node.state_since is not None:
        rows.append(
            Row(
                mark("state since"),
                format_duration(max(0.0, at - node.state_since)),
                tr("at {at}", at=format_clock(node.state_since)),
            )
        )
    rows.extend(_extra(extra, REPLICATION))
    if facts is not None and facts.galera is not None:
        rows.extend(_galera(node, facts.galera, reach=not extra.get(RETURN)))
    if facts is not None and facts.group is not None:
        rows.extend(_group(facts.group))
    told = mongodb_rows(facts.mongo if facts is not None else None)
    rows.extend(Row(label, value, note, mono=mono) for label, value, note, mono in told)
    if facts is not None and facts.semi_sync is not None:
        rows.extend(Row(*told) for told in semi_sync_rows(facts.semi_sync))
    if facts is not None and facts.replication is not None:
        channels = facts.replication.channels
        old = facts.channels_old or node.reach not in {Reach.FULL, Reach.SQL_ONLY}
        for channel in channels[:_MOST_CHANNELS]:
            rows.extend(_channel(channel, several=len(channels) > 1, old=old))
        if len(channels) > _MOST_CHANNELS:
            rows.append(Row(mark("channels"), tr("{n} more are not shown", n=len(channels) - _MOST_CHANNELS)))
        if facts.replication.replicas:
            rows.append(Row(mark("replicas"), format_count(len(facts.replication.replicas))))
    if node.seen_by:
        seen = sorted(n.name if (n := cluster.node(i)) else short_id(i) for i in node.seen_by)
        rows.append(Row(mark("seen by"), ", ".join(seen)))
    return _present(rows)


def _group(group: GroupFacts) -> list[Row | None]:
    """Return what a member of a group tells of it; what it did not tell is left out."""
    own = group.own
    mode = ""
    if group.single_primary is not None:
        mode = tr("one primary") if group.single_primary else tr("several primaries")
    return [
        Row(mark("state in the group"), own.state if own is not None else ""),
        Row(mark("mode"), mode),
        Row(mark("recovery"), recovery_words(group.recovery)) if group.recovery is not None else None,
        _counted(mark("applier queue"), group.applier_queue),
        _counted(mark("certification queue"), group.certify_queue),
        _counted(mark("conflicts"), group.conflicts),
        Row(mark("group"), group.group_name, mono=True),
    ]


def _galera(node: NodeView, galera: GaleraFacts, *, reach: bool) -> list[Row | None]:
    known = next(((value, health) for label, value, health in node.numbers if label == IST_REACH), None)
    limit = tr("of limit {limit}", limit=format_number(galera.flow_control_high)) if galera.flow_control_high else ""
    desynced = bool(galera.desync_count) or galera.local_state == _DONOR
    return [
        Row(mark("last committed"), format_count(galera.last_committed), mono=True)
        if galera.last_committed is not None
        else None,
        _counted(
            mark("receive queue"),
            galera.recv_queue,
            tr("{limit}: ignored", limit=limit) if limit and desynced else limit,
        ),
        _counted(mark("send queue"), galera.send_queue),
        _counted(mark("flow control"), galera.flow_control_sent, tr("pauses requested")),
        Row(mark("apply window"), _applying(galera)),
        Row(mark("cached from"), format_count(galera.cached_downto), mono=True)
        if galera.cached_downto is not None
        else None,
        Row(IST_REACH, known[0], health=known[1]) if known and reach else None,
        Row(
            mark("vote weight"),
            str(galera.weight),
            tr("segment {segment}", segment=galera.segment) if galera.segment is not None else "",
        )
        if galera.weight is not None
        else None,
        Row(mark("cluster state"), galera.state_uuid, mono=True),
    ]


def _counted(label: str, value: int | None, note: str = "") -> Row | None:
    return None if value is None else Row(label, format_count(value), note)


def _applying(galera: GaleraFacts) -> str:
    threads = plural(galera.applier_threads, "{n} thread", "{n} threads") if galera.applier_threads else ""
    distance = (
        tr("distance {distance}", distance=format_number(galera.deps_distance))
        if galera.deps_distance is not None
        else ""
    )
    return ", ".join(p for p in (threads, distance) if p)


def _channel(channel: ReplicationChannel, *, several: bool, old: bool) -> list[Row | None]:

    def named(label: str) -> str:
        return f"{channel.name}: {tr(label)}" if several and channel.name else label

    def thread(label: str, word: str) -> Row | None:
        told = {"Yes": Health.GOOD, "Connecting": Health.TRANSFER, "Preparing": Health.TRANSFER}.get(word, Health.BAD)
        health = Health.UNKNOWN if old else told
        words = {"Yes": tr("running"), "No": tr("stopped")}.get(word, word.lower())
        return Row(named(label), words, health=health) if word else None

    lag = tr("not known") if old or channel.seconds_behind is None else format_duration(channel.seconds_behind)
    return [
        Row(named(mark("source")), place_of(channel.source_host, channel.source_port), mono=True)
        if channel.source_host
        else None,
        thread(mark("IO thread"), channel.io_running),
        thread(mark("SQL thread"), channel.sql_running),
        Row(
            named(mark("behind")),
            lag,
            meant_words(channel.delay_s),
        ),
        Row(named(mark("relay log")), format_bytes(channel.relay_log_space))
        if channel.relay_log_space is not None
        else None,
        Row(named(mark("received")), channel.gtid_received, mono=True),
        Row(named(mark("executed")), channel.gtid_executed, mono=True),
    ]


def _machine(facts: NodeFacts | None, extra: ExtraRows) -> list[Row]:
    rows: list[Row | None] = [*_extra(extra, MACHINE), _no_ssh(facts)]
    machine = facts.machine if facts else None
    if machine is None:
        return _present(rows)
    disk = machine.data_disk
    if disk is not None:
        health = Health.BAD if disk.is_full else Health.WARN if disk.is_nearly_full else Health.UNKNOWN
        rows.append(Row(mark("data disk"), size_words(disk.size, disk.free), health=health))
    if machine.clock_offset_s is not None:
        off = abs(machine.clock_offset_s)
        span = format_duration(off)
        words = tr("{span} ahead", span=span) if machine.clock_offset_s > 0 else tr("{span} behind", span=span)
        health = Health.WARN if off > 1.0 else Health.UNKNOWN
        rows.append(Row(mark("clock"), words, health=health))
    rows.append(_process(machine))
    if machine.unit_state:
        rows.append(Row(mark("service"), machine.unit_state.replace("/", ", ")))
    rows.append(Row(mark("kernel"), machine.kernel))
    return _present(rows)


_PROCESS = {
    "R": mark("running"),
    "S": mark("sleeping"),
    "D": mark("waiting for a disk"),
    "T": mark("stopped by a signal"),
    "Z": mark("a zombie"),
}


def _no_ssh(facts: NodeFacts | None) -> Row | None:
    """Return what an SSH way would tell where nobody wrote one down, and where the machine of an instance is told."""
    if facts is not None and facts.on:
        return Row(
            "",
            tr("This server shares {host} with another server, which shows the host's numbers.", host=facts.on),
            wraps=True,
        )
    if facts is None or SSH not in facts.no_way:
        return None
    text = tr(
        "The inventory has no SSH connection to this host. Add one to see CPU, memory, disks, clock, log and service."
    )
    return Row("", text, wraps=True)


def _process(machine: MachineFacts) -> Row | None:
    if not machine.process_state and machine.process_pid is None:
        return None
    word = tr(_PROCESS.get(machine.process_state[:1], machine.process_state) or mark("gone"))
    health = Health.BAD if machine.process_state[:1] in {"T", "Z"} else Health.UNKNOWN
    pid = f"pid {machine.process_pid}" if machine.process_pid else ""
    if machine.server_state != machine.process_state:
        pid = tr("{pid}, of another owner: {owner}", pid=pid, owner=machine.process_owner or tr("not known"))
    return Row(mark("process"), word, pid, health)


def _settings(facts: NodeFacts | None, extra: ExtraRows) -> list[Row]:
    rows = _extra(extra, SETTINGS)
    if facts is not None and SQL in facts.no_way:
        text = tr(
            "The inventory has no SQL connection to this server. Add one to see its state, replication, settings "
            "and load."
        )
        rows.append(Row("", text, wraps=True))
    if facts is not None and facts.server is not None:
        rows.extend(Row(name, setting_words(name, value), mono=True) for name, value in facts.server.variables)
    return _present(rows)


def setting_words(name: str, value: str) -> str:
    """Return a variable's value; sizes in bytes become readable ones."""
    if name.endswith(("_size", "_limit")) and _BYTES.fullmatch(value):
        return format_bytes(int(value))
    return value


def _problems(node: NodeView, *, live: bool) -> list[Row]:
    # A transfer that goes as it should has a reason too; its words stand on the edge of the drawing.
    reason = node.reason if node.health not in {Health.GOOD, Health.TRANSFER} else ""
    found: dict[str, Problem] = {}
    for problem in node.facts.problems if node.facts is not None else ():
        found.setdefault(problem.bare or problem.sentence, problem)  # SQL that goes through SSH fails as SSH does
    if live and reason in found:
        reason = ""  # told below with when the next attempt is due, which in the past is no news
    sentences = [reason] if reason else []
    sentences.extend(p.sentence if live else bare for bare, p in found.items() if bare.removesuffix(".") not in reason)
    if node.facts is not None and node.facts.replication is not None:
        for channel in node.facts.replication.channels:
            sentences.extend(e for e in (channel.io_error, channel.sql_error) if e and e not in reason)
    rows = [Row("", s, health=node.health, wraps=True) for s in list(dict.fromkeys(sentences))[:_MOST_SENTENCES]]
    tries = advice_now(node) if live else ()
    return [*rows, *(Row("", tr("Try: {advice}", advice=text), wraps=True) for text in tries)]

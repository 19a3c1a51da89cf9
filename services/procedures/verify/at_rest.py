"""Did a stopped node's data move since its position was looked at? Read anew right before what stands on the choice.

Three things tell it, all cheap reads: the state file; size and time of the files that only a server writes (each of its
starts makes a new temporary tablespace and a new binary log file, and goes on in the redo log); and the id that systemd
gives a unit at each start (InvocationID, systemd.exec(5); InactiveExitTimestamp, org.freedesktop.systemd1(5)). After a
restart of the host systemd knows none of it: the files do.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from dataclasses import asdict, dataclass, replace

from services.connections.reads import commands
from services.errors import UserError
from services.facts import reads
from services.lines import lines_of
from services.procedures.engine.ports import Past
from services.procedures.gather.state_files import parse_grastate
from services.procedures.gather.system import properties
from services.procedures.plan.conditions import Answer
from services.procedures.plan.conditions_at_rest import PositionMark, StateNamed, Unmoved
from services.procedures.plan.host_facts import ZERO_UUID
from services.procedures.verify.asking import Asking

_LISTED = re.compile(r"\S{10,11}\s+\d+\s+\d+\s+\d+\s+(\d+)\s+(\S+\s+\S+\s+[+-]\d{4})\s(.+)")
"""A line of `ls -lAn --full-time`: ... size, date, time and zone, name."""
_OF_THE_SERVER = re.compile(
    r"ib\w*|#ib_\S+|#innodb_\w+|undo_?\d+\S*|mysql\.ibd|aria_log[._]\w+|[\w.@-]{1,200}\.(?:\d{6,10}|index)"
)
"""Files of a data folder that nobody but a server writes; logs, which others rotate, are none.

galera.cache is none either: the run takes it away itself where only an SST can come, and no server that runs leaves
InnoDB's own files as they were.
"""


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a look found: the state file as UUID:seqno:safe, a digest of the server's files, the units' start ids.

    `newest`: the file that was written last, and when; `started`: unit -> when it was started last, as systemd says it.
    """

    state: str = ""
    files: str = ""
    newest: str = ""
    starts: tuple[tuple[str, str], ...] = ()
    started: tuple[tuple[str, str], ...] = ()
    unread: str = ""


def position_mark(condition: PositionMark, asking: Asking, past: Past) -> Answer:
    """Keep what is there now; a server that systemd started since an earlier mark ends it."""
    now = _look(condition.host, condition.datadir, asking)
    if condition.since:
        before = _kept(past.kept.get(condition.since, ""))
        ran = _started(before, now) if before is not None else ""
        if ran:
            told = f"a server ran on {condition.host} while its position was looked at ({ran}): plan anew"
            return Answer(holds=False, evidence=told, final=True)
    told = f"not known: {now.unread}" if now.unread else f"the data of {condition.host} were last written: {now.newest}"
    return Answer(holds=True, evidence=told, kept=((condition.keep, json.dumps(asdict(now))),))


def state_named(condition: StateNamed, asking: Asking, past: Past) -> Answer:
    """Look whether grastate.dat names a state: the provider takes it out before a transfer, and puts it in after it.

    A start that fails early may leave it so too (an unknown option, MariaDB 10.11.18), with its data whole.
    """
    del past
    host, path = condition.host, posixpath.join(condition.datadir, "grastate.dat")
    output = asking.run(host, commands.CONTENT.read(path, sudo=True))
    state = parse_grastate(output.text) if output.exit_code == 0 else None
    if state is not None and state.names_state:
        return Answer(holds=True, evidence=f"{path} of {host} names {state.uuid}")
    said = f"{path} of {host} names no state any more: whether a transfer that broke off erased its data is not known"
    return Answer(holds=False, evidence=said, final=True)


def unmoved(condition: Unmoved, asking: Asking, past: Past) -> Answer:
    """Hold what is there against the mark and against the position that the plan chose by."""
    host = condition.host
    if condition.own_start and condition.own_start in past.began:
        return Answer(holds=True, evidence=f"{host} was looked at before this run began to start it")
    recovered = past.kept.get(condition.recovered, "")
    if condition.position and recovered != condition.position:
        told = f"{host} was chosen by {condition.position}, and the run recovered {recovered or 'nothing'} since: "
        return Answer(holds=False, evidence=f"{told}plan anew", final=True)
    before = _kept(past.kept.get(condition.mark, ""))
    if before is None or before.unread:
        why = before.unread if before is not None else "this run kept nothing to hold it against"
        return Answer(holds=None, evidence=f"whether {host} ran since it was looked at is not known: {why}")
    now = _look(host, condition.datadir, asking)
    if now.unread:
        return Answer(holds=None, evidence=f"whether {host} ran since it was looked at is not known: {now.unread}")
    ran = _started(before, now) or (f"{now.newest} is new" if now.files != before.files else "")
    if ran:
        return _ran(condition, asking, ran)
    if told := _state_moved(condition, before.state, now.state):
        return Answer(holds=False, evidence=f"{told} since it was looked at: plan anew", final=True)
    return Answer(holds=True, evidence=f"no server ran on {host} since it was looked at at {condition.position}")


@dataclass(frozen=True, slots=True)
class Ran:
    """What shows that a server ran since a mark, or why that is not known; `by_hand`: systemd started none."""

    told: str = ""
    by_hand: bool = False


def ran_since(host: str, datadir: str, kept: str, asking: Asking) -> Ran:
    """Return what shows that a server ran on a stopped node's data since a mark was kept.

    `told` is '' where nothing moved. Raises UserError where the host does not answer.
    """
    before = _kept(kept)
    if before is None or before.unread:
        return Ran(f"whether a server ran on {host} since is not known")
    now = _look(host, datadir, asking)
    if now.unread:
        return Ran(f"whether a server ran on {host} since is not known: {now.unread}")
    if started := _started(before, now):
        return Ran(f"a server ran on {host} since ({started})")
    if now.files != before.files:
        return Ran(f"a server ran on {host} since ({now.newest} is new)", by_hand=True)
    return Ran()


def _ran(condition: Unmoved, asking: Asking, ran: str) -> Answer:
    """Say that it ran; one that is a member of the component that serves now has no side of its own."""
    if condition.hosts and _is_member(condition, asking):
        beside = ", ".join(condition.hosts)
        return Answer(holds=True, evidence=f"{condition.host} has joined {beside} by itself meanwhile")
    told = f"{condition.host} ran since it was looked at ({ran}): plan anew"
    return Answer(holds=False, evidence=told, final=True)


def _is_member(condition: Unmoved, asking: Asking) -> bool:
    """Return whether it is Primary in one view with each of these members."""
    try:
        seen = [asking.status(name) for name in (condition.host, *condition.hosts)]
    except UserError:
        return False
    primary = all(status.get("wsrep_cluster_status") == "Primary" for status in seen)
    uuids = {status.get("wsrep_cluster_state_uuid", "").lower() for status in seen}
    views = {(status.get("wsrep_cluster_conf_id"), status.get("wsrep_cluster_size")) for status in seen}
    return primary and uuids == {condition.state_uuid.lower()} and len(views) == 1


def _started(before: _Mark, now: _Mark) -> str:
    """Return which unit systemd has started since, and when; '' for none, or where systemd knows of no start."""
    known, when = dict(before.starts), dict(now.started)
    again = [unit for unit, start in now.starts if start and start != known.get(unit, "")]
    return ", ".join(f"{unit} was started {when.get(unit) or 'at a time not known'}" for unit in again)


def _state_moved(condition: Unmoved, before: str, now: str) -> str:
    """Return what of the state file is not as it was, nor as this run wrote it; '' where nothing is."""
    if condition.safe and now.endswith(":no"):
        return f"grastate.dat of {condition.host} says safe_to_bootstrap 0 again"
    if before.rpartition(":")[0] == now.rpartition(":")[0]:
        as_before = condition.safe or before == now
        return "" if as_before else f"safe_to_bootstrap of {condition.host} was changed in grastate.dat"
    if condition.rewritten and now.split(":")[:2] in ([condition.state_uuid, "-1"], [ZERO_UUID, "-1"]):
        return ""
    return f"grastate.dat of {condition.host} has changed ({before or 'none'}, now {now or 'none'})"


def _look(host: str, datadir: str, asking: Asking) -> _Mark:
    """Read it; raises UserError where the host does not answer."""
    path = posixpath.join(datadir, "grastate.dat")
    state = asking.run(host, commands.CONTENT.read(path, sudo=True))
    if state.exit_code and "No such file" not in state.stderr.decode("utf-8", "replace"):
        return _Mark(unread=f"{path} of {host} could not be read")
    told = parse_grastate(state.text) if state.exit_code == 0 else None
    safe = {True: "yes", False: "no", None: ""}[told.safe_to_bootstrap if told is not None else None]
    mark = _Mark(f"{told.uuid}:{told.seqno}:{safe}" if told is not None else f"{ZERO_UUID}:-1:")
    listed = asking.run(host, commands.LISTED_EXACTLY.read(reads.clean(datadir), sudo=True))
    files = sorted(
        (when, name, size)
        for size, when, name in (found.groups() for found in map(_LISTED.fullmatch, lines_of(listed.text)) if found)
        if _OF_THE_SERVER.fullmatch(name)
    )
    starts, started = _units(host, asking)
    mark = replace(mark, starts=starts, started=started)
    if listed.exit_code or not files:
        return replace(mark, unread=f"the files of the server in {datadir} of {host} could not be listed")
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()
    when, name, _ = files[-1]
    return replace(mark, files=digest, newest=f"{name}, {when}")


def _units(host: str, asking: Asking) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return the id and the time of each unit's last start that systemd knows of."""
    units = [properties(block) for block in asking.run(host, commands.UNITS_STARTED).text.split("\n\n")]
    known = [unit for unit in units if unit.get("Id") and unit.get("InvocationID")]
    times = tuple((unit["Id"], unit.get("InactiveExitTimestamp", "")) for unit in known)
    return tuple((unit["Id"], unit["InvocationID"]) for unit in known), times


def _kept(text: str) -> _Mark | None:
    """Return a mark of this run, None for none."""
    try:
        data = json.loads(text)
        pairs = {name: tuple((str(a), str(b)) for a, b in data[name]) for name in ("starts", "started")}
        words = {name: str(data[name]) for name in ("state", "files", "newest", "unread")}
    except (ValueError, KeyError, TypeError):
        return None
    return _Mark(**words, **pairs)  # type: ignore[arg-type]

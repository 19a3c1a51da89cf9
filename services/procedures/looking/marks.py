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
from dataclasses import dataclass, replace

from services.connections.reads import commands
from services.facts import reads
from services.facts.galera.state_files import ZERO_UUID, only_a_server_writes, parse_exact_listing, parse_grastate
from services.facts.machine.file_answers import is_absent
from services.facts.machine.system import units_shown
from services.procedures.plan.looks import Asking

_SAFE = {True: "yes", False: "no", None: ""}


@dataclass(frozen=True, slots=True)
class Mark:
    """What a look found: the state file as UUID:seqno:safe, a digest of the server's files, the units' start ids.

    `newest`: the file that was written last, and when; `started`: unit -> when it was started last, as systemd says it.
    """

    state: str = ""
    files: str = ""
    newest: str = ""
    starts: tuple[tuple[str, str], ...] = ()
    started: tuple[tuple[str, str], ...] = ()
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Ran:
    """What shows that a server ran since a mark, or why that is not known; `by_hand`: systemd started none."""

    told: str = ""
    by_hand: bool = False


def ran_since(host: str, datadir: str, kept: str, asking: Asking) -> Ran:
    """Return what shows that a server ran on a stopped node's data since a mark was kept.

    `told` is '' where nothing moved. Raises UserError where the host does not answer.
    """
    before = mark_kept(kept)
    if before is None or before.unread:
        return Ran(f"whether a server ran on {host} since is not known")
    now = mark_now(host, datadir, asking)
    if now.unread:
        return Ran(f"whether a server ran on {host} since is not known: {now.unread}")
    if started := started_since(before, now):
        return Ran(f"a server ran on {host} since ({started})")
    if now.files != before.files:
        return Ran(f"a server ran on {host} since ({now.newest} is new)", by_hand=True)
    return Ran()


def started_since(before: Mark, now: Mark) -> str:
    """Return which unit systemd has started since, and when; '' for none, or where systemd knows of no start."""
    known, when = dict(before.starts), dict(now.started)
    again = [unit for unit, start in now.starts if start and start != known.get(unit, "")]
    return ", ".join(f"{unit} was started {when.get(unit) or 'at a time not known'}" for unit in again)


def mark_now(host: str, datadir: str, asking: Asking) -> Mark:
    """Read it; raises UserError where the host does not answer."""
    path = posixpath.join(datadir, "grastate.dat")
    state = asking.run(host, commands.CONTENT.read(path, sudo=True))
    if state.exit_code and not is_absent(state):
        return Mark(unread=f"{path} of {host} could not be read")
    told = parse_grastate(state.text) if state.exit_code == 0 else None
    safe = _SAFE[told.safe_to_bootstrap if told is not None else None]
    mark = Mark(f"{told.uuid}:{told.seqno}:{safe}" if told is not None else f"{ZERO_UUID}:-1:")
    listed = asking.run(host, commands.LISTED_EXACTLY.read(reads.clean(datadir), sudo=True))
    files = sorted(file for file in parse_exact_listing(listed.text) if only_a_server_writes(file[1]))
    starts, started = _units(host, asking)
    mark = replace(mark, starts=starts, started=started)
    if listed.exit_code or not files:
        return replace(mark, unread=f"the files of the server in {datadir} of {host} could not be listed")
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()
    when, name, _ = files[-1]
    return replace(mark, files=digest, newest=f"{name}, {when}")


def _units(host: str, asking: Asking) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return the id and the time of each unit's last start that systemd knows of; an alias is its unit once more."""
    units = units_shown(asking.run(host, commands.UNITS_STARTED).text)
    known = {unit["Id"]: unit for unit in units if unit.get("Id") and unit.get("InvocationID")}
    times = tuple((name, unit.get("InactiveExitTimestamp", "")) for name, unit in known.items())
    return tuple((name, unit["InvocationID"]) for name, unit in known.items()), times


def states_at(uuid: str, seqno: int) -> frozenset[str]:
    """Return what `Mark.state` is where the state file names this position."""
    return frozenset(f"{uuid}:{seqno}:{safe}" for safe in _SAFE.values())


def mark_kept(text: str) -> Mark | None:
    """Return a mark of this run, None for none."""
    try:
        data = json.loads(text)
        pairs = {name: tuple((str(a), str(b)) for a, b in data[name]) for name in ("starts", "started")}
        words = {name: str(data[name]) for name in ("state", "files", "newest", "unread")}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return Mark(**words, **pairs)  # type: ignore[arg-type]

"""One look at one host: what it answers becomes facts, what it does not answer becomes a reason. Never an exception.

`probe` asks a host itself (discovery, the command line); its server is asked by what looks at one of its kind
(server_looks.py). `machine_facts` and `log_facts` are its slow parts, which the watcher uses.
"""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

from services.boundary import foreign, unforeseen
from services.clock import Clock
from services.connections.ports import ObserverSession
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.connections.ssh.no_commands import no_commands
from services.discovery.looks.server_looks import SERVER_LOOKS
from services.errors import NoCommands, OfflineMode, QueryFailed, Refused, SudoFailed, Unforeseen, UserError
from services.facts import reads
from services.facts.absence import SEVERAL, doubt_of_absence
from services.facts.logs.reads import log_facts, unit_facts, with_certificate
from services.facts.machine.daemons import DAEMONS
from services.facts.machine.machine import ServerProcess, clock_offset, find_process, parse_df, parse_host_files
from services.facts.model import SQL, SSH, MachineFacts, NodeFacts, Problem
from services.facts.optional_reads import attempt
from services.facts.server.start_line import founds
from services.i18n import tr
from services.types import Reach

__all__ = ["ALL_PARTS", "FINDING_PARTS", "Part", "log_facts", "machine_facts", "probe"]

Part = Literal["sql", "machine", "log"]
ALL_PARTS: frozenset[Part] = frozenset({"sql", "machine", "log"})
FINDING_PARTS: frozenset[Part] = frozenset({"sql", "machine"})
"""What finding the members of a cluster needs."""

SQL_LIMIT_S = 2.0
COMMAND_LIMIT_S = 4.0


def probe(
    session: ObserverSession,
    clock: Clock,
    previous: NodeFacts | None = None,
    parts: Collection[Part] = ALL_PARTS,
    *,
    address: str = "",
    limit_s: float = SQL_LIMIT_S,
) -> NodeFacts:
    """Ask a host for these parts and return its facts. Never raises for the environment.

    A part that fails keeps what `previous` had (its own time stays: `sql_at`, `ssh_at`) and gets a Problem; how far the
    console got is `reach`.
    """
    facts = previous or NodeFacts(host=session.host, at=clock.wall(), address=address)
    try:
        with foreign(lambda problem: unforeseen(problem, tr("Reading the host's answers"), session.host)):
            told = _looked(session, clock, facts, parts, limit_s)
    except Unforeseen as error:  # whatever it was, it is about this host alone
        failed = _failed(_failed(facts, "ssh", error), "sql", error)
        told = replace(failed, at=clock.wall(), reach=Reach.NONE)
    return replace(told, reached=session.reached or told.reached)


def _looked(
    session: ObserverSession, clock: Clock, facts: NodeFacts, parts: Collection[Part], limit_s: float
) -> NodeFacts:
    asked_sql, asked_ssh = "sql" in parts and session.has_sql, bool({"machine", "log"} & set(parts)) and session.has_ssh
    begun: _Begun | UserError | None = None
    ask = SERVER_LOOKS[session.kind]
    if asked_ssh and "machine" in parts:
        # Both roads at once: over a VPN each takes seconds, of which all but milliseconds are spent waiting.
        with ThreadPoolExecutor(1, thread_name_prefix="pilothouse-probe") as beside:
            early = beside.submit(attempt, lambda: _begin_machine(session, clock))
            sql = ask(session, clock, facts, limit_s) if asked_sql else facts
            begun = early.result()
    else:
        sql = ask(session, clock, facts, limit_s) if asked_sql else facts
    done = sql if isinstance(sql, NodeFacts) else _failed(facts, "sql", sql)
    ssh: NodeFacts | UserError = done
    if asked_ssh:
        ssh = begun if isinstance(begun, UserError) else _probe_ssh(session, clock, done, parts, begun)
        done = ssh if isinstance(ssh, NodeFacts) else _failed(done, "ssh", ssh)
    reach = _reach(
        sql=asked_sql and isinstance(sql, NodeFacts),
        ssh=asked_ssh and isinstance(ssh, NodeFacts),
        tried=asked_sql or asked_ssh,
    )
    return replace(done, at=clock.wall(), reach=reach, no_way=ways_missing(ssh=session.has_ssh, sql=session.has_sql))


def ways_missing(*, ssh: bool, sql: bool) -> tuple[str, ...]:
    """Return which of the two ways in nobody wrote down."""
    return tuple(way for way, given in ((SSH, ssh), (SQL, sql)) if not given)


def _reach(*, sql: bool, ssh: bool, tried: bool) -> Reach:
    if sql and ssh:
        return Reach.FULL
    if ssh:
        return Reach.SSH_ONLY
    if sql:
        return Reach.SQL_ONLY
    return Reach.NONE if tried else Reach.NOT_TRIED


def _failed(facts: NodeFacts, part: str, error: UserError) -> NodeFacts:
    kept = tuple(p for p in facts.problems if p.part != part)
    return replace(facts, problems=(*kept, Problem(part, error.sentence, error.code)))


def _probe_ssh(
    session: ObserverSession, clock: Clock, facts: NodeFacts, parts: Collection[Part], begun: _Begun | None
) -> NodeFacts | UserError:
    datadir = facts.server.datadir if facts.server is not None else ""
    mute = not session.has_sql or any(p.part == "sql" for p in facts.problems)
    try:
        machine = _end_machine(session, begun, datadir, mute=mute) if begun is not None else facts.machine
    except UserError as error:
        return error
    done = replace(facts, machine=machine, ssh_at=clock.wall(), problems=_without(facts, "ssh"))
    # Nobody is let in: what became of the server is told by its log alone.
    offline = any(p.part == SQL and p.code == OfflineMode.code for p in facts.problems)
    if ("log" not in parts and not offline) or not DAEMONS[session.kind].tells_transfers:
        known = with_certificate(machine, session, done) if machine is not None and begun is not None else machine
        return replace(done, machine=known)
    logged = log_facts(session, done, clock)
    if logged.machine is not None:
        done = replace(done, machine=_with_unit(machine or MachineFacts(), logged.machine))
    problems = (*_without(done, "log"), *((logged.problem,) if logged.problem is not None else ()))
    return replace(done, transfers=logged.transfers, transfers_at=logged.at, problems=problems)


def _with_unit(machine: MachineFacts, unit: MachineFacts) -> MachineFacts:
    return replace(
        machine,
        unit=unit.unit,
        unit_state=unit.unit_state,
        unit_status_text=unit.unit_status_text,
        group_error=unit.group_error,
        sst_bytes=unit.sst_bytes,
        gcache_pages_bytes=unit.gcache_pages_bytes,
        gcache_disk_free=unit.gcache_disk_free,
        transfer=unit.transfer,
    )


def _without(facts: NodeFacts, part: str) -> tuple[Problem, ...]:
    return tuple(p for p in facts.problems if p.part != part)


def machine_facts(session: ObserverSession, clock: Clock, datadir: str = "") -> MachineFacts:
    """Read what the host is and how its database's process and disk are. Raises UserError when SSH does not answer."""
    return _end_machine(session, _begin_machine(session, clock), datadir, mute=True)


@dataclass(frozen=True, slots=True)
class _Begun:
    """What is read of a host before its server has told where its data lies. `pid`: of the server's process."""

    machine: MachineFacts
    pid: int | None


def _begin_machine(session: ObserverSession, clock: Clock) -> _Begun:
    """Read what needs nobody else's answer. Raises UserError when SSH does not answer."""
    files = session.run(reads.HOST_FILES, limit_s=COMMAND_LIMIT_S)
    machine = parse_host_files(files.text)
    daemons = DAEMONS[session.kind]
    listing = session.run(daemons.process, limit_s=COMMAND_LIMIT_S)
    # ps ends with 1 when nothing matches; an unknown option or program ends otherwise or writes to stderr.
    readable = listing.exit_code == 0 or (listing.exit_code == 1 and not listing.stderr.strip())
    found = find_process(listing.text, daemons.called) if readable else ServerProcess("?")
    sent = clock.wall()
    ended = session.run(reads.CLOCK, limit_s=COMMAND_LIMIT_S)
    offset = clock_offset(ended.text, sent, clock.wall())
    if found.pid is None:
        _refuse_mute(no_commands(files, ended, listing, host=session.host))
    if daemons.tells_transfers:
        machine = _with_unit(machine, unit_facts(session, found.pid))
    state, doubt = found.state, ""
    if state == "":
        doubt = doubt_of_absence(lambda read: session.run(read, limit_s=COMMAND_LIMIT_S), daemons.units)
        state = "?" if doubt else ""
    if not found.alone:
        doubt = SEVERAL
    machine = replace(machine, process_state=state, process_doubt=doubt)
    machine = replace(machine, process_pid=found.pid, process_owner=found.owner, clock_offset_s=offset)
    return _Begun(machine, found.pid)


def _refuse_mute(mute: NoCommands | None) -> None:
    """Raise the error of a login whose commands nobody runs: nothing that came is an answer."""
    if mute is not None:
        raise mute


def _end_machine(session: ObserverSession, begun: _Begun, datadir: str, *, mute: bool) -> MachineFacts:
    """Read the rest.

    Args:
        mute: SQL does not answer, or may not later: then the server's own command line tells whether it was founded.
    """
    pid = begun.pid
    words = _run(session, commands.SERVER_WORDS.read(pid)) if mute and pid is not None else None
    disks = parse_df(_run(session, reads.data_disk(datadir or DAEMONS[session.kind].datadir)) or "")
    return replace(
        begun.machine,
        disks=disks,
        data_disk=disks[0] if disks else None,
        founded_pid=pid if founds(words or "") else None,
    )


def _run(session: ObserverSession, read: CommandRead) -> str | None:
    try:
        return session.run(read, limit_s=COMMAND_LIMIT_S).text
    except (QueryFailed, SudoFailed, Refused):
        return None

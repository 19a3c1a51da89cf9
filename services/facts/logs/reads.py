"""The slow reads over SSH: what systemd says of the server, and what its log tells of state transfers.

Logs and the data directory often belong to the server's own account: with sudo first, without it where there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from services.clock import Clock
from services.connections.ports import ObserverSession, Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.errors import OfflineMode, Refused, SudoFailed, UserError
from services.facts import reads
from services.facts.logs.error_log import parse_transfers
from services.facts.machine.machine import parse_datadir, parse_df, parse_du, parse_units, zone_offset
from services.facts.model import SQL, MachineFacts, NodeFacts, Problem, TransferCertificate, TransferFacts
from services.facts.reading import words
from services.facts.replication.group_replication import parse_group_error
from services.facts.server.option_files import SERVER_GROUPS, printed
from services.i18n import tr
from services.lines import lines_of

LOG_LINES = 600
LIMIT_S = 5.0
_UNNAMED = "unnamed"
"""Of a CA that no option names (encrypt = 3 needs none): the certificate alone runs out."""
_CERTIFICATE = "-----BEGIN CERTIFICATE-----"


def unit_facts(session: ObserverSession, pid: int | None = None) -> MachineFacts:
    """Return unit, unit_state and unit_status_text; nothing where there is no systemd. Raises UserError without SSH.

    Args:
        pid: of the server's process.
    """
    answer = session.run(reads.UNIT, limit_s=LIMIT_S)
    return parse_units(answer.text, pid) if answer.exit_code == 0 else MachineFacts()


class Logged(NamedTuple):
    """What one look at a host's log gave.

    Attributes:
        transfers: those of the log; of the look before where it was not read, as old as they are (`at`).
        machine: unit, SST and gcache page sizes; None where the host gave no answer.
        at: when the log was read last, UTC epoch seconds; None: never.
        problem: why it was not read this time; None: it was, or the server has told no log.
    """

    transfers: tuple[TransferFacts, ...]
    machine: MachineFacts | None
    at: float | None
    problem: Problem | None = None


def log_facts(session: ObserverSession, facts: NodeFacts, clock: Clock) -> Logged:
    """Return the state transfers of the host's log, and its unit, SST and gcache page sizes. Never raises."""
    try:
        unit = unit_facts(session, facts.machine.process_pid if facts.machine is not None else None)
        path = _path(session, facts)
        text, why = _read_log(session, path, unit.unit)
        sizes = _sizes(session, facts) if facts.galera is not None or _may_join(unit) else unit
    except UserError as error:
        return Logged(facts.transfers, None, facts.transfers_at, _not_read(error.sentence, error.code))
    told = parse_group_error(lines_of(text)) if text is not None else ""
    machine = replace(
        unit,
        group_error=told,
        sst_bytes=sizes.sst_bytes,
        gcache_pages_bytes=sizes.gcache_pages_bytes,
        gcache_disk_free=sizes.gcache_disk_free,
    )
    machine = with_certificate(machine, session, facts)
    if text is None:
        return Logged(facts.transfers, machine, facts.transfers_at, _not_read(why) if why else None)
    offset = facts.machine.clock_offset_s if facts.machine is not None else None
    found = parse_transfers(lines_of(text), utc_offset_s=_zone(session) if path else 0.0, clock_offset_s=offset or 0.0)
    now = clock.wall()
    return Logged(tuple(t for t in found if t.since is None or t.since <= now + 60), machine, now)


def _not_read(why: str, code: str = "log-not-read") -> Problem:
    text = tr("its log was not read, so state transfers are not known from it: {why}", why=why.rstrip("."))
    return Problem("log", text, code)


def with_certificate(machine: MachineFacts, session: ObserverSession, facts: NodeFacts) -> MachineFacts:
    """Return a member's machine with the day on which the certificates of its state transfers run out. Never raises.

    They are read as root, and never a key; nothing is known where none are used, or root is not to be had.
    """
    if facts.galera is None:
        return machine
    try:
        answer = session.run(commands.TRANSFER_CERTS, limit_s=LIMIT_S)
    except UserError:
        return machine
    _mode, _, told = answer.text.partition("\n")
    if answer.exit_code or not told.strip():  # not encrypted so, or not read
        return machine
    from services.facts.transfer.certificate_files import parse_pair  # its library is loaded only where it is needed

    pair = parse_pair(told, ("", "", ""))
    if pair is None or told.count(_CERTIFICATE) > len(pair.chain) + len(pair.cas):
        return machine  # or of a kind that is not known here: that is no word against it
    states = dict(line.split("|", 1) for line in lines_of(told) if line.startswith(("ca|", "cert|")))
    if "unread" in states.values() or states.get("cert") == _UNNAMED:
        return machine  # it could not be looked at, or stands where nobody looked: that is no word against it
    lacks = not pair.chain or not (pair.cas or states.get("ca") == _UNNAMED)
    if lacks or pair.ends is None:
        return replace(machine, transfer=TransferCertificate())
    return replace(machine, transfer=TransferCertificate(pair.ends, pair.chain[0].name))


def _may_join(unit: MachineFacts) -> bool:
    return unit.unit_state.startswith("activating")


def _path(session: ObserverSession, facts: NodeFacts) -> str:
    """Return the error log's file, '' where the server writes to the journal, or nobody can tell.

    A server in offline mode that the console never spoke with has not told it: then its option files do.
    """
    server = facts.server
    if server is not None:
        return reads.log_path(server.log_error, server.datadir)
    if not any(problem.part == SQL and problem.code == OfflineMode.code for problem in facts.problems):
        return ""
    options = _as_root_or_not(session, lambda sudo: commands.GROUP_OPTIONS.read(*SERVER_GROUPS, sudo=sudo))
    given = printed(options.text) if options is not None and options.exit_code == 0 else {}
    return reads.log_path(given.get("log_error", ""), given.get("datadir", ""))


def _read_log(session: ObserverSession, path: str, unit: str) -> tuple[str | None, str]:
    """Return the log's newest lines, None where they were not read; and why, '' where nobody told where they are."""
    if path:
        answer = _as_root_or_not(session, lambda sudo: reads.error_log(path, LOG_LINES, sudo=sudo))
    elif unit:
        answer = _as_root_or_not(session, lambda sudo: reads.journal(unit, LOG_LINES, sudo=sudo))
    else:
        return None, ""
    if answer is not None and answer.exit_code == 0:
        return answer.text, ""
    said = words(answer.error_text, 200) if answer is not None else ""
    return None, said or tr("the host does not allow it")


def _sizes(session: ObserverSession, facts: NodeFacts) -> MachineFacts:
    datadir = facts.server.datadir if facts.server is not None and facts.server.datadir else reads.DEFAULT_DATADIR
    listing = _as_root_or_not(session, lambda sudo: reads.data_listing(datadir, sudo=sudo))
    if listing is None or listing.exit_code != 0:
        return MachineFacts()
    pages, receiving = parse_datadir(listing.text)
    size = _as_root_or_not(session, lambda sudo: reads.sst_size(datadir, sudo=sudo)) if receiving else None
    free: int | None = None
    apart = facts.galera.gcache_dir if facts.galera is not None else ""
    if apart and reads.clean(apart) != reads.clean(datadir):
        pages, free = _gcache_apart(session, apart)
    received = None if size is None else parse_du(size.text)
    return MachineFacts(gcache_pages_bytes=pages, gcache_disk_free=free, sst_bytes=received)


def _gcache_apart(session: ObserverSession, folder: str) -> tuple[int | None, int | None]:
    """Return (bytes in page files, free bytes) of a gcache.dir that is not the data directory."""
    listing = _as_root_or_not(session, lambda sudo: reads.data_listing(folder, sudo=sudo))
    pages = parse_datadir(listing.text)[0] if listing is not None and listing.exit_code == 0 else None
    disks = parse_df(session.run(reads.data_disk(folder), limit_s=LIMIT_S).text)
    return pages, disks[0].free if disks else None


def _as_root_or_not(session: ObserverSession, command: Callable[[bool], CommandRead]) -> Output | None:
    """Run as root, or as the login where the host gives no root; None when neither is allowed."""
    try:
        return session.run(command(True), limit_s=LIMIT_S)
    except SudoFailed:
        try:
            return session.run(command(False), limit_s=LIMIT_S)
        except (SudoFailed, Refused):
            return None
    except Refused:
        return None


def _zone(session: ObserverSession) -> float:
    """Return the host's offset from UTC in seconds ("+0200"), for logs that name no zone."""
    return zone_offset(session.run(reads.ZONE, limit_s=LIMIT_S).text)

"""A server's log for proofs, with the times of this workstation's clock: its newest lines, or all since a moment.

Percona's provider logs one line for every write set of an IST. So what an IST proves is read from a moment on, those
lines left out on the host; a log that does not reach back to that moment shows nothing, and never a no.
"""

from __future__ import annotations

from services.connections.programs.read_programs import LOG_LINES
from services.connections.reads import commands, statements
from services.errors import Refused, TimedOut, UserError
from services.facts import reads
from services.facts.logs.client_text import own_lines
from services.facts.logs.json_log import log_file
from services.facts.logs.part import Log
from services.facts.machine.machine import clock_offset, zone_offset
from services.facts.server.option_files import SERVER_GROUPS, printed
from services.lines import lines_of
from services.procedures.plan.looks import Asking

LINES = 4000
WHOLE_LIMIT_S = 35.0
_BEFORE_S = 60.0
"""Read so much more: a line from before the moment shows that the log reaches back to it."""


def read_log(asking: Asking, host: str, unit: str) -> Log | None:
    """Return the log's newest lines: of the journal, or the file that log_error names; None when it can't be read."""
    path = _log_file(asking, host)
    read = reads.error_log(path, LINES, sudo=True) if path else reads.journal(unit, LINES, sudo=True)
    output = asking.run(host, read)
    if output.exit_code:
        return None
    zone = zone_offset(asking.run(host, reads.ZONE).text) if path else 0.0
    return Log(own_lines(output.text, LINES), _offset(asking, host), zone, tuple(lines_of(output.text)))


def read_log_since(asking: Asking, host: str, unit: str, moment: float) -> Log | None:
    """Return the log from `moment` (workstation clock) on, without the lines of single write sets.

    Where the host doesn't allow that, the newest lines: `Log.reaches` tells whether they go back so far. None when the
    log can't be read at all.
    """
    path, offset = _log_file(asking, host), _offset(asking, host)
    read = reads.error_log_whole(path) if path else reads.journal_since(unit, moment + offset - _BEFORE_S)
    try:
        output = asking.run(host, read, limit_s=WHOLE_LIMIT_S)
    except (Refused, TimedOut):
        return read_log(asking, host, unit)
    if output.exit_code:
        return read_log(asking, host, unit)
    zone = zone_offset(asking.run(host, reads.ZONE).text) if path else 0.0
    return Log(own_lines(output.text, LOG_LINES), offset, zone, tuple(lines_of(output.text)))


def _offset(asking: Asking, host: str) -> float:
    """Return the host's clock minus the workstation's, in seconds."""
    sent = asking.clock.wall()
    answer = asking.run(host, reads.CLOCK).text
    return clock_offset(answer, sent, asking.clock.wall()) or 0.0


def _log_file(asking: Asking, host: str) -> str:
    """Return the error log's file, '' for the journal. A server that is down tells it by its option files."""
    key = ("log-file", host)
    known = asking.memory.value(key)
    if isinstance(known, str):
        return known
    try:
        rows = asking.session(host).query(statements.LOG_PLACES)
        found = rows.pairs()
    except UserError:
        output = asking.run(host, commands.SERVER_OPTIONS)
        if output.exit_code:  # MySQL's program has no --mysqld
            output = asking.run(host, commands.GROUP_OPTIONS.read(*SERVER_GROUPS, sudo=True))
        found = printed(output.text)
    named = log_file(found.get("log_error", ""), found.get("log_error_services", ""))
    path = reads.log_path(named, found.get("datadir", ""))
    asking.memory.keep(key, path)
    return path

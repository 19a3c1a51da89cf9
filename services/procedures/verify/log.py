"""A server's log for proofs, with the times of this workstation's clock: its newest lines, or all since a moment.

Percona's provider logs one line for every write set of an IST. So what an IST proves is read from a moment on, those
lines left out on the host; a log that does not reach back to that moment shows nothing, and never a no.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from services.connections.command import MASK
from services.connections.read_programs import LOG_LINES
from services.connections.reads import commands, statements
from services.errors import Refused, TimedOut, UserError
from services.facts import reads
from services.facts.client_text import LEFT_OUT_MORE, LEFT_OUT_REQUEST, without_client_text
from services.facts.error_log import parse_transfers, split_line
from services.facts.machine import clock_offset, zone_offset
from services.facts.masking import masked
from services.facts.model import TransferFacts
from services.facts.option_files import SERVER_GROUPS
from services.lines import lines_of
from services.procedures.verify.asking import Asking

LINES = 4000
WHOLE_LIMIT_S = 35.0
_BEFORE_S = 60.0
"""Read so much more: a line from before the moment shows that the log reaches back to it."""
_STARTING = re.compile(
    r"Starting \S{0,80}(?:mariadb|mysql)\S{0,80}\.service|Starting (?:MariaDB|MySQL|Percona)[^\[\]]{0,99} server\.\.\.",
    re.IGNORECASE,
)
_OPENED = re.compile(r"(?:\bidentified(?:\s{1,80}(?:by|via|with|as))?|\bpassword\s{0,80}[=(]?)\s{0,80}$", re.IGNORECASE)
"""A statement that the server logs goes on on the next line with a secret."""
_PROCESS = re.compile(r"Starting (?:MariaDB|MySQL|Percona).{0,300} as process \d|starting as process \d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Log:
    """The newest lines of a log.

    Attributes:
        offset_s: host clock minus workstation's; zone_s: the host's offset from UTC, for stamps without a zone.
    """

    lines: tuple[str, ...]
    offset_s: float = 0.0
    zone_s: float = 0.0

    def transfers(self, since: float) -> tuple[TransferFacts, ...]:
        """Return the state transfers that began at or after `since` (workstation clock), oldest first."""
        found = parse_transfers(self.lines, utc_offset_s=self.zone_s, clock_offset_s=self.offset_s)
        return tuple(t for t in found if t.since is not None and t.since >= since)

    def reaches(self, moment: float) -> bool:
        """Return whether the log has what came since `moment`: an older line, or a start of the server after it."""
        for line in self.lines:
            at, message = split_line(line, self.zone_s)
            if at is not None and at - self.offset_s <= moment:
                return True
            if any(pattern.search(message) for pattern in (_STARTING, _PROCESS)):
                return True
        return False

    def left_out(self, *, request: bool = False) -> bool:
        """Return whether what may be told of a transfer, or of a request of one, was left out as a client's words."""
        wanted = (LEFT_OUT_REQUEST,) if request else (LEFT_OUT_MORE, LEFT_OUT_REQUEST)
        return any(word in line for line in self.lines for word in wanted)

    def newest_start(self) -> Log:
        """Return the part from the newest start on: systemd's word for it, else the server's; all without either."""
        for pattern in (_STARTING, _PROCESS):
            found = [i for i, line in enumerate(self.lines) if pattern.search(line)]
            if found:
                return replace(self, lines=self.lines[found[-1] :])
        return self

    def since(self, moment: float) -> tuple[str, ...]:
        """Return the messages logged at or after `moment` (workstation clock), secrets masked; a line without a time
        has that of the line before it.
        """
        found: list[str] = []
        begun = opened = False
        for line in self.lines:
            at, message = split_line(line, self.zone_s)
            if at is not None:
                begun = at - self.offset_s >= moment
            if begun:
                shown = MASK if opened else masked(message[:4000])
                found.append(shown[:400])
            opened = _OPENED.search(message[-80:]) is not None
        return tuple(found)


def read_log(asking: Asking, host: str, unit: str) -> Log | None:
    """Return the log's newest lines: of the journal, or the file that log_error names; None when it can't be read."""
    path = _log_file(asking, host)
    read = reads.error_log(path, LINES, sudo=True) if path else reads.journal(unit, LINES, sudo=True)
    output = asking.run(host, read)
    if output.exit_code:
        return None
    zone = zone_offset(asking.run(host, reads.ZONE).text) if path else 0.0
    lines = lines_of(output.text)
    return Log(without_client_text(lines, begins_inside=len(lines) >= LINES), _offset(asking, host), zone)


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
    lines = lines_of(output.text)
    return Log(without_client_text(lines, begins_inside=len(lines) >= LOG_LINES), offset, zone)


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
        text = output.text
        pairs = (line[2:].partition("=")[::2] for line in lines_of(text) if line.startswith("--"))
        found = {name.replace("-", "_"): value for name, value in pairs}
    path = reads.log_path(found.get("log_error", ""), found.get("datadir", ""))
    asking.memory.keep(key, path)
    return path

"""A part of a server's log as it was read: its transfers, how far back it reaches, its newest start. Pure.

What was read, and from when on, is told by who reads it; times become those of this workstation's clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from services.connections.command import MASK
from services.facts.logs.client_text import JOURNAL, LEFT_OUT_MORE, LEFT_OUT_REQUEST
from services.facts.logs.error_log import parse_transfers, split_line
from services.facts.masking import masked
from services.facts.model import TransferFacts

_STARTING = re.compile(
    r"Starting \S{0,80}(?:mariadb|mysql)\S{0,80}\.service|Starting (?:MariaDB|MySQL|Percona)[^\[\]]{0,99} server\.\.\.",
    re.IGNORECASE,
)
_OPENED = re.compile(r"(?:\bidentified(?:\s{1,80}(?:by|via|with|as))?|\bpassword\s{0,80}[=(]?)\s{0,80}$", re.IGNORECASE)
"""A statement that the server logs goes on on the next line with a secret."""
_REQUESTED = re.compile(r"Prepared IST receiver|Receiving IST|wsrep_sst_\w{1,40} --role 'joiner'|SST received: ")
_PROCESS = re.compile(r"Starting (?:MariaDB|MySQL|Percona).{0,300} as process \d|starting as process \d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Log:
    """The newest lines of a log.

    Attributes:
        lines: the server's own words; whole: what was read, clients' words among it.
        offset_s: host clock minus workstation's; zone_s: the host's offset from UTC, for stamps without a zone.
    """

    lines: tuple[str, ...]
    offset_s: float = 0.0
    zone_s: float = 0.0
    whole: tuple[str, ...] = ()

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

    def left_out(self) -> bool:
        """Return whether what may be told of a transfer was left out as a client's words."""
        return any(word in line for line in self.lines for word in (LEFT_OUT_MORE, LEFT_OUT_REQUEST))

    def start_hidden(self) -> bool:
        """Return whether a later start than the first line's may stand among what was left out as a client's words.

        Not behind systemd's own word for a start: what it says is never left out.
        """
        found = JOURNAL.match(self.lines[0]) if self.lines else None
        if found is not None and found["by"].startswith("systemd["):
            return False
        return any(pattern.search(line) for line in self.whole[1:] for pattern in (_STARTING, _PROCESS))

    def tells_request(self) -> bool:
        """Return whether any line, whoever wrote it, has to do with a transfer to this node: a server always says so.

        Clients add words to a log and take none away: what nobody says did not happen.
        """
        return any(_REQUESTED.search(line) for line in self.whole or self.lines)

    def newest_start(self) -> Log:
        """Return the part from the newest start on: systemd's word for it, else the server's; all without either."""
        for pattern in (_STARTING, _PROCESS):
            found = [i for i, line in enumerate(self.lines) if pattern.search(line)]
            if found:
                lines = self.lines[found[-1] :]
                same = [i for i, line in enumerate(self.whole) if line == lines[0]]
                return replace(self, lines=lines, whole=self.whole[same[-1] :] if same else self.whole)
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

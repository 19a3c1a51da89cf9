"""Was a server run on a node's data without its provider, by the node's own log? Pure.

Such a server takes rows that the cluster never gets, and its binary log need not hold them (--skip-log-bin, a session
with sql_log_bin = 0); grastate.dat stays as it was. MariaDB logs 'Starting MariaDB … as process N' (mysqld_safe and
MySQL: 'starting as process N'), 'WSREP: Loading provider …' where wsrep is on, and 'ready for connections' at the end
of a start; a start that only recovers a position or fails never says the last. Tried with MariaDB 10.11.18.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.connections.programs.read_programs import STAMP, START_LEFT_OUT
from services.facts.logs.client_text import JOURNAL
from services.facts.logs.error_log import split_line
from services.moments import utc_time

_MOST_LINE = 1_000
_OWN = STAMP + (r"\[(?:Note|System|Warning)\] (?:\[MY-\d{1,9}\] )?(?:\[\w{1,20}\] )?(?:WSREP: )?")
"""The server's own beginning of a line. A client's words are left out before; they would have to forge this too."""
_STARTS = re.compile(_OWN + r"(?:Starting MariaDB .{1,300}|\S{1,200} \([^()]{1,100}\) starting) as process \d")
_PROVIDER = re.compile(_OWN + r"(?:Loading provider (?!none\b)\S|wsrep_load\(\): loading provider library '(?!none'))")
_READY = re.compile(_OWN + r"\S{1,200}: ready for connections")
_JOINED = re.compile(
    _OWN + r"(?:New COMPONENT: primary = yes|Synchronized with group|SST received: |Prepared IST receiver for 0-)"
)


@dataclass(frozen=True, slots=True)
class RanAlone:
    """A start without the provider that the node was in no Primary Component after; `when`: in words, '' not known.

    `certain`: the log shows it; else a start's line stood among clients' words, and what started then is not known.
    """

    when: str
    certain: bool = True

    def told(self, host: str) -> str:
        """Return it as a sentence."""
        if not self.certain:
            return (
                f"{host}: a line of a server's start stands among clients' words in its log: whether a server ran on "
                "its data without the cluster is not known"
            )
        return (
            f"{host}: a server ran on its data without the cluster{self.when}, by its own log: what it wrote need not "
            "be in its binary log"
        )


def ran_alone(lines_newest_first: Iterable[str]) -> RanAlone | None:
    """Return the last server that served on a node's data outside the cluster, None where the log tells of none.

    One that came into a Primary Component since is not held up: what it brought along is there already.
    """
    found: RanAlone | None = None
    outside = False
    for raw in reversed(tuple(lines_newest_first)):
        line = raw[:_MOST_LINE]
        stamp = JOURNAL.match(line)
        message = stamp["message"] if stamp else line
        if raw == START_LEFT_OUT:
            found = found or RanAlone("", certain=False)
        elif _STARTS.match(message):
            outside = True
        elif _PROVIDER.match(message):
            outside = False
        elif _JOINED.match(message):
            found, outside = None, False
        elif outside and _READY.match(message):
            found = RanAlone(_when(line, in_journal=stamp is not None))
    return found


def _when(line: str, *, in_journal: bool) -> str:
    """Return when a line was written: a journal's stamp is the host's epoch, a log file's is in the host's own zone."""
    at = split_line(line, 0.0)[0]
    if at is None:
        return ""
    form = " at %Y-%m-%d %H:%M:%S UTC" if in_journal else " at %Y-%m-%d %H:%M:%S (as its log says)"
    return utc_time(at).strftime(form)

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
from datetime import UTC, datetime

from services.facts.error_log import split_line
from services.facts.primary_views import LEFT_OUT

_MOST_LINE = 1_000
_STARTS = re.compile(r"(?:Starting MariaDB .{1,300}|starting) as process \d")
_PROVIDER = re.compile(r"Loading provider (?!none\b)\S|loading provider library '(?!none')")
_EPOCH = re.compile(r"\d{9,11}\.\d")
_READY = "ready for connections"
_JOINED = re.compile(
    r"New COMPONENT: primary = yes|Synchronized with group|SST received: |Prepared IST receiver for 0-"
)


@dataclass(frozen=True, slots=True)
class RanAlone:
    """A start without the provider that the node was in no Primary Component after; `when`: in words, '' not known."""

    when: str

    def told(self, host: str) -> str:
        """Return it as a sentence."""
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
        at, message = split_line(line, 0.0)
        if raw == LEFT_OUT or _STARTS.search(message):  # a start may be among the words of clients that are left out
            outside = True
        elif _PROVIDER.search(message):
            outside = False
        elif _JOINED.search(message):
            found, outside = None, False
        elif _READY in message and outside:
            found = RanAlone(_when(line, at))
    return found


def _when(line: str, at: float | None) -> str:
    """Return when a line was written: a journal's stamp is the host's epoch, a log file's is in the host's own zone."""
    if at is None:
        return ""
    if _EPOCH.match(line):
        return datetime.fromtimestamp(at, UTC).strftime(" at %Y-%m-%d %H:%M:%S UTC")
    return datetime.fromtimestamp(at, UTC).strftime(" at %Y-%m-%d %H:%M:%S (as its log says)")

"""Marks of a binary log: which transaction stands at a seqno, by GTID, server and time. Pure parsers and the read.

In Galera the Xid of a transaction is its write set's seqno, on every node, with log_slave_updates (read so on the lab:
MariaDB 10.11.18; specification "Conventions"). A statement that Galera replicates in total order (DDL) has no Xid.
Formats: mariadb-binlog and mysqlbinlog (MySQL manual, "mysqlbinlog Row Event Display").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.reading import words
from services.lines import lines_of

MARKS_LIMIT_S = 40.0
"""The program ends itself before (timeout 30)."""
MOST_MARKS = 64
"""As many marks the program tells at most."""
NEWEST = 50
"""So many of the newest file it tells one after the other; of those before only some (binlog_programs.BINLOG_MARKS)."""

_MARK = re.compile(
    r"mark ([0-9]{6}) +([0-9]{1,2}:[0-9]{2}:[0-9]{2}) ([0-9]{1,10}) ([0-9A-Za-z:-]{3,64}) ([0-9]{1,18}|-)$"
)
_OF_FILES = 6
_WHY = {
    3: "its index is not there",
    4: "no program that reads binary logs is there",
    5: "its events stand in no order of their places, so a line in it may be a client's",
    124: "it took too long",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One transaction of a binary log.

    Attributes:
        xid: its seqno, None for a DDL statement, 0 for what XA prepared with wsrep off; gtid: '0-41-14', or 'UUID:7'.
        server_id: of the server that it was written on; time: as the log has it, 'YYMMDD H:MM:SS' in UTC.
    """

    gtid: str
    server_id: int
    time: str
    xid: int | None = None

    def is_same(self, other: Mark) -> bool:
        """Return whether both are one event. The time tells servers apart that share a server id."""
        return (self.gtid, self.server_id, self.time) == (other.gtid, other.server_id, other.time)

    @property
    def text(self) -> str:
        """Return it for a sentence: 'Xid 20, GTID 0-43-16'."""
        kind = "DDL" if self.xid is None else f"Xid {self.xid}" if self.xid else "XA"
        return f"{kind}, GTID {self.gtid}"


NO_INDEX = 3
"""How the read ends where there is no such index file (binlog_programs.py)."""


def marks_read(index: str, since: int | None = None) -> CommandRead:
    """Return the read of a binary log's newest marks, or of those from the first with an Xid of `since` or more on.

    Args:
        index: path of the log's index file.
    """
    if since is None:
        return commands.NEWEST_MARKS.read(index, sudo=True)
    return commands.MARKS_FROM.read(index, since, sudo=True)


def parse_marks(lines: Iterable[str]) -> tuple[Mark, ...]:
    """Return the marks in the order of the log; what is no mark is skipped."""
    found = (_MARK.match(line.strip()) for line in islice(lines, MOST_MARKS))
    return tuple(
        Mark(m[4], int(m[3]), f"{m[1]} {m[2]}", None if m[5] == "-" else int(m[5])) for m in found if m is not None
    )


def why_unread(exit_code: int, said: str, printed: str = "") -> str:
    """Return why the program told nothing: by its exit code, what it printed of its files, else what was said to it.

    Args:
        said: on its standard error; printed: on its standard output.
    """
    lines = lines_of((printed if exit_code == _OF_FILES else said).strip())
    return _WHY.get(exit_code) or words(lines[-1] if lines else "", 200)

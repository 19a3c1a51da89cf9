"""Was a server that writes another log shut down on a stopped node's data? What the node's own log can't tell. Pure.

A clean shutdown writes `ib_buffer_pool` in the data folder (innodb_buffer_pool_dump_at_shutdown, ON by default since
MariaDB 10.2.2 and MySQL 5.7.7; its name: innodb_buffer_pool_filename; MariaDB KB, "InnoDB System Variables"), and the
server logs after it: 'Buffer pool(s) dump completed', 'Shutdown complete'. So a file that is newer than the log is
another server's: one that somebody started by hand, with wsrep off and no binary log it may be, whose rows nothing
tells of. Tried with MariaDB 10.11.18: the unit's stop logs within 0.1 s after it; --wsrep-recover, galera_recovery and
SIGKILL don't write it; a transfer by mariabackup brings none, another one comes while the joiner's own server logs.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.lines import lines_of
from services.moments import utc_time

MARGIN_S = 5.0
"""A log that has nothing from this long before the file was written on was not written by the server that wrote it."""
READ_LIMIT_S = 8.0
SINCE_LIMIT_S = 40.0
"""The program ends itself before (timeout 30)."""
POOL_FILE = "ib_buffer_pool"
UNIT = "mariadb.service"
"""The one unit whose journal is asked: Percona's bootstraps run under another one (mysql@bootstrap.service)."""

_MTIME = re.compile(r"(\d{1,11}) (/.*)")
_STAMPED = re.compile(r"(\d{1,11}\.\d{1,9}) (.*)")
_STARTS = re.compile(r"systemd\[\d+\]: Starting ")
_JOINED = "WSREP: Synchronized with group"


@dataclass(frozen=True, slots=True)
class OtherServer:
    """A clean shutdown on a node's data that its own log has no line of.

    Attributes:
        at: when the data folder's file was written; log_end: the last line of the node's own log before (its host's
            epoch seconds).
    """

    at: float
    log_end: float
    certain: ClassVar[bool] = True

    def told(self, host: str) -> str:
        """Return it as a sentence."""
        return (
            f"{host}: a server whose log is not this one was shut down on its data at {_moment(self.at)}, after the "
            f"last line of its own log ({_moment(self.log_end)}): what it wrote is in no log that was read"
        )


@dataclass(frozen=True, slots=True)
class NotRead:
    """Whether such a server ran could not be read: no evidence for one past, and none against it.

    Attributes:
        what: of what no answer came: 'its journal'.
    """

    what: str
    certain: ClassVar[bool] = False

    def told(self, host: str) -> str:
        """Return it as a sentence."""
        return (
            f"{host}: {self.what} could not be read: whether a server whose log is not this one ran on its data is not "
            "known; look again"
        )


def _moment(at: float) -> str:
    return utc_time(at).strftime("%Y-%m-%d %H:%M:%S UTC")


def mtimes_read(*paths: str) -> CommandRead:
    """Return the read of when files were last written; one that is not there has no line."""
    return commands.FILE_TIMES.read(*paths, sudo=True)


def pool_path(datadir: str, name: str) -> str:
    """Return the file's path by innodb_buffer_pool_filename, '' for not set."""
    return posixpath.normpath(posixpath.join(datadir, name or POOL_FILE))


def parse_mtimes(text: str) -> dict[str, float]:
    """Return path -> epoch seconds."""
    return {found[2]: float(found[1]) for line in lines_of(text) if (found := _MTIME.fullmatch(line))}


def around_read(unit: str, at: float) -> CommandRead:
    """Return the read of a line of a unit's journal from up to a moment (man journalctl(1), systemd.time(7))."""
    return commands.JOURNAL_BETWEEN.read(unit, max(0, int(at - MARGIN_S)), int(at + 1), sudo=True)


def before_read(unit: str, at: float) -> CommandRead:
    """Return the read of the newest line of a unit's journal before a moment."""
    return commands.JOURNAL_BEFORE.read(unit, max(0, int(at - MARGIN_S)), sudo=True)


def since_read(unit: str, at: float) -> CommandRead:
    """Return the read of a unit's journal from a moment on."""
    return commands.JOURNAL_SINCE.read(unit, max(0, int(at)), sudo=True)


def by_file(written: float, log: float, since: Iterable[str]) -> OtherServer | None:
    """Return the other server by when the file and the error log were last written.

    Args:
        since: the unit's journal from the file's time on: what systemd says of a stop is that of its own server, whose
            log another file is then.
    """
    return OtherServer(written, log) if written > log + MARGIN_S and not stamped(since) else None


def stamped(lines: Iterable[str]) -> tuple[tuple[float, str], ...]:
    """Return (epoch seconds, text) of each line that has a stamp: '-- No entries --' has none."""
    return tuple((float(found[1]), found[2]) for line in lines if (found := _STAMPED.match(line)))


def by_journal(written: float, before: Iterable[str], since: Iterable[str]) -> OtherServer | None:
    """Return the other server by the unit's journal, which has no line from about when the file was written.

    Its own server did not run then: nothing comes after, or the first is systemd's word of a start. One that became
    Synced since is not held up: what it brought along is there already.

    Args:
        before: the newest line before: without one the journal doesn't go back so far, and tells nothing.
    """
    ends, after = stamped(before), stamped(since)
    if not ends or (after and not _STARTS.search(after[0][1])):
        return None
    if any(_JOINED in text for _, text in after):
        return None
    return OtherServer(written, ends[-1][0])

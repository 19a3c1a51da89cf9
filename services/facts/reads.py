"""What is read to know a host, and how often: every statement and command, by their names in the Observer's registry.

| part        | read                                                             | every |
| ----------- | ---------------------------------------------------------------- | ----- |
| server      | SHOW GLOBAL STATUS (shared with the sampler)                     | 1 s   |
| variables   | SHOW GLOBAL VARIABLES                                            | 30 s  |
| channels    | SHOW ALL SLAVES STATUS / SHOW REPLICA STATUS, where there is one | 1 s   |
| appliers    | replication_applier_status_by_worker, where one stopped          | 1 s   |
| members     | mysql.wsrep_cluster_members                                      | 10 s  |
| group       | replication_group_members, _member_stats, where there is one     | 1 s   |
| recovery    | replication_connection_status, clone_progress, while RECOVERING  | 1 s   |
| replicas    | SHOW SLAVE HOSTS / SHOW REPLICAS, else Binlog Dump threads       | 10 s  |
| process     | ps of mysqld/mariadbd (live: the OS stream)                      | 1 s   |
| disk        | df of the data directory (live: the OS stream)                   | 1 s   |
| machine     | cat of a few files                                               | 300 s |
| clock       | date, halved round trip                                          | 300 s |
| unit        | systemctl show                                                   | 15 s  |
| log         | journalctl or tail of the error log, ls and du of .sst           | 15 s  |

Unit and log are read every 2 s while a state transfer may be running.
"""

from __future__ import annotations

import posixpath

from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.errors import Refused
from services.facts.model import Problem

DEFAULT_DATADIR = "/var/lib/mysql"

HOST_FILES, PROCESS, CLOCK = commands.HOST_FILES, commands.SERVER_PROCESS, commands.CLOCK
ZONE, UNIT = commands.ZONE, commands.UNITS_FOUND


def data_disk(datadir: str) -> CommandRead:
    """Return the read of the data directory's file system."""
    return commands.DISK.read(clean(datadir))


def data_listing(datadir: str, *, sudo: bool) -> CommandRead:
    """Return the listing that shows gcache pages and a running SST's folder; the directory belongs to the server."""
    return commands.LISTED.read(clean(datadir), sudo=sudo)


def sst_size(datadir: str, *, sudo: bool) -> CommandRead:
    """Return the read of the bytes that an SST has brought so far (mariabackup and xtrabackup stream into .sst)."""
    return commands.SIZE.read(posixpath.join(clean(datadir), ".sst"), sudo=sudo)


def journal(unit: str, lines: int, *, sudo: bool) -> CommandRead:
    """Return the newest lines of a unit's journal, with epoch seconds."""
    return commands.JOURNAL.read(unit, lines, sudo=sudo)


def error_log(path: str, lines: int, *, sudo: bool) -> CommandRead:
    """Return the newest lines of an error log file."""
    return commands.LOG_FILE.read(lines, path, sudo=sudo)


def journal_since(unit: str, since: float) -> CommandRead:
    """Return a unit's journal from a moment on (its host's epoch seconds), without the noise of an IST."""
    return commands.JOURNAL_SINCE.read(unit, max(0, int(since)), sudo=True)


def error_log_whole(path: str) -> CommandRead:
    """Return the newest gigabyte of an error log file, without the noise of an IST."""
    return commands.LOG_FILE_WHOLE.read(path, sudo=True)


def clean(datadir: str) -> str:
    """Return an absolute, normal path; the packages' default for none or a relative one.

    One of odd characters stays as it is: its read is refused with a sentence, rather than another folder's shown.
    """
    if not datadir.startswith("/"):
        return DEFAULT_DATADIR
    return posixpath.normpath(datadir).replace("//", "/")


def refused_folder(datadir: str) -> tuple[Problem, ...]:
    """Return that a server's data folder can't be read for what it is called; () for one that can. Pure."""
    try:
        command_of(data_disk(datadir))
    except Refused as refusal:
        return (Problem("datadir", refusal.sentence, refusal.code),)
    return ()


def log_path(log_error: str, datadir: str) -> str:
    """Return the error log's file; '' when the server writes to stderr, which is the journal under systemd.

    MySQL manual "The Error Log"; MariaDB KB "Error Log": a name without a folder is relative to the data directory.
    """
    name = log_error.strip()
    if name in {"", "stderr"}:
        return ""
    return posixpath.normpath(posixpath.join(clean(datadir), name))

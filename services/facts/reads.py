"""What is read to know a host, and how often: every statement and command, all of them on the Observer's allow-list.

| part        | read                                                             | every |
| ----------- | ---------------------------------------------------------------- | ----- |
| server      | SHOW GLOBAL STATUS (shared with the sampler)                     | 1 s   |
| variables   | SHOW GLOBAL VARIABLES                                            | 30 s  |
| channels    | SHOW ALL SLAVES STATUS / SHOW REPLICA STATUS, where there is one | 1 s   |
| members     | mysql.wsrep_cluster_members                                      | 10 s  |
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

from services.connections.command import Command
from services.connections.read_programs import LOG_OF_FILE, LOG_OF_UNIT

DEFAULT_DATADIR = "/var/lib/mysql"
UNITS = ("mariadb.service", "mysql.service", "mysqld.service", "mysql@bootstrap.service")

HOST_FILES = Command((
    "cat", "/proc/sys/kernel/hostname", "/etc/machine-id", "/etc/os-release", "/proc/version", "/proc/meminfo",
    "/proc/stat",
))  # fmt: skip
PROCESS = Command(("ps", "-C", "mysqld,mariadbd", "-o", "pid=", "-o", "stat=", "-o", "comm="))
CLOCK = Command(("date", "+%s.%N"))
ZONE = Command(("date", "+%z"))
UNIT = Command(("systemctl", "show", "-p", "Id,LoadState,ActiveState,SubState,StatusText", *UNITS))


def data_disk(datadir: str) -> Command:
    """Return the read of the data directory's file system."""
    return Command(("df", "-PB1", clean(datadir)))


def data_listing(datadir: str, *, sudo: bool) -> Command:
    """Return the listing that shows gcache pages and a running SST's folder; the directory belongs to the server."""
    return Command(("ls", "-lAn", clean(datadir)), sudo=sudo)


def sst_size(datadir: str, *, sudo: bool) -> Command:
    """Return the read of the bytes that an SST has brought so far (mariabackup and xtrabackup stream into .sst)."""
    return Command(("du", "-sb", posixpath.join(clean(datadir), ".sst")), sudo=sudo)


def journal(unit: str, lines: int, *, sudo: bool) -> Command:
    """Return the newest lines of a unit's journal, with epoch seconds."""
    return Command(("journalctl", "-u", unit, "-n", str(lines), "-o", "short-unix", "--no-pager"), sudo=sudo)


def error_log(path: str, lines: int, *, sudo: bool) -> Command:
    """Return the newest lines of an error log file."""
    return Command(("tail", "-n", str(lines), path), sudo=sudo)


def journal_since(unit: str, since: float) -> Command:
    """Return a unit's journal from a moment on (its host's epoch seconds), without the noise of an IST."""
    return Command(("timeout", "30", "bash", "-c", LOG_OF_UNIT, "pilothouse", unit, f"@{max(0, int(since))}"))


def error_log_whole(path: str) -> Command:
    """Return the newest gigabyte of an error log file, without the noise of an IST."""
    return Command(("timeout", "30", "bash", "-c", LOG_OF_FILE, "pilothouse", path))


def clean(datadir: str) -> str:
    """Return an absolute, normal path; the packages' default for anything else."""
    if not datadir.startswith("/") or not datadir.isprintable():
        return DEFAULT_DATADIR
    return posixpath.normpath(datadir).replace("//", "/")


def log_path(log_error: str, datadir: str) -> str:
    """Return the error log's file; '' when the server writes to stderr, which is the journal under systemd.

    MySQL manual "The Error Log"; MariaDB KB "Error Log": a name without a folder is relative to the data directory.
    """
    name = log_error.strip()
    if name in {"", "stderr"}:
        return ""
    return posixpath.normpath(posixpath.join(clean(datadir), name))

"""Which files the Observer road may read whole: the kernel's, the server's small state files, settings and logs.

`stat`, `ls`, `df` and `du` take any clean absolute path: they tell names and sizes, never contents.

Paths come from servers and their option files, and the shell that reads a command's line is the login's own: fish lets
a backslash escape within single quotes, csh a ! or a line's end. So a path is of plain characters, which need no
quoting but for a blank and a #, or it is refused.
"""

from __future__ import annotations

import re

_MOST = 4096
_PLAIN = re.compile(r"[A-Za-z0-9/_.@:+,=# -]+")
"""A # is one of them: what a run keeps in a data folder of MariaDB has a name with #sql, and it is always quoted."""
_PID = r"(?:\d{1,10}|self)"
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.@:+-]*"
_MONGO = r"mongo[A-Za-z0-9_.@:+-]*"
_FOLDERS = rf"/(?:{_NAME}/|\.[A-Za-z0-9_][A-Za-z0-9_.-]*/|#sql-pilothouse-[A-Za-z0-9_.-]+/)*"
"""The last is what a run keeps inside a data folder: its old binary log leads from a backup's GTID to the members'."""

_READABLE = tuple(
    re.compile(pattern)
    for pattern in (
        # man proc(5). Not here: kmsg (reading takes the messages away), kcore, mem, environ (holds secrets), pagemap.
        r"/proc/(?:stat|meminfo|loadavg|vmstat|diskstats|uptime|version|cpuinfo|mounts|partitions|swaps|net/dev)",
        r"/proc/(?:net/(?:netstat|snmp|sockstat|tcp|tcp6)|pressure/(?:cpu|io|memory))",
        rf"/proc/{_PID}/(?:stat|statm|status|cmdline|comm|io|limits|mountinfo|mounts|oom_score|oom_score_adj|cgroup)",
        r"/proc/sys/(?:vm|kernel|fs|net)/[a-z0-9_]+(?:/[a-z0-9_]+)*",
        rf"/sys/block/{_NAME}/(?:size|ro|queue/(?:scheduler|rotational|nr_requests|read_ahead_kb|write_cache))",
        r"/sys/kernel/mm/transparent_hugepage/(?:enabled|defrag)",
        r"/(?:etc|usr/lib)/os-release|/etc/(?:machine-id|hostname|debian_version|redhat-release)",
        # The server's own state, wherever its data directory is.
        rf"{_FOLDERS}(?:grastate\.dat|gvwstate\.dat|auto\.cnf|{_NAME}\.pid|mariadb_upgrade_info|mysql_upgrade_info)",
        # The lock of another console's run (services/procedures/engine/lock.py).
        r"/run/pilothouse/lock-[A-Za-z0-9-]{1,80}",
        # What an undo left in a folder, since it was not the run's own: names (made_by_run.py).
        r"/var/lib/pilothouse/made/[0-9a-f]{32}\.left",
        # The mark of a replay: numbers and GTIDs (catalogue/galera/shared/private_programs.py).
        r"/var/lib/pilothouse/replay/state",
        # Drop-ins that a run puts there for a while: whether somebody else changed one since.
        rf"/(?:run|etc)/systemd/system/{_NAME}\.d/9[0-9]-pilothouse(?:-[a-z]+)?\.conf",
        # Where HAProxy has its stats socket (HAProxy Configuration Manual, "stats socket"); only those lines are kept.
        rf"/etc/haproxy/(?:{_NAME}/)*{_NAME}\.cfg",
        # Settings (MySQL manual, "Using Option Files"; MariaDB KB, "Configuring MariaDB with Option Files").
        rf"/(?:etc|usr/local/etc|usr/etc)/(?:mysql/|my\.cnf\.d/|percona-[a-z0-9.-]+/)?(?:{_NAME}/)*{_NAME}\.cnf",
        # MongoDB manual, "Configuration File Options": it may hold a password; what is kept of it is a closed list.
        # A server names its own file, and it is written as root on new hosts: no folder but MongoDB's own counts, for
        # in others every *.conf is read as root (/etc/rsyslog.d, tmpfiles.d, sysctl.d, ld.so.conf.d, cron.d, systemd).
        rf"/(?:usr/local/)?etc/(?:{_MONGO}/(?:{_NAME}/){{0,3}})?{_MONGO}\.(?:conf|cfg|ya?ml)",
        rf"/(?:opt|srv)/{_MONGO}/(?:{_NAME}/){{0,3}}{_MONGO}\.(?:conf|cfg|ya?ml)",
    )
)
_SOCKET = re.compile(r"/[A-Za-z0-9_./-]{1,107}")
_INDEX = re.compile(rf"(?!/(?:home|root|proc|sys|dev)/){_FOLDERS}{_NAME}\.index")
_LOGS = tuple(
    re.compile(pattern)
    for pattern in (
        # The server itself names its log (log_error), so it may be anywhere but in a person's own folder.
        rf"(?!/(?:home|root|proc|sys|dev)/){_FOLDERS}{_NAME}\.(?:err|log)(?:\.1|\.00\.json)?",
        r"/var/log/(?:syslog|messages)",
    )
)


def is_clean(path: str) -> bool:
    """Tell whether `path` is absolute, of plain characters, and free of `.`, `..` and empty parts."""
    if path == "/":
        return True
    if not path.startswith("/") or len(path) > _MOST or not _PLAIN.fullmatch(path):
        return False
    parts = path[1:].removesuffix("/").split("/")
    return all(part not in {"", ".", ".."} for part in parts)


def is_readable(path: str) -> bool:
    """Tell whether `cat` may show this file."""
    return is_clean(path) and any(pattern.fullmatch(path) for pattern in (*_READABLE, *_LOGS))


def is_haproxy_socket(path: str) -> bool:
    """Tell whether `path` may be a stats socket of HAProxy: the word is in it, and nothing that socat reads as its own.

    The question that is sent there only shows; the name keeps it from sockets of other programs all the same.
    """
    return is_clean(path) and "haproxy" in path and _SOCKET.fullmatch(path) is not None


def is_binlog_index(path: str) -> bool:
    """Tell whether `path` may be the index of a binary log: its name ends so, and no shell word is made of it."""
    return is_clean(path) and _INDEX.fullmatch(path) is not None


def is_log(path: str) -> bool:
    """Tell whether `tail` may follow this file."""
    return is_clean(path) and any(pattern.fullmatch(path) for pattern in _LOGS)

"""Every command that the Observer road may run on a host. What is not here can't be run, whoever asks.

The programs that are given to a shell as one word stand in read_programs and binlog_programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from services.connections.command import AS_MYSQL
from services.connections.operator.as_server import OPTIONS_READ
from services.connections.operator.roots_client import roots_client
from services.connections.programs.backup_programs import BACKUPS
from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.connections.programs.folder_programs import ELSEWHERE, OWN_PLACE
from services.connections.programs.os_loops import OS_LOOP, OS_LOOP_SH
from services.connections.programs.read_programs import (
    DATA_BORN,
    HAPROXY_SHOW,
    LOG_OF_FILE,
    LOG_OF_UNIT,
    MONGODB_DAEMONS,
    SOCKET_LOGIN,
    SST_LOGIN,
    START_LINE,
    TCP_TRY,
    VIEWS_OF_LOG,
)
from services.connections.programs.tls_programs import DIGEST_OF, PAIR_LOOK, TRANSFER_CERTIFICATES
from services.connections.programs.way_programs import RUN_BY, WAY_OF
from services.connections.programs.whole_programs import PAIRS, SUMS, TABLES_TOLD
from services.connections.reads import kinds as k
from services.connections.reads.template import CommandTemplate

MOST_PATHS = 32
"""Of one stat."""
MOST_SUMMED = 24
"""Tables of one read."""
UNITS = (
    "mariadb.service", "mysql.service", "mysqld.service", "mysql@bootstrap.service", "mariadb@*.service",
    "mysqld@*.service", "mysql@*.service",
)  # fmt: skip
"""Of the packages; of instances those that systemd has loaded (systemctl(1), PATTERN)."""
MONGODB_UNITS = tuple(f"{name}.service" for name in MONGODB_DAEMONS)

_KNOWN: dict[str, CommandTemplate] = {}
COMMANDS: Mapping[str, CommandTemplate] = MappingProxyType(_KNOWN)


def _known(name: str, *words: str | k.Kind, root: bool = False) -> CommandTemplate:
    if name in _KNOWN:
        raise ValueError(name)
    template = _KNOWN[name] = CommandTemplate(name, words, root)
    return template


# -- the machine -------------------------------------------------------------------------------------------------------

HOST_FILES = _known(
    "host-files", "cat", "/proc/sys/kernel/hostname", "/etc/machine-id", "/etc/os-release", "/proc/version",
    "/proc/meminfo", "/proc/stat",
).read()  # fmt: skip
CLOCK = _known("clock", "date", "+%s.%N").read()
ZONE = _known("zone", "date", "+%z").read()
WHO = _known("who", "id", "-u", root=True)
SERVER_PROCESS = _known(
    "server-process", "ps", "-C", "mysqld,mariadbd,ps", "-ww", "-o", "pid=", "-o", "stat=", "-o", "comm=",
    "-o", "cgroup=",
).read()  # fmt: skip
"""With the group of its own, too: what a program that runs in a container sees beside it is no other container's."""
FIRST_PROCESS = _known("first-process", "ps", "-p", "1", "-o", "pid=", "-o", "uid=", "-o", "comm=").read()
"""Root's, and nobody's own: who does not see it sees not everybody's processes."""
PROCESSES = _known("processes", "ps", "-e", "-ww", "-o", "pid=", "-o", "etimes=", "-o", "args=").read()
PROCESS_AGE = _known("process-age", "ps", "-p", k.PID, "-o", "etimes=")
LISTENING = _known("listening", "ss", "-ltnH").read()
RESOLVED = _known("resolved", "getent", "ahosts", k.NAME)
TCP_TRIED = _known("tcp-tried", "timeout", "3", "bash", "-c", TCP_TRY, "pilothouse", k.HOST, k.PORT)
OS_STREAM = _known("os-stream", "bash", "-c", OS_LOOP, "pilothouse", k.PATH)
OS_STREAM_SH = _known("os-stream-sh", "sh", "-c", OS_LOOP_SH, "pilothouse", k.PATH)
MONGODB_PROCESS = _known(
    "mongodb-process", "ps", "-C", ",".join(MONGODB_DAEMONS), "-o", "pid=", "-o", "stat=", "-o", "comm=",
    "-o", "user:32=", "-o", "uid=",
).read()  # fmt: skip
OS_STREAM_MONGODB = _known("os-stream-mongodb", "bash", "-c", OS_LOOP, "pilothouse", k.PATH, *MONGODB_DAEMONS)
OS_STREAM_SH_MONGODB = _known("os-stream-sh-mongodb", "sh", "-c", OS_LOOP_SH, "pilothouse", k.PATH, *MONGODB_DAEMONS)
HAPROXY_SHOWN = _known(
    "haproxy-shown", "timeout", "8", "bash", "-c", HAPROXY_SHOW, "pilothouse", k.STATS_SOCKET, root=True
)

# -- systemd -----------------------------------------------------------------------------------------------------------

UNITS_FOUND = _known(
    "units-found", "systemctl", "show", "-p", "Id,LoadState,ActiveState,SubState,StatusText,MainPID", *UNITS
).read()
UNITS_OF_MONGODB = _known(
    "units-of-mongodb", "systemctl", "show", "-p", "Id,LoadState,ActiveState,SubState", *MONGODB_UNITS
).read()
UNITS_STARTED = _known(
    "units-started", "systemctl", "show", "-p", "Id,InvocationID,InactiveExitTimestamp", *UNITS
).read()
UNIT_PROPERTY = _known("unit-property", "systemctl", "show", "-p", k.PROPERTY, k.UNIT)
UNIT_PROCESS = _known("unit-process", "systemctl", "show", "-p", "ActiveState,Description,MainPID", k.UNIT)
UNIT_ACCOUNT = _known("unit-account", "systemctl", "show", "-p", "LoadState,MainPID,User", k.UNIT)
UNIT_STOPPING = _known(
    "unit-stopping", "systemctl", "show", "-p",
    "ActiveState,SubState,StateChangeTimestamp,Result,TimeoutStopUSec,SendSIGKILL", k.UNIT,
)  # fmt: skip
UNIT_STARTING = _known(
    "unit-starting", "systemctl", "show", "-p",
    "ActiveState,SubState,StatusText,Result,Job,MainPID,Restart,ExecMainCode,ExecMainStatus", k.UNIT,
)  # fmt: skip
UNIT_SETTINGS = _known(
    "unit-settings", "systemctl", "show", "-p",
    "Restart,TimeoutStopUSec,SendSIGKILL,ActiveState,SubState,LoadState,Result", k.UNIT,
)  # fmt: skip
START_LINE_OF = _known("start-line", "timeout", "8", "bash", "-c", START_LINE, "pilothouse", k.UNIT, root=True)
OPTIONS_READ_ALIKE = _known(
    "options-read", "timeout", "8", "bash", "-c", OPTIONS_READ, "pilothouse", k.UNIT, k.ACCOUNT, root=True
)
RUN_BY_PROGRAM = _known("run-by", "timeout", "8", "bash", "-c", RUN_BY, "pilothouse", k.PID, root=True)
DATA_BORN_AT = _known("data-born", "timeout", "8", "bash", "-c", DATA_BORN, "pilothouse", k.UNIT, k.PATH, root=True)
SERVER_WORDS = _known("server-words", "ps", "-p", k.PID, "-ww", "-o", "args=")

# -- files and folders -------------------------------------------------------------------------------------------------

CONTENT = _known("content", "cat", k.FILE, root=True)
LISTED = _known("listed", "ls", "-lAn", k.PATH, root=True)
LISTED_AT = _known("listed-at", "ls", "-lAn", "--time-style=+%s", k.PATH, root=True)
LISTED_EXACTLY = _known("listed-exactly", "ls", "-lAn", "--full-time", k.PATH, root=True)
NAMES = _known("names", "ls", "-1", k.PATH, root=True)
ALL_NAMES = _known("all-names", "ls", "-1A", k.PATH, root=True)
DISK = _known("disk", "df", "-PB1", k.PATH, root=True)
DISKS = _known("disks", "df", "-PB1", "-l", root=True)
MEMORY = CONTENT.read("/proc/meminfo")
SIZE = _known("size", "du", "-sb", k.PATH, root=True)
OWNER = _known("owner", "stat", "-c", "%u", k.PATH, root=True)
OWNER_NAME = _known("owner-name", "stat", "-L", "-c", "%U", k.PATH, root=True)
FILE_KIND = _known("file-kind", "stat", "-c", "%F", k.PATH, root=True)
FILES_THERE = _known("files-there", "stat", "-L", "-c", "%n", k.PATH.up_to(MOST_PATHS))
FILE_SIZES = _known("file-sizes", "stat", "-L", "-c", "%s %n", k.PATH.up_to(MOST_PATHS), root=True)
WAY = _known("way", "timeout", "8", "bash", "-c", WAY_OF, "pilothouse", k.PATH, root=True)
FOLDER_IDENTITY = _known("folder-identity", "stat", "-c", "%d:%i %Y", k.PATH, root=True)
FILE_TIMES = _known("file-times", "stat", "-L", "-c", "%Y %n", k.PATH.up_to(2), root=True)

# -- the server's own programs -----------------------------------------------------------------------------------------

SERVER_OPTIONS = _known("server-options", "my_print_defaults", "--mysqld", root=True).read(sudo=True)
GROUP_OPTIONS = _known("group-options", "my_print_defaults", k.OPTION_GROUP.up_to(8), root=True)
PROGRAM_VERSION = _known("program-version", k.SERVER_PROGRAM, "--version")
PROGRAM_CHECKED = _known("program-checked", *AS_MYSQL, k.SERVER_PROGRAM, "--help", "--verbose", root=True)
XTRABACKUP_VERSION = _known("xtrabackup-version", "xtrabackup", "--version").read()
ROOT_LOGIN = _known("root-login", "timeout", "8", *roots_client("mysql", "-e", "SELECT 1"), root=True).read(sudo=True)
SST_LOGS_IN = _known(
    "sst-logs-in", "timeout", "8", "bash", "-c", SST_LOGIN, "pilothouse", root=True
).read(sudo=True)  # fmt: skip
LOGS_IN_BY_SOCKET = _known(
    "logs-in-by-socket", "timeout", "8", "bash", "-c", SOCKET_LOGIN, "pilothouse", k.PATH, root=True
)
SOCAT_BUILT = _known("socat-built", "socat", "-V").read()
SOCAT_OPTIONS = _known("socat-options", "socat", "-hhh").read()
TLS_PAIR = _known("tls-pair", "timeout", "15", "bash", "-c", PAIR_LOOK, "pilothouse", k.PATH, k.PATH, k.PATH, root=True)
FILE_DIGEST = _known("file-digest", "timeout", "8", "bash", "-c", DIGEST_OF, "pilothouse", k.PATH, root=True)
TRANSFER_CERTS = _known(
    "transfer-certificates", "timeout", "8", "bash", "-c", TRANSFER_CERTIFICATES, "pilothouse", root=True
).read(sudo=True)  # fmt: skip

# -- logs --------------------------------------------------------------------------------------------------------------

JOURNAL = _known("journal", "journalctl", "-u", k.UNIT, "-n", k.LINES, "-o", "short-unix", "--no-pager", root=True)
LOG_FILE = _known("log-file", "tail", "-n", k.LINES, k.LOG, root=True)
JOURNAL_SINCE = _known(
    "journal-since", "timeout", "30", "bash", "-c", LOG_OF_UNIT, "pilothouse", k.UNIT, k.SINCE, root=True
)
LOG_FILE_WHOLE = _known("log-file-whole", "timeout", "30", "bash", "-c", LOG_OF_FILE, "pilothouse", k.LOG, root=True)
# -r: without it systemd 252 counts -n from the journal's end, and finds nothing where lines came after the bound.
JOURNAL_BETWEEN = _known(
    "journal-between", "journalctl", "-q", "-r", "-u", k.UNIT, "-S", k.MOMENT, "-U", k.MOMENT, "-n", "1",
    "-o", "short-unix", "--no-pager", root=True,
)  # fmt: skip
JOURNAL_BEFORE = _known(
    "journal-before", "journalctl", "-q", "-r", "-u", k.UNIT, "-U", k.MOMENT, "-n", "1", "-o", "short-unix",
    "--no-pager", root=True,
)  # fmt: skip
_HISTORY = ("timeout", "20", "nice", "bash", "-c", VIEWS_OF_LOG, "pilothouse")
VIEWS_OF_JOURNAL = _known("views-of-journal", *_HISTORY, "journal", k.UNIT, root=True)
VIEWS_OF_FILE = _known("views-of-file", *_HISTORY, "file", k.LOG, root=True)
_MARKS = ("timeout", "30", "nice", "bash", "-c", BINLOG_MARKS, "pilothouse", k.BINLOG_INDEX)
NEWEST_MARKS = _known("newest-marks", *_MARKS, "newest", root=True)
MARKS_FROM = _known("marks-from", *_MARKS, k.XID, root=True)

# -- backups -----------------------------------------------------------------------------------------------------------

_BACKUPS = ("timeout", "30", "nice", "bash", "-c", BACKUPS, "pilothouse")
BACKUPS_FOUND = _known("backups-found", *_BACKUPS, "search", root=True)
BACKUPS_HELD_AGAINST = _known("backups-held-against", *_BACKUPS, "search", k.PATH, root=True)
BACKUP_LOOKED_AT = _known("backup-looked-at", *_BACKUPS, k.PATH, root=True)
LIES_ELSEWHERE = _known(
    "lies-elsewhere", "timeout", "30", "nice", "bash", "-c", ELSEWHERE, "pilothouse", k.PATH, root=True
)  # fmt: skip
PLACE_OWNED = _known("place-owned", "timeout", "8", "bash", "-c", OWN_PLACE, "pilothouse", k.PATH, root=True)

# -- whole data --------------------------------------------------------------------------------------------------------

FILES_PAIRED = _known(
    "files-paired", "timeout", "60", "nice", "bash", "-c", PAIRS, "pilothouse", k.PATH, root=True
)  # fmt: skip
ALL_DEFINED = _known(
    "all-defined", "timeout", "300", "nice", "bash", "-c", TABLES_TOLD, "pilothouse", root=True
).read(sudo=True)  # fmt: skip
ROWS_SUMMED = _known(
    "rows-summed", "timeout", "300", "nice", "bash", "-c", SUMS, "pilothouse", k.HOW_SUMMED,
    k.TABLE_IN_HEX.up_to(MOST_SUMMED), root=True,
)  # fmt: skip

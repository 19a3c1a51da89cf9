"""What systemd, ps and the installed programs say. Pure parsers.

Sources: systemctl(1) show, systemd.time(7) (spans as "1min 30s"), ps(1) etimes and args, page "Conventions" (orphans of
an SST).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from services.facts.logs.causes import asserts, fails_again, tells_error
from services.facts.masking import masked
from services.facts.reading import count, real, words
from services.lines import lines_of

_SPAN = re.compile(r"(?<![\d.])(\d{1,20}(?:\.\d{1,20})?)\s{0,9}(us|ms|s|min|h|d|w|month|y)\b", re.ASCII)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0,
            "month": 2_629_800.0, "y": 31_557_600.0}  # fmt: skip
_STREAMS = frozenset({"xbstream", "mbstream"})
_INTERPRETER = re.compile(r"(?:sh|bash|dash|ksh|perl|python[\d.]{0,8})")
_DUMP = re.compile(r"\butil(?:\.|\s{1,9})dump[-_A-Z]")
_VERSION = re.compile(r"\bVer\s+(?:\S+\s+Distrib\s+)?(\d+)\.(\d+)(?:\.(\d+))?")
_BACKUPS = frozenset({
    "mariabackup", "mariadb-backup", "xtrabackup", "xtrabackup_51", "xtrabackup_55", "xtrabackup_56", "innobackupex",
    "innobackupex-1.5.1", "mysqlbackup", "mysqldump", "mariadb-dump", "mysqlpump", "mydumper",
})  # fmt: skip
_READY = re.compile(r"ready for connections\b")
_SPELLINGS = ("/usr/bin/", "/usr/sbin/", "/usr/local/bin/")
PROGRAMS = (
    "socat", "rsync", "mariabackup", "mariadb-backup", "mbstream", "xtrabackup", "xbstream", "mysqldump",
    "mariadb-dump", "pigz", "zstd", "lz4", "qpress", "openssl", "galera_new_cluster", "galera_recovery", "mysqld_safe",
    "systemd-run", "nohup", "pv",
)  # fmt: skip
"""What is looked for on a host; the [sst] section's own programs come besides."""


def properties(text: str) -> dict[str, str]:
    """Return `systemctl show` of one unit as name -> value."""
    return dict(line.partition("=")[::2] for line in lines_of(text)[:1000])


def units_shown(text: str) -> tuple[dict[str, str], ...]:
    """Return `systemctl show` of several units: an empty line stands between them."""
    return tuple(properties(block) for block in text.split("\n\n"))


def systemd_version(text: str) -> int | None:
    """Return the version of `systemctl --version`: 252 of 'systemd 252 (252.39-1~deb12u1)'."""
    found = re.match(r"systemd (\d{1,9})", text)
    return int(found.group(1)) if found is not None else None


def seconds_of(text: str) -> float | None:
    """Return a span of systemd.time(7) in seconds: '15min', '1min 30s'; None for infinity and what makes no sense."""
    found = _SPAN.findall(text)
    if not found or text.strip() == "infinity":
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in found)


BALANCERS = ("haproxy", "proxysql", "maxscale", "mysqlrouter")
"""Programs that pass clients on to servers."""


def program_of(line: str) -> str:
    """Return which program a command line runs, without its folder: the script where the first word interprets one.

    A name further back is what the program works on: an editor with a script open runs no script. '' for an
    interpreter of commands (`bash -c`): what it runs has a line of its own.
    """
    first, *further = line.split()[:20] or [""]
    name = first.rsplit("/", 1)[-1]
    if _INTERPRETER.fullmatch(name) is None:
        return name
    for word in further:
        if not word.startswith("-"):
            return word.rsplit("/", 1)[-1]
        if not word.startswith("--") and "c" in word and not name.startswith("perl"):
            return ""
    return ""


def _running(table: str) -> Iterator[tuple[str, str, str, str]]:
    """Give (pid, seconds, program, command line) of `ps -e -o pid= -o etimes= -o args=`."""
    for line in lines_of(table)[:20_000]:
        parts = line.split(None, 2)
        if len(parts) == 3:
            yield parts[0], parts[1], program_of(parts[2]), parts[2]


def orphans(text: str) -> tuple[tuple[int, float, str], ...]:
    """Return (pid, seconds, command line) of SST processes in `ps -e -o pid= -o etimes= -o args=`, secrets masked.

    Those whose program is a script of an SST or one of its streams: a server, an editor or a search that has such a
    name among its words is none.
    """
    found = []
    for number, seconds, program, line in _running(text):
        socat = program == "socat" and ":4444" in line
        if program.startswith("wsrep_sst_") or program in _STREAMS or socat:
            pid, age = count(number), real(seconds)
            if pid is not None:
                found.append((pid, age or 0.0, words(masked(line), 200)))
    return tuple(found)


def backups(text: str) -> tuple[str, ...]:
    """Return the programs that copy a server's data now, by `ps -e -o pid= -o etimes= -o args=`."""
    found = []
    for pid, _, program, line in _running(text):
        if program in _BACKUPS or (program == "mysqlsh" and _DUMP.search(line[:4000])):
            found.append(f"{program} (pid {pid})")
    return tuple(found)


def balancers(text: str) -> tuple[str, ...]:
    """Return which balancers ps shows running, by their programs."""
    programs = {program for _, _, program, _ in _running(text)}
    return tuple(name for name in BALANCERS if name in programs)


def version_of(text: str) -> tuple[str, tuple[int, ...]]:
    """Return (the first line, its version) of `mariadbd --version`; ('', ()) when it tells none."""
    line = words(lines_of(text.strip())[0] if text.strip() else "")
    found = _VERSION.search(line)
    return (line, tuple(int(part) for part in found.groups() if part is not None)) if found else ("", ())


def product_of(text: str) -> str:
    """Return 'MariaDB 10.11.18' of '/usr/sbin/mariadbd  Ver 10.11.18-MariaDB-deb12 for debian-linux-gnu ...'.

    The text itself where it tells no version.
    """
    version = re.search(r"Ver (\d+(?:\.\d+)+)", text)
    if version is None:
        return text
    product = next((name for name in ("MariaDB", "Percona XtraDB Cluster", "Percona Server") if name in text), "MySQL")
    return f"{product} {version[1]}"


def program_paths(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return where these programs may lie."""
    return tuple(folder + name for name in names for folder in _SPELLINGS)


def programs_there(text: str) -> tuple[str, ...]:
    """Return the names of the programs that `stat -L -c %n PATH...` found."""
    return tuple(dict.fromkeys(line.rsplit("/", 1)[-1] for line in lines_of(text) if line.startswith("/")))


def errors_of(text: str, most: int = 8) -> tuple[str, ...]:
    """Return the newest errors of a server's log, cut and masked, in their order.

    Since the server was last ready for connections none that tells of what a start does not mend is left out for the
    many that follow from it.
    """
    lines = lines_of(text)
    found = [i for i, line in enumerate(lines) if tells_error(line) or asserts(line)]
    ready = max((i for i, line in enumerate(lines) if _READY.search(line)), default=-1)
    first = [i for i in found[:-most] if i > ready and fails_again(lines[i])][: most // 2]
    kept = [*first, *found[-most:][-(most - len(first)) :]]
    return tuple(words(masked(lines[i]), 300) for i in kept)


def config_fault(exit_code: int, stderr: str) -> str:
    """Return what `mariadbd --help --verbose` says against the option files, '' when it accepts them."""
    if exit_code == 0:
        return ""
    lines = [line for line in lines_of(stderr) if line.strip()]
    said = errors_of(stderr, 3) or tuple(words(masked(line), 300) for line in lines[-2:])
    return "; ".join(said) or f"it ended with exit code {exit_code}"


def parse_sizes(text: str, error: str, wanted: tuple[str, ...]) -> tuple[tuple[str, int | None], ...]:
    """Return (path, bytes) of `stat -c '%s %n'`; None for one that is not there, and none where it could not be read.

    Args:
        error: what stat said besides: of a path that it may not reach it says otherwise than of one that is not there.
    """
    gone = [line for line in lines_of(error) if line.endswith(("No such file or directory", "Not a directory"))]
    sizes: dict[str, int | None] = {}
    sizes |= dict.fromkeys(path for path in wanted if any(f"'{path}'" in line or f" {path}:" in line for line in gone))
    for line in lines_of(text):
        size, _, path = line.partition(" ")
        sizes[path] = count(size)
    return tuple((path, sizes[path]) for path in wanted if path in sizes)

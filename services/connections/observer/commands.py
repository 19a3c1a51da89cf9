"""The commands that an Observer may run: per program its options, and what its other words may be.

An option is listed with the pattern of its value; what is not listed does not exist. Man pages used: df(1), du(1),
uname(1), nproc(1), hostname(1), date(1), systemctl(1), journalctl(1), stat(1), ls(1), ps(1), ss(8), tail(1), id(1),
pidof(8), getconf(1), getent(1), my_print_defaults(1).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from services.connections.command import AS_MYSQL
from services.connections.observer.paths import is_binlog_index, is_clean, is_haproxy_socket, is_log, is_readable
from services.connections.operator.as_server import OPTIONS_READ
from services.connections.operator.roots_client import ROOTS_CLIENT
from services.connections.programs.backup_programs import BACKUPS
from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.connections.programs.folder_programs import ELSEWHERE, OWN_PLACE
from services.connections.programs.read_programs import (
    DATA_BORN,
    HAPROXY_SHOW,
    LOG_OF_FILE,
    LOG_OF_UNIT,
    MONGODB_DAEMONS,
    READ_PROGRAMS,
    SOCKET_LOGIN,
    SST_LOGIN,
    START_LINE,
    TCP_TRY,
    VIEWS_OF_LOG,
)
from services.connections.programs.tls_programs import DIGEST_OF, PAIR_LOOK, TRANSFER_CERTIFICATES
from services.connections.programs.way_programs import RUN_BY, WAY_OF
from services.connections.programs.whole_programs import PAIRS, SUMS, TABLES_TOLD

_UNIT = r"[A-Za-z0-9][A-Za-z0-9@:_.-]*"
_NUMBER = r"\d{1,9}"
_LIST = r"[A-Za-z0-9_,]+"
_EPOCH = re.compile(r"@[0-9]{1,11}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}", re.ASCII)
_PORT = re.compile(r"[0-9]{1,5}", re.ASCII)
_MOMENT = r"-?[0-9][0-9A-Za-z :.+-]*|now|today|yesterday"
_FORMAT = r"(?:[^%\x00-\x1f\x7f]|%[0-9_^#:.-]*[A-Za-z%])*"


@dataclass(frozen=True, slots=True)
class Rule:
    """What one program may be given.

    Attributes:
        flags: options without a value, each a pattern for the whole word.
        values: option -> pattern of its value, given as the next word, or after `=` for one that begins with `--`.
        operand: what any other word must be, as a function and as words for the sentence; None: there are none.
        least, most: how many operands.
        verbs: the first operand must be one of these.
        exactly: the words are one of these and nothing else.
    """

    flags: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    operand: Callable[[str], bool] | None = None
    called: str = "no other words"
    least: int = 0
    most: int = 0
    verbs: frozenset[str] = field(default=frozenset())
    exactly: tuple[tuple[str, ...], ...] = ()


def _like(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda word: compiled.fullmatch(word) is not None


_CLEAN = "absolute paths without . and .."
_READABLE = "files that it may read"
# Exactly so: `mysqld` without a word would start a server.
_VERSION = Rule(exactly=(("--version",), ("-V",)))
_SERVERS = ("/usr/sbin/mariadbd", "/usr/sbin/mysqld")
# --help --verbose reads the option files, prints every value and ends before plugins and engines are initialised (tried
# on MariaDB 10.11: nothing in the data folder changes but its own time stamp, by the test for case-sensitive names).
_TRIED = Rule(exactly=tuple((*AS_MYSQL[1:], program, "--help", "--verbose") for program in _SERVERS))

RULES: dict[str, Rule] = {
    "cat": Rule(operand=is_readable, called=_READABLE, least=1, most=16),
    "tail": Rule(
        flags=("-F", "-f", "-q"),
        values=(("-n", r"\+?" + _NUMBER), ("-c", r"\+?\d{1,15}")),
        operand=is_log,
        called="log files",
        least=1,
        most=4,
    ),
    "df": Rule(
        flags=("-P", "-k", "-T", "-i", "-l", "-B1", "-PB1", "-Pk", "-PT", "-Pi", "-PkT"),
        values=(("--output", r"[a-z,]+"), ("--block-size", "1"), ("-B", "1")),
        operand=is_clean,
        called=_CLEAN,
        most=16,
    ),
    "du": Rule(
        flags=("-s", "-b", "-k", "-x", "-c", "-sb", "-sk", "-sx", "-sxb", "-sbx", "-sxk", "-sbc", "--apparent-size"),
        operand=is_clean,
        called=_CLEAN,
        least=1,
        most=16,
    ),
    "uname": Rule(flags=(r"-[asrmnvo]{1,7}",)),
    "nproc": Rule(flags=("--all",)),
    "hostname": Rule(flags=("-f", "-s", "-I", "-i")),
    "date": Rule(flags=("-u",), operand=_like(r"\+" + _FORMAT), called="one +FORMAT", least=1, most=1),
    "getent": Rule(  # asks the host's own resolver for one name
        operand=_like(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}"),
        called="one host name",
        least=1,
        most=1,
        verbs=frozenset({"ahosts"}),
    ),
    "systemctl": Rule(
        flags=("--no-pager", "--value", "--full", "-l", "--plain", "--no-legend", "-n0"),
        values=(("--property", _LIST), ("-p", _LIST), ("--lines", _NUMBER), ("-n", _NUMBER), ("--output", "[a-z-]+")),
        operand=_like(rf"{_UNIT}|(?:mariadb|mysqld?)@\*\.service"),
        called="unit names",
        most=8,
        verbs=frozenset({"show", "is-active", "cat", "status"}),
    ),
    "journalctl": Rule(
        flags=("--no-pager", "-q", "--quiet", "-f", "--follow", "-r", "--reverse", "-k", "--dmesg", "--utc", "-b",
               "--no-tail", "--no-hostname", "--show-cursor", "-a", "--all"),
        values=(("-u", _UNIT), ("--unit", _UNIT), ("-t", _UNIT), ("--identifier", _UNIT),
                ("-n", _NUMBER), ("--lines", _NUMBER), ("-p", "[a-z0-7]{1,7}"), ("--priority", "[a-z0-7]{1,7}"),
                ("-o", "[a-z-]+"), ("--output", "[a-z-]+"), ("--output-fields", _LIST),
                ("-S", _MOMENT), ("--since", _MOMENT), ("-U", _MOMENT), ("--until", _MOMENT),
                ("--after-cursor", r"[A-Za-z0-9=;_-]+")),
    ),
    "stat": Rule(
        flags=("-f", "-L", "-t"),
        values=(("-c", _FORMAT), ("--format", _FORMAT)),
        operand=is_clean,
        called=_CLEAN,
        least=1,
        most=32,
    ),
    "ls": Rule(
        flags=(r"-[1AaLlndhtrSq]{1,10}", "--full-time", "--color=never", r"--time-style=\+%s"),
        operand=is_clean,
        called=_CLEAN,
        most=16,
    ),
    # No BSD-style words: `ps e` would show the environment of every process.
    "ps": Rule(
        flags=("-e", "-A", "-ww", "--no-headers"),
        values=(("-o", r"[a-z_0-9]+(?::\d{1,3})?=?(?:,[a-z_0-9]+(?::\d{1,3})?=?)*"), ("-eo", r"[a-z_0-9=,:]+"),
                ("-C", r"[A-Za-z0-9_.,-]+"), ("-p", r"\d{1,10}(?:,\d{1,10})*")),
    ),
    # -K kills connections, -D writes a file, -F reads one.
    "ss": Rule(flags=(r"-[ltnuaHpi46]{1,10}",)),
    "id": Rule(flags=("-u", "-un", "-Gn")),
    "true": Rule(),
    "pidof": Rule(flags=("-s",), operand=_like(r"mysqld|mariadbd|garbd|mysqld_safe|mariadbd-safe"),
                  called="the database's own programs", least=1, most=5),
    "getconf": Rule(operand=_like(r"CLK_TCK|PAGESIZE|_NPROCESSORS_ONLN|_PHYS_PAGES"),
                    called="one of its constants", least=1, most=1),
    "my_print_defaults": Rule(
        flags=("--mysqld",),
        values=(("--defaults-file", r"/etc/(?:mysql/)?[A-Za-z0-9_.-]+\.cnf"),),
        operand=_like(r"[A-Za-z0-9_.-]+"),
        called="group names",
        most=16,
    ),
    "mysqld": _VERSION,
    "mariadbd": _VERSION,
    AS_MYSQL[0]: _TRIED,
    "mysql": _VERSION,
    "mariadb": _VERSION,
    "mariabackup": _VERSION,
    "mariadb-backup": _VERSION,
    "xtrabackup": _VERSION,
    "socat": Rule(exactly=(("-V",), ("-hhh",))),  # how it was built, and which options it knows
}  # fmt: skip
"""Program -> its rule. /usr/sbin, /usr/bin, /sbin or /bin may stand before the name: a PATH often lacks sbin."""

_PLACES = ("/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/")
_FROZEN = frozenset(
    {VIEWS_OF_LOG, BINLOG_MARKS, BACKUPS, ELSEWHERE, SST_LOGIN, START_LINE, PAIR_LOOK, TRANSFER_CERTIFICATES,
     DATA_BORN, OWN_PLACE, RUN_BY, SOCKET_LOGIN, WAY_OF, PAIRS, TABLES_TOLD, SUMS, DIGEST_OF,
     OPTIONS_READ, ROOTS_CLIENT}
)  # fmt: skip
_SUMMED = re.compile(r"whole|sampled|-?[0-9]{1,18}:-?[0-9]{1,18}", re.ASCII)
_IN_HEX = re.compile(r"[0-9A-F]{2,512}\.[0-9A-F]{2,512}", re.ASCII)
_SHELLS = {"bash": READ_PROGRAMS[0], "sh": READ_PROGRAMS[1]}


def check_words(argv: tuple[str, ...]) -> str:
    """Return why these words may not run, '' when they may."""
    frozen = _FROZEN if argv[0] == "timeout" else frozenset[str]()
    for word in (word for word in argv[1:] if word not in frozen):
        if argv[0] not in _SHELLS and (not word.isprintable() or len(word) > 4096):
            return "it holds line breaks, control characters or an endless word"
    if argv[0] in _SHELLS:
        return _check_program(argv)
    if argv[0] == "timeout":
        return _check_try(argv)
    rule = RULES.get(_bare(argv[0]))
    if rule is None:
        return "it is not on the list of reading commands"
    return _Words(rule, argv[1:]).check()


def _bare(program: str) -> str:
    for place in _PLACES:
        if program.startswith(place):
            return program[len(place) :]
    return program


def _check_program(argv: tuple[str, ...]) -> str:
    """A shell runs one of the frozen programs, whole, with one clean path, and MongoDB's programs or no more."""
    if argv[5:] not in {(), MONGODB_DAEMONS}:
        return "only the names of MongoDB's two programs may follow the path"
    if len(argv) < 5 or argv[1] != "-c" or argv[2] != _SHELLS[argv[0]] or argv[3] != "pilothouse":
        return "a shell runs only the program texts of read_programs.py, whole"
    return "" if is_clean(argv[4]) else f"its argument must be one of {_CLEAN}"


def _check_log(words: tuple[str, ...]) -> str:
    """A log is filtered by one of two frozen texts: a unit's since a moment, or a file."""
    if words[:2] == (LOG_OF_UNIT, "pilothouse") and len(words) == 4:
        fits = re.fullmatch(_UNIT, words[2]) and _EPOCH.fullmatch(words[3])
        return "" if fits else "its arguments must be a unit's name and @EPOCH"
    if words[:2] == (LOG_OF_FILE, "pilothouse") and len(words) == 3:
        return "" if is_log(words[2]) else "its argument must be a log file"
    return "only the frozen filters of a log may follow it"


def _check_try(argv: tuple[str, ...]) -> str:
    """A connection is tried, HAProxy asked, a history or a log read in exactly this form; what varies are words."""
    if argv[2:3] == ("nice",):
        return _check_history(argv)
    if argv[:4] == ("timeout", "30", "bash", "-c"):
        return _check_log(argv[4:])
    if any(word in {SST_LOGIN, PAIR_LOOK, TRANSFER_CERTIFICATES} for word in argv):
        return _check_transfer(argv)
    if argv[:4] == ("timeout", "8", "bash", "-c") and argv[5:6] == ("pilothouse",):
        return _check_words(argv[4], argv[6:])
    if argv[:6] != ("timeout", "3", "bash", "-c", TCP_TRY, "pilothouse") or len(argv) != 8:
        return "only the frozen try of one TCP connection, question to HAProxy or filter of a log may follow it"
    host, port = argv[6:]
    if not _HOST.fullmatch(host):
        return "its host must be a name or an address"
    return "" if _PORT.fullmatch(port) and 0 < int(port) < 65536 else "its port must be a port number"


_TAKE: dict[str, tuple[tuple[Callable[[str], bool], ...], str]] = {
    HAPROXY_SHOW: ((is_haproxy_socket,), "the path of a stats socket of HAProxy"),
    START_LINE: ((_like(_UNIT),), "a unit's name"),
    DATA_BORN: ((_like(_UNIT), is_clean), f"a unit's name, and one of {_CLEAN}"),
    DIGEST_OF: ((is_clean,), f"one of {_CLEAN}"),
    WAY_OF: ((is_clean,), f"one of {_CLEAN}"),
    OPTIONS_READ: ((_like(_UNIT), _like(r"[0-9]{1,10}")), "a unit's name, and an account's number"),
    RUN_BY: ((_like(r"[0-9]{1,9}"),), "the number of a process"),
    OWN_PLACE: ((is_clean,), f"one of {_CLEAN}"),
    SOCKET_LOGIN: ((is_clean,), f"one of {_CLEAN}"),
    ROOTS_CLIENT: ((_like("mysql"), _like("-e"), _like("SELECT 1")), "one statement that reads nothing"),
}
"""Frozen program -> what each of its words must be."""


def _check_words(program: str, words: tuple[str, ...]) -> str:
    """A frozen program of eight seconds, with its words."""
    if program not in _TAKE:
        return "only a frozen program may follow it"
    fits, called = _TAKE[program]
    fit = len(words) == len(fits) and all(fit(word) for fit, word in zip(fits, words, strict=True))
    return "" if fit else f"its argument must be {called}"


def _check_transfer(argv: tuple[str, ...]) -> str:
    """What a state transfer logs in with and encrypts by: frozen programs, alone or with the paths of three files."""
    if argv in {("timeout", "8", "bash", "-c", one, "pilothouse") for one in (SST_LOGIN, TRANSFER_CERTIFICATES)}:
        return ""
    if argv[:6] == ("timeout", "15", "bash", "-c", PAIR_LOOK, "pilothouse") and len(argv) == 9:
        return "" if all(map(is_clean, argv[6:])) else f"its arguments must be {_CLEAN}"
    return "only the frozen reads of a transfer's login and certificates may follow it"


def _check_history(argv: tuple[str, ...]) -> str:
    """The views that a log tells of, and the marks of a binary log: frozen programs, a bound of time, two words."""
    kind, words = argv[:6], argv[6:]
    if kind == ("timeout", "20", "nice", "bash", "-c", VIEWS_OF_LOG) and len(words) == 3 and words[0] == "pilothouse":
        if words[1] == "journal":
            return "" if re.fullmatch(_UNIT, words[2], re.ASCII) else "its argument must be a unit's name"
        return "" if words[1] == "file" and is_log(words[2]) else "its argument must be a log file"
    if kind == ("timeout", "30", "nice", "bash", "-c", BINLOG_MARKS) and len(words) == 3 and words[0] == "pilothouse":
        wanted = words[2] == "newest" or re.fullmatch(r"[0-9]{1,19}", words[2], re.ASCII)
        return "" if wanted and is_binlog_index(words[1]) else "its arguments must be a binary log's index and an Xid"
    if kind == ("timeout", "30", "nice", "bash", "-c", BACKUPS) and len(words) in {2, 3} and words[0] == "pilothouse":
        folders = words[2:] if words[1] == "search" else words[1:]
        return "" if len(folders) < 2 and all(map(is_clean, folders)) else "its argument must be a folder"
    if kind == ("timeout", "30", "nice", "bash", "-c", ELSEWHERE) and len(words) == 2 and words[0] == "pilothouse":
        return "" if is_clean(words[1]) else "its argument must be a folder"
    return _check_whole(kind, words)


def _check_whole(kind: tuple[str, ...], words: tuple[str, ...]) -> str:
    """Whether data are whole: pairs of files in a folder, all that is defined, sums of tables named in digits."""
    if kind == ("timeout", "60", "nice", "bash", "-c", PAIRS) and len(words) == 2 and words[0] == "pilothouse":
        return "" if is_clean(words[1]) else "its argument must be a folder"
    if kind == ("timeout", "300", "nice", "bash", "-c", TABLES_TOLD) and words == ("pilothouse",):
        return ""
    if kind == ("timeout", "300", "nice", "bash", "-c", SUMS) and len(words) > 2 and words[0] == "pilothouse":
        fits = _SUMMED.fullmatch(words[1]) and all(_IN_HEX.fullmatch(word) for word in words[2:])
        return "" if fits else "its arguments must be a method to aggregate rows and tables in hexadecimal digits"
    return "only the frozen reads of a history, of backups, of a folder or of whole data may follow it"


class _Words:
    """The words after a program's name, held against its rule."""

    def __init__(self, rule: Rule, words: tuple[str, ...]) -> None:
        self._rule = rule
        self._words = words
        self._values = dict(rule.values)
        self._at = 0

    def check(self) -> str:
        """Return why they may not be, '' when they may."""
        rule = self._rule
        if rule.exactly:
            allowed = " or ".join(" ".join(words) for words in rule.exactly)
            return "" if self._words in rule.exactly else f"only {allowed} may follow it"
        operands: list[str] = []
        only_operands = False
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            if not only_operands and word == "--" and rule.operand is not None:
                only_operands = True
            elif only_operands or not word.startswith("-"):
                operands.append(word)
            elif why := self._option(word):
                return why
        return self._operands(operands)

    def _option(self, word: str) -> str:
        if any(re.fullmatch(flag, word) for flag in self._rule.flags):
            return ""
        option, joined, value = word.partition("=")
        if joined and not option.startswith("--"):
            option = word
        pattern = self._values.get(option)
        if pattern is None:
            return "one of its options is not on the list of reading ones"
        if not joined:
            value = self._words[self._at] if self._at < len(self._words) else ""
            self._at += 1
        return "" if re.fullmatch(pattern, value) else f"the value of {option} is not one that it may have"

    def _operands(self, operands: list[str]) -> str:
        rule = self._rule
        if rule.verbs:
            if not operands or operands[0] not in rule.verbs:
                return f"only {', '.join(sorted(rule.verbs))} may follow it"
            operands = operands[1:]
        if not all(rule.operand is not None and rule.operand(word) for word in operands):
            return f"it takes {rule.called}"
        if not rule.least <= len(operands) <= rule.most:
            return f"it takes {rule.least} to {rule.most} words after its options ({rule.called})"
        return ""

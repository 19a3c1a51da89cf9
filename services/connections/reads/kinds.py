"""The kinds of values that a named read takes: each with its own strict check and its own way to be written.

No kind lets a quote, a backslash, a control character, a dollar or anything beyond ASCII through: the login shell of a
host may be fish or csh, where quoting has other rules than in POSIX (fish manual, "Quotes": a backslash escapes within
single quotes; csh(1), "Substitutions": ! works within quotes). So a value is safe in every shell as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from services.connections.observer.paths import is_binlog_index, is_clean, is_haproxy_socket, is_log, is_readable
from services.connections.reads.read import Value
from services.i18n import mark


@dataclass(frozen=True, slots=True)
class Kind:
    """What one parameter may be.

    Attributes:
        called: for the sentence of a refusal, '... is not CALLED'.
        fits: whether a value is of this kind; written: how it stands in the text or as a command's word.
        most: how many values it takes, one at least; more than one only for a read's last parameter.
        plain: a file whose content is read: nothing but a regular one is (plain_files.py).
    """

    called: str
    fits: Callable[[Value], bool]
    written: Callable[[Value], str] = str
    most: int = 1
    plain: bool = False

    def up_to(self, most: int) -> Kind:
        """Return the same kind for one to `most` values."""
        return replace(self, most=most)


def _like(pattern: str) -> Callable[[Value], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _text(check: Callable[[str], bool]) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, str) and check(value)


def _one_of(*words: str) -> Callable[[Value], bool]:
    known = frozenset(words)
    return lambda value: value in known


def _whole(least: int, most: int) -> Callable[[Value], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _moment(value: Value) -> str:
    """Write a moment for journalctl (man systemd.time(7))."""
    return datetime.fromtimestamp(int(value), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


# -- in statements -----------------------------------------------------------------------------------------------------

IDENTIFIER = Kind(mark("a plain identifier"), _like(r"[A-Za-z_$][A-Za-z0-9_$]{0,63}"), lambda value: f"`{value}`")
VARIABLE_NAME = Kind(mark("the name of a variable"), _like(r"[a-z0-9_]{1,64}"), lambda value: f"'{value}'")
GLOBAL_NAME = Kind(mark("the name of a variable"), _like(r"[a-z0-9_]{1,64}"))

# -- in commands -------------------------------------------------------------------------------------------------------

PATH = Kind(
    mark("an absolute path without . and .., of the characters A-Z, a-z, 0-9, space and / _ . @ : + , = # -"),
    _text(is_clean),
)
FILE = Kind(mark("a file that may be read completely, with a path of plain characters"), _text(is_readable), plain=True)
LOG = Kind(mark("a log file outside of home folders, with a path of plain characters"), _text(is_log), plain=True)
BINLOG_INDEX = Kind(
    mark("the index of a binary log, with a path of plain characters"), _text(is_binlog_index), plain=True
)
STATS_SOCKET = Kind(mark("a stats socket of HAProxy, its path of plain characters"), _text(is_haproxy_socket))
UNIT = Kind(mark("the name of a unit"), _like(r"[A-Za-z0-9][A-Za-z0-9@:_.-]{0,254}"))
PROPERTY = Kind(
    mark("a property of a unit that the console reads"),
    _one_of("ActiveState", "DropInPaths", "NeedDaemonReload", "Restart", "UnitFileState"),
)
HOST = Kind(mark("a name or an address"), _like(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}"))
NAME = Kind(mark("the name of a host"), _like(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}"))
PORT = Kind(mark("a port number"), _whole(1, 65535))
LINES = Kind(mark("a number of lines"), _whole(1, 1_000_000))
ACCOUNT = Kind(mark("the number of an account"), _whole(1, 2**32 - 2))
PID = Kind(mark("the number of a process"), _whole(1, 2**31 - 1))
XID = Kind(mark("a seqno"), _whole(0, 2**63 - 1))
SINCE = Kind(mark("a moment in epoch seconds"), _whole(0, 10**11 - 1), lambda value: f"@{value}")
MOMENT = Kind(mark("a moment in epoch seconds"), _whole(0, 10**11 - 1), _moment)
OPTION_GROUP = Kind(mark("a group of an option file"), _like(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,63}"))
SERVER_PROGRAM = Kind(mark("the program of a server"), _one_of("/usr/sbin/mariadbd", "/usr/sbin/mysqld"))
TABLE_IN_HEX = Kind(mark("a table as digits, SCHEMA.TABLE"), _like(r"[0-9A-F]{2,512}\.[0-9A-F]{2,512}"))
HOW_SUMMED = Kind(mark("a method to aggregate rows"), _like(r"whole|sampled|-?[0-9]{1,18}:-?[0-9]{1,18}"))

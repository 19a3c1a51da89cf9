"""What the frozen programs of whole_programs.py tell: missing files, definitions, sums of rows. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.facts.reading import count, words
from services.lines import lines_of

_MOST_LINES = 2_000_000
_OWN_SCHEMAS = frozenset({"mysql", "sys", "information_schema", "performance_schema"})
_NOT_HELD = frozenset({"sys", "performance_schema"})
"""Made by each server for itself: nobody holds them against another's."""
_FOLDER = "#mysql50#"
"""Begins what a server calls a folder that is none of its schemas: lost+found, what a run keeps."""
_OF_FILE_SYSTEMS = frozenset({"lost+found", ".snapshot", ".snapshots", ".zfs"})
"""What a file system itself lays at its top. mariadb-upgrade, which Debian's unit runs behind the first start on
restored data, makes a schema of that name on its node alone, in a folder `lost@002bfound` (10.11.18, tried)."""
_ENCODED = re.compile(r"@([0-9a-f]{4})", re.ASCII)
_NO_CONTENT = frozenset({"schema", "folder", "grants"})
_TABLES = frozenset({"BASE_TABLE", "SYSTEM_VERSIONED", "SEQUENCE"})
_HEX = re.compile(r"(?:[0-9A-F]{2})*", re.ASCII)
_MISSING = {
    "frm": "its .frm file", "ibd": "its .ibd file", "head": "the content of its .frm file", "MYD": "its MyISAM files",
    "MAD": "its Aria files", "ibd.meta": "the .meta file of its .delta", "ibd.delta": "the .delta file of its .meta",
}  # fmt: skip
Key = tuple[str, str, str]
"""What it is ('table', 'columns', 'account'), its schema, its name."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The files of tables in a folder: how many there are, which lack, in words; absent: no folder."""

    files: int = 0
    lacking: frozenset[str] = frozenset()
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its name in digits as reads take it, as people do, about its bytes, and its engine."""

    digits: str
    name: str
    bytes: int
    engine: str = "InnoDB"


@dataclass(frozen=True, slots=True)
class Defined:
    """All that is defined on a server.

    Attributes:
        things: each with its digest, a table with type and engine; broken: tables that can't be opened, or whose files
            are not there, in words; rows: tables of InnoDB, whose rows every member has; others: tables of other
            engines; the smallest first. folders: what a server lists as a schema and is none: nothing is defined in it,
            and no CREATE DATABASE made it, or it has a file system's own name.
    """

    things: Mapping[Key, str] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()
    rows: tuple[Table, ...] = ()
    others: tuple[Table, ...] = ()
    folders: frozenset[str] = frozenset()

    @property
    def tables(self) -> int:
        """Return how many tables there are, views left out."""
        return sum(1 for (what, _, _), said in self.things.items() if what == "table" and not said.startswith("VIEW"))


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a table: of its parts, each by its number; how it was read ('whole', or the bounds of a sample).

    Attributes:
        why: why there is none.
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    how: str = ""
    why: str = ""


def parse_pairs(text: str) -> Pairs | None:
    """Return what a folder lacks; None where it was not told to the end."""
    lacking: set[str] = set()
    for line in lines_of(text):
        word, _, rest = line.partition(" ")
        if word == "absent":
            return Pairs(absent=True)
        if word == "end":
            return Pairs(count(rest) or 0, frozenset(lacking))
        kind, _, name = rest.partition(" ")
        if word == "lacks" and kind in _MISSING:
            lacking.add(f"{words(name)} lacks {_MISSING[kind]}")
    return None


def parse_defined(text: str) -> Defined | None:
    """Return what a server told; None where it did not tell all."""
    things: dict[Key, str] = {}
    bare = set[str]()
    broken: set[str] = set()
    rows: list[Table] = []
    ended = False
    for line in lines_of(text)[:_MOST_LINES]:
        parts = line.split("\t")
        if parts == ["end"]:
            ended = True
        elif parts[0] == "lost" and len(parts) == 3:
            broken.add(f"{words(parts[2])} lacks {_MISSING.get(parts[1], 'a file')}")
        elif len(parts) < 4 or (key := _key(parts)) is None or key[1] in _NOT_HELD:
            continue
        elif folder := _folder(key):
            bare.add(folder)
        else:
            things[key] = " ".join(parts[3:5])
            if key[0] != "table" or parts[3] not in _TABLES:
                continue
            if parts[4:5] == ["-"]:
                broken.add(f"{key[1]}.{key[2]} cannot be opened")
            elif key[1] in _OWN_SCHEMAS or parts[3] == "SEQUENCE":
                continue
            else:
                size, engine = count(parts[5]) if len(parts) > 5 else None, words("".join(parts[4:5]), 40)
                rows.append(Table(f"{parts[1]}.{parts[2]}", f"{key[1]}.{key[2]}", size or 0, engine))
    rows.sort(key=lambda one: (one.bytes, one.name))
    replicated = tuple(one for one in rows if one.engine == "InnoDB")
    others = tuple(one for one in rows if one.engine != "InnoDB")
    folders = _folders(things, bare | _OF_FILE_SYSTEMS)
    held = {key: said for key, said in things.items() if key[0] != "schema" or key[1] not in folders}
    return Defined(held, frozenset(broken), replicated, others, folders) if ended else None


def _folder(key: Key) -> str:
    """Return the name that a folder which is no schema's would have as one; '' for all else."""
    if key[0] == "folder":
        return _ENCODED.sub(lambda one: chr(int(one[1], 16)), key[1])
    return key[1].removeprefix(_FOLDER) if key[1].startswith(_FOLDER) else ""


def _folders(things: Mapping[Key, str], named: set[str]) -> frozenset[str]:
    """Return the schemas that are folders alone: of these names, and nothing is defined in them."""
    full = {key[1] for key in things if key[0] not in _NO_CONTENT}
    return frozenset(key[1] for key in things if key[0] == "schema" and key[1] in named - full)


def _key(parts: list[str]) -> Key | None:
    schema, name = _plain(parts[1]), _plain(parts[2])
    return None if schema is None or name is None else (words(parts[0], 20), schema, name)


def _plain(digits: str) -> str | None:
    """Return a name that was told in digits; what can't be shown is written as '?'."""
    if _HEX.fullmatch(digits) is None:
        return None
    return words(bytes.fromhex(digits).decode("utf-8", "replace"), 200)


def differences(ours: Defined, theirs: Defined, here: str, there: str) -> tuple[str, ...]:
    """Return in words what one server lacks, has more or otherwise; what is broken on both is no difference."""
    found = [f"{said} on {here}" for said in sorted(ours.broken - theirs.broken)]
    for key in sorted({*ours.things, *theirs.things}):
        mine, its = ours.things.get(key), theirs.things.get(key)
        if mine == its or (key[0] in {"columns", "indexes", "foreign-keys"} and not _both(key, ours, theirs)):
            continue
        what = f"{key[0]} {'.'.join(part for part in key[1:] if part)}"
        if mine is None:
            found.append(f"{what} is not there on {here}, {there} has it")
        elif its is None:
            found.append(f"{what} is on {here}, {there} does not have it")
        elif key[0] == "table":
            found.append(f"{what} is {mine} on {here}, {its} on {there}")
        else:
            found.append(f"{what} is another one on {here} than on {there}")
    return tuple(dict.fromkeys(found))


def _both(key: Key, ours: Defined, theirs: Defined) -> bool:
    """Return whether both servers have the table, else that is what is told."""
    table = ("table", key[1], key[2])
    return table in ours.things and table in theirs.things


def parse_sums(text: str) -> Mapping[str, Sum]:
    """Return the sums by the tables' names in digits; none where they were not told to the end."""
    found: dict[str, Sum] = {}
    for line in lines_of(text)[:_MOST_LINES]:
        parts = line.split("\t")
        if parts == ["end"]:
            return found
        if parts[0] == "sum" and len(parts) == 4:
            pieces = (piece.partition(":") for piece in parts[2].split("/") if piece)
            found[parts[1]] = Sum({number: said for number, _, said in pieces}, parts[3])
        elif parts[0] == "none" and len(parts) == 3:
            absent = parts[2].startswith("ERROR 1064 ")  # nothing is known of its columns
            found[parts[1]] = Sum(why="no such table" if absent else words(parts[2], 200) or "the server gave none")
    return {}

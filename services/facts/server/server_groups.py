"""What option files give a server: which groups are its own, and in which order it reads the files. Pure.

Sources: MariaDB KB "Configuring MariaDB with Option Files" ("Server Option Groups"), MySQL manual "Using Option Files"
([mysqld-8.0] is read by servers of that release series); services/option_values.py for the lines and the inclusions.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.facts.server.harmless_options import normal
from services.option_values import is_read_in_folder, option_lines

_GROUP = re.compile(
    r"(?:mysqld|server|mariadb|mariadbd|galera|client-server|(?:mysqld|mariadb|mariadbd)-([0-9]+\.[0-9]+))",
    re.IGNORECASE | re.ASCII,
)
_MOST_DEEP = 10
_MOST_FILES = 400


@dataclass(frozen=True, slots=True)
class Setting:
    """An option of a server's group: as it is written, without '-' and loose-."""

    path: str
    section: str
    name: str
    value: str


def is_of_a_server(group: str, version: Sequence[int] = ()) -> bool:
    """Return whether a server reads a group; `version`: the server's numbers, () where they are not known."""
    found = _GROUP.fullmatch(group)
    return found is not None and (found[1] is None or not version or found[1] == ".".join(map(str, version[:2])))


def in_reading_order(files: Sequence[tuple[str, str]], version: Sequence[int] = ()) -> tuple[Setting, ...]:
    """Return the settings of several files, (path, text), in the order in which the server reads them.

    A file that another one includes is read in the place of that line, as often as it is included; the rest in the
    order in which they are given.
    """
    walk = _Walk(dict(files), version)
    for path, _ in files:
        if path not in walk.seen:
            walk.read(path, 0)
    return tuple(walk.found)


def read_after(files: Sequence[tuple[str, str]], ours: str, version: Sequence[int] = ()) -> tuple[Setting, ...]:
    """Return the settings that the server reads after our file; where nothing tells its place, all of the others."""
    folder = posixpath.dirname(ours)
    beside = [n for n, (path, _) in enumerate(files) if posixpath.dirname(path) == folder and path < ours]
    others = [(path, text) for path, text in files if path != ours]
    at = beside[-1] + 1 if beside else 0
    here = Setting(ours, "", "", "")
    walk = _Walk({**dict(others), ours: None}, version)
    for path in [*(path for path, _ in others[:at]), ours, *(path for path, _ in others[at:])]:
        if path not in walk.seen:
            walk.read(path, 0)
    place = walk.found.index(here)
    return tuple(one for one in walk.found[place + 1 :] if one != here)


@dataclass(slots=True)
class _Walk:
    """One reading of files; a text of None is our file, whose place alone is wanted."""

    texts: dict[str, str | None]
    version: Sequence[int]
    found: list[Setting] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    read_files: int = 0

    def read(self, path: str, depth: int) -> None:
        self.seen.add(path)
        self.read_files += 1
        if depth > _MOST_DEEP or self.read_files > _MOST_FILES:
            return
        text = self.texts[path]
        if text is None:
            self.found.append(Setting(path, "", "", ""))
            return
        for line in option_lines(text):
            if line.kind == "option" and is_of_a_server(line.group, self.version):
                self.found.append(Setting(path, line.group, normal(line.name), line.value or ""))
            elif line.kind == "include" and (target := posixpath.normpath(line.name)) in self.texts:
                self.read(target, depth + 1)
            elif line.kind == "includedir":
                for inner in self._in_folder(posixpath.normpath(line.name)):
                    self.read(inner, depth + 1)

    def _in_folder(self, folder: str) -> list[str]:
        names = (path for path in self.texts if posixpath.dirname(path) == folder)
        return sorted(path for path in names if is_read_in_folder(posixpath.basename(path)))

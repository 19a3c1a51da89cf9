"""Hosts of ~/.ssh/config: its names only. What OpenSSH makes of a name stays OpenSSH's business at every connection.

Every `Host` pattern without a wildcard becomes a host whose address is that very name, so that HostName, User, Port,
IdentityFile, ProxyJump and Match keep applying, today and after the next edit of the file (man ssh_config(5)).
"""

from __future__ import annotations

import re
from pathlib import Path

from services.i18n import tr
from services.inventory.imports import ImportReport, vetted
from services.inventory.model import HostEntry, SshAccess
from services.inventory.option_files import Inclusions
from services.ssh_words import BadLine, arguments, keyword_of
from services.workstation.home import expanded

DEFAULT = Path("~/.ssh/config")
_MOST_INCLUDES = 16  # READCONF_MAX_DEPTH in OpenSSH's readconf.c
_WILD = re.compile(r"[*?!]")


def import_ssh_config(path: str | Path | None = None) -> ImportReport:
    """Return the hosts an ssh_config names. Includes are followed for their names; Match blocks name none."""
    file = expanded(path if path is not None else DEFAULT)
    reader = _Reader()
    reader.read(file, 0)
    config = None if file == expanded(DEFAULT) else str(file)
    hosts = tuple(HostEntry(name, name, SshAccess(user="", config=config)) for name in reader.names)
    return vetted(ImportReport(str(file), hosts, tuple(reader.notes), tuple(reader.problems)), reader.names)


class _Reader:
    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # and the line that names it first
        self.notes: list[str] = []
        self.problems: list[str] = []
        self._files = Inclusions("Include", _MOST_INCLUDES, self.problems)

    def read(self, file: Path, depth: int) -> None:
        lines = self._files.lines_of(file, depth)
        if lines is None:
            return
        for number, line in enumerate(lines, start=1):
            word, rest = keyword_of(line)
            try:
                words = arguments(rest)
            except BadLine:
                self.problems.append(tr("{file}, line {number}: a quote does not close.", file=file, number=number))
                continue
            self._line(word, words, f"{file}, line {number}", depth)

    def _line(self, word: str, words: list[str], where: str, depth: int) -> None:
        if word == "host":
            wild = [pattern for pattern in words if _WILD.search(pattern)]
            for name in words:
                if name not in wild:
                    self.names.setdefault(name, where)
            if wild and wild != ["*"]:
                self.notes.append(
                    tr("{where}: patterns do not name a single host: {names}", where=where, names=" ".join(wild))
                )
        elif word == "match":
            self.notes.append(
                tr("{where}: Match: no host is imported from it; it applies when connecting, as in ssh.", where=where)
            )
        elif word == "include":
            base = expanded("~/.ssh")
            for pattern in words:
                for found in self._files.matching(base / expanded(pattern), where):
                    self.read(found, depth + 1)

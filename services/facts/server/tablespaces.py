"""How large a server's data files are, and what its host has free for a backup: three reads and their parsers.

Sources: MySQL manual, "The INFORMATION_SCHEMA INNODB_TABLESPACES Table" (8.0; INNODB_SYS_TABLESPACES in 5.7): FILE_SIZE
is the apparent size of a file in bytes, the privilege PROCESS is needed. proc_meminfo(5): MemAvailable, since Linux
3.14. `xtrabackup --version` says 'xtrabackup version 8.0.35-31 based on MySQL server 8.0.35 ...', on standard error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.connections.ports import ObserverSession, Rows, text
from services.connections.reads import commands, statements
from services.errors import UserError
from services.facts.reading import count
from services.facts.server.dialect import identify, version_of
from services.lines import lines_of
from services.types import Flavour

LIMIT_S = 20.0
"""The server looks at every file."""
_VERSION = re.compile(r"xtrabackup version (\d[\w.-]{0,40})")


@dataclass(frozen=True, slots=True)
class FileClass:
    """Data files of about one size: of one power of ten, where the server told them.

    Attributes:
        files: how many; size: bytes of all of them; largest: bytes of the largest one.
    """

    files: int
    size: int
    largest: int


@dataclass(frozen=True, slots=True)
class BackupSource:
    """What a backup host told.

    Attributes:
        flavour, version: of its server; files: () = not known; free_memory: bytes, None = not known.
        xtrabackup: its version, '' = not known or not there; problems: what could not be read, as sentences.
    """

    flavour: Flavour = Flavour.UNKNOWN
    version: str = ""
    files: tuple[FileClass, ...] = ()
    free_memory: int | None = None
    xtrabackup: str = ""
    problems: tuple[str, ...] = ()

    @property
    def has_xbcloud(self) -> bool:
        """Return whether xbcloud backs this server up: MariaDB's own tools have none."""
        return self.flavour is not Flavour.MARIADB

    @property
    def retries(self) -> bool | None:
        """Return whether its xbcloud tries again by itself (8.0.26 on; when 2.4 learnt it is not known); None: that."""
        _, key = version_of(self.xtrabackup)
        return key >= (8, 0, 26) if key >= (8,) else None


def read_source(session: ObserverSession) -> BackupSource:
    """Ask a host; what does not answer is a problem, and not known."""
    problems: list[str] = []
    variables: dict[str, str] = {}
    try:
        variables = session.query(statements.VARIABLES).pairs()
    except UserError as problem:
        problems.append(str(problem))
    identity = identify(variables)
    source = BackupSource(identity.flavour, identity.version)
    if not source.has_xbcloud:
        return source
    files: tuple[FileClass, ...] = ()
    if variables:
        read = statements.TABLESPACES if identity.version_key >= (8,) else statements.TABLESPACES_57
        try:
            files = parse_tablespaces(session.query(read, limit_s=LIMIT_S))
        except UserError as problem:
            problems.append(str(problem))
    memory, version = None, ""
    try:
        memory = available_memory(session.run(commands.MEMORY).text)
        said = session.run(commands.XTRABACKUP_VERSION)
        version = xtrabackup_version(said.text + said.stderr.decode("utf-8", "replace"))
    except UserError as problem:
        problems.append(str(problem))
    return BackupSource(identity.flavour, identity.version, files, memory, version, tuple(problems))


def parse_tablespaces(rows: Rows) -> tuple[FileClass, ...]:
    """Return the classes out of (count, bytes, bytes of the largest); a row that makes no sense is none."""
    found = []
    for row in rows.rows:
        numbers = [count(text(value).partition(".")[0]) for value in row[:3]]
        files, size, largest = numbers if len(numbers) == 3 else (None, None, None)
        if files and size is not None and largest is not None and largest <= size:
            found.append(FileClass(files, size, largest))
    return tuple(found)


def whole_size(files: Iterable[FileClass]) -> int:
    """Return the bytes of all files."""
    return sum(one.size for one in files)


def available_memory(meminfo: str) -> int | None:
    """Return the bytes of MemAvailable; None where the kernel does not tell."""
    for line in lines_of(meminfo):
        parts = line.split()
        if len(parts) >= 2 and parts[0] == "MemAvailable:":
            kilobytes = count(parts[1])
            return None if kilobytes is None else kilobytes * 1024
    return None


def xtrabackup_version(said: str) -> str:
    """Return '8.0.35-31' out of `xtrabackup --version`, '' where it is not there."""
    found = _VERSION.search(said[:20_000])
    return found.group(1) if found else ""

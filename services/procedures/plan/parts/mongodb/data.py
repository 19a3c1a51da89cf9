"""The data folder of a MongoDB server: how large it is, and whether a new one's is empty."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts import reads
from services.facts.machine.file_answers import is_absent
from services.facts.machine.way import not_accounts, parse_way
from services.facts.reading import count, words
from services.lines import lines_of
from services.procedures.plan.part import Part, Reading, Turn

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

LOST_AND_FOUND = "lost+found"


@dataclass(frozen=True, slots=True)
class MongoData(Part):
    """Read with du, ls and stat, over SSH; of a host without a config server the folder that the others have.

    Attributes:
        path: the folder; bytes: of what it holds, and of a journal on a disk of its own; entries: how many names, 0
            also where it is missing. None: unknown.
        owner, group: numbers of its user and group; owner_name: the user's name on the host, '' unknown. odd: who else
            may change it, or a folder above it, a sentence's part, '' for nobody; None: unknown.
        beside: the names in the folder that holds it, where copies and new folders are made; None: unknown.
    """

    turn: ClassVar[Turn] = Turn.COMPANY

    path: str = ""
    bytes: int | None = None
    entries: int | None = None
    owner: int | None = None
    group: int | None = None
    odd: str | None = None
    beside: tuple[str, ...] | None = None
    owner_name: str = ""

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        told = _told(host) or next(filter(None, map(_told, reading.company.hosts.values())), "")
        if not told:
            return None
        path = reads.clean(told)
        around = reading.text("data", commands.ALL_NAMES.read(posixpath.dirname(path) or "/", sudo=True))
        beside = None if around is None else tuple(name for name in lines_of(around) if name)
        listed = reading.run("data", commands.ALL_NAMES.read(path, sudo=True))
        if listed is None:
            return cls(path, beside=beside)
        if listed.exit_code:
            return cls(path, 0, 0, beside=beside) if is_absent(listed) else cls(path, beside=beside)
        names = [name for name in lines_of(listed.text) if name and name != LOST_AND_FOUND]
        inside = f"{path.rstrip('/')}/"  # du(1) follows a link with a slash behind it, and no other
        size = _size(reading, inside)
        if "journal" in names and size is not None:
            size = _with_journal(reading, f"{inside}journal", size)
        way = parse_way(reading.text("data", commands.WAY.read(path, sudo=True)) or "")
        if way is None:
            return cls(path, size, len(names), beside=beside)
        named = words((reading.text("data", commands.OWNER_NAME.read(path, sudo=True)) or "").strip(), 64)
        return cls(path, size, len(names), way[0].owner, way[0].group, not_accounts(way, way[0].owner), beside, named)

    def holds(self, path: str) -> bool:
        """Return whether a path is known to be there: one beside the data folder, as its own folder tells."""
        folder, name = posixpath.split(path.rstrip("/"))
        return folder == posixpath.dirname(self.path) and name in (self.beside or ())


def _size(reading: Reading, folder: str) -> int | None:
    size = reading.text("data", commands.SIZE.read(folder, sudo=True)) or ""
    return count(size.split()[0]) if size.split() else None


def _with_journal(reading: Reading, journal: str, size: int) -> int | None:
    """Return the size with that of a journal that a link leads to: a copy of the data holds it, hundreds of MB."""
    kind = reading.text("data", commands.FILE_KIND.read(journal, sudo=True))
    if kind is None:
        return None
    led_to = _size(reading, f"{journal}/") if kind.strip() == "symbolic link" else 0
    return None if led_to is None else size + led_to


def _told(host: HostFacts) -> str:
    """Return where a config server has its data, '' for any other server."""
    mongo = host.node.mongo if host.node is not None else None
    return mongo.server.data_path if mongo is not None and mongo.server.config else ""

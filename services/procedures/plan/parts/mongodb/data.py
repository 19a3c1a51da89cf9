"""The data folder of a MongoDB server: how large it is, and whether a new one's is empty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts import reads
from services.facts.file_answers import is_absent
from services.facts.reading import count
from services.lines import lines_of
from services.procedures.plan.part import Part, Reading, Turn

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

LOST_AND_FOUND = "lost+found"


@dataclass(frozen=True, slots=True)
class MongoData(Part):
    """Read with du, ls and stat, over SSH; of a host without a config server the folder that the others have.

    Attributes:
        path: the folder; bytes: of what it holds; entries: how many names, 0 also where it is not there. None: unknown.
        owner: its user's number.
    """

    turn: ClassVar[Turn] = Turn.COMPANY

    path: str = ""
    bytes: int | None = None
    entries: int | None = None
    owner: int | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        told = _told(host) or next(filter(None, map(_told, reading.company.hosts.values())), "")
        if not told:
            return None
        path = reads.clean(told)
        listed = reading.run("data", commands.ALL_NAMES.read(path, sudo=True))
        if listed is None:
            return cls(path)
        if listed.exit_code:
            return cls(path, 0, 0) if is_absent(listed) else cls(path)
        names = [name for name in lines_of(listed.text) if name and name != LOST_AND_FOUND]
        inside = f"{path.rstrip('/')}/"  # du(1) and stat(1) follow a link with a slash behind it, and no other
        size = reading.text("data", commands.SIZE.read(inside, sudo=True)) or ""
        owner = count((reading.text("data", commands.OWNER.read(inside, sudo=True)) or "").strip())
        return cls(path, count(size.split()[0]) if size.split() else None, len(names), owner)


def _told(host: HostFacts) -> str:
    """Return where a config server has its data, '' for any other server."""
    mongo = host.node.mongo if host.node is not None else None
    return mongo.server.data_path if mongo is not None and mongo.server.config else ""

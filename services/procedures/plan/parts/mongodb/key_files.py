"""The key files by which the members of a cluster know each other, where the config servers have theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.observer.paths import is_clean
from services.connections.reads import commands
from services.facts.machine.file_answers import is_absent
from services.facts.machine.way import parse_way
from services.procedures.plan.part import Part, Reading, Turn
from services.procedures.plan.parts.mongodb.process import MongoProcess

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

KEY_FILE = "security.keyFile"
_MOST = 4


@dataclass(frozen=True, slots=True)
class KeyFile:
    """One of them on a host: never what stands in it.

    Attributes:
        digest: its SHA-256, '' unknown; absent: it is missing. owner: number of its user; shared: others than that
            one may use it (the server refuses such a file), None: unknown.
    """

    path: str
    digest: str = ""
    absent: bool = False
    owner: int | None = None
    shared: bool | None = None


@dataclass(frozen=True, slots=True)
class KeyFiles(Part):
    """Read with stat and sha256sum, over SSH, on each host: which of them a new server is to have is the plan's."""

    turn: ClassVar[Turn] = Turn.COMPANY
    made_from: ClassVar[tuple[type[Part], ...]] = (MongoProcess,)

    files: tuple[KeyFile, ...] = ()

    def at(self, path: str) -> KeyFile | None:
        """Return what is known of one of them."""
        return next((one for one in self.files if one.path == path), None)

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        named = sorted({path for one in (host, *reading.company.hosts.values()) if (path := _named(one))})
        return cls(tuple(_file(path, reading) for path in named[:_MOST] if is_clean(path)))


def _named(host: HostFacts) -> str:
    """Return the key file of a config server, '' for any other server's."""
    mongo, process = host.node.mongo if host.node is not None else None, host[MongoProcess]
    if mongo is None or not mongo.server.config:
        return ""
    return str(dict(process.given).get(KEY_FILE) or process.setting(KEY_FILE) or "")


def _file(path: str, reading: Reading) -> KeyFile:
    ended = reading.run("key", commands.WAY.read(path, sudo=True))
    if ended is not None and is_absent(ended):
        return KeyFile(path, absent=True)
    way = parse_way(ended.text) if ended is not None else None
    digest = (reading.text("key", commands.FILE_DIGEST.read(path, sudo=True)) or "").strip()
    if way is None:
        return KeyFile(path, digest)
    return KeyFile(path, digest, owner=way[0].owner, shared=way[0].mode[3:] != "------")

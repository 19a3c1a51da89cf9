"""What a part of a host's facts is: a small frozen value that a procedure asks for, and how it is read.

A part stands in one file with its reading (decision 0038). It has a default in every field, which says 'not known': a
part that was not read is that. Nobody lists the parts: a card names those that its procedure needs, and only they are
read, with those that they are made from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

from services.clock import Clock
from services.connections.mongo.document import Document
from services.connections.ports import Output, Rows
from services.connections.reads.mongo import MongoRead
from services.connections.reads.read import CommandRead, SqlRead
from services.types import Reach

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


class Turn(Enum):
    """When a part is read, while all hosts are gathered at once.

    ALONE: first, each host by itself. RIGHTS: once it is known who is a member, and not on a host that serves another
    group: no account for changes is used there. COMPANY: last, with what all hosts have told (`Reading.company`).
    """

    ALONE = 1
    RIGHTS = 2
    COMPANY = 3


class Way(Enum):
    """What a host must answer by for a part to be read: SSH, its server over SQL, a Galera server, or any of them."""

    SSH = "ssh"
    SQL = "sql"
    GALERA = "galera"
    ANY = "any"

    def leads_to(self, host: HostFacts) -> bool:
        """Return whether the host answered this way when it was asked first."""
        node = host.node
        if node is None:
            return False
        return {
            Way.SSH: node.reach in {Reach.FULL, Reach.SSH_ONLY},
            Way.SQL: node.server is not None,
            Way.GALERA: node.galera is not None,
            Way.ANY: node.reach not in {Reach.NONE, Reach.NOT_TRIED},
        }[self]


@dataclass(frozen=True, slots=True)
class Company:
    """What all hosts told by themselves: for what is read beside the others.

    Attributes:
        hosts: name -> its facts so far; members: who is, or was, of the cluster.
    """

    hosts: Mapping[str, HostFacts] = field(default_factory=dict)
    members: tuple[str, ...] = ()


class Reading(Protocol):
    """The reading roads to one host, over an Observer session. They never raise: what failed is noted with why."""

    operator: Reading | None
    """Reads as the inventory's account for changes; None without one, and outside the turn of rights."""
    sudo_works: bool | None
    """Whether a read was made as root; None: none was tried."""
    company: Company

    @property
    def host(self) -> str:
        """Return the host's name."""

    @property
    def clock(self) -> Clock:
        """Return the clock of the gathering."""

    @property
    def newest_problem(self) -> tuple[str, str]:
        """Return (code, sentence) of what failed last, ('', '') where nothing did."""

    def note(self, part: str, sentence: str, code: str = "") -> None:
        """Remember why something is missing; the same reason once."""

    def run(self, part: str, read: CommandRead, *, limit_s: float = 8.0) -> Output | None:
        """Return what a command left, None when it could not run. One for root: as root, else as the login."""

    def text(self, part: str, read: CommandRead, *, limit_s: float = 8.0) -> str | None:
        """Return a command's output when it ended well, else None with the reason noted."""

    def shared(self, part: str, read: CommandRead) -> str | None:
        """Return the same of a read that several parts are made from: it is made once in a gathering."""

    def ask(self, part: str, read: MongoRead, *, limit_s: float = 4.0) -> Document | None:
        """Return the answer of a MongoDB server, None when it did not give one."""

    def query(self, part: str, read: SqlRead, *, limit_s: float = 4.0) -> Rows | None:
        """Return rows, None when the server did not give them."""

    def shared_variables(self, part: str) -> Mapping[str, str] | None:
        """Return the server's global variables, long ones whole: they are read once in a gathering."""

    def one(self, part: str, read: SqlRead) -> str | None:
        """Return the first value of the first row as text; '' for NULL or no row, None when it could not be read."""


class Part(ABC):
    """A part of what is known of a host. Subclasses are frozen dataclasses, a default in every field.

    Attributes:
        way: how a host must have answered for it to be read; turn: when it is read.
        made_from: parts that its reading looks at; they are read before it.
    """

    __slots__ = ()
    way: ClassVar[Way] = Way.SSH
    turn: ClassVar[Turn] = Turn.ALONE
    made_from: ClassVar[tuple[type[Part], ...]] = ()

    @classmethod
    @abstractmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """Return the part as it is read now; None: nothing could be read of it.

        Args:
            host: what is known of the host so far.
        """


def in_order(needs: Iterable[type[Part]]) -> tuple[type[Part], ...]:
    """Return these parts and all that they are made from, each after those; by name where nothing else decides."""
    found: dict[type[Part], None] = {}

    def add(kind: type[Part]) -> None:
        for before in kind.made_from:
            add(before)
        found.setdefault(kind)

    for kind in sorted(needs, key=lambda one: one.__name__):
        add(kind)
    return tuple(found)

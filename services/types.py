"""The words every layer shares: small enumerations and names, nothing that acts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal, final

from services.i18n import mark


class Flavour(Enum):
    """Which dialect a server speaks, found by query and never guessed from a host name."""

    MARIADB = "MariaDB"
    MYSQL = "MySQL"
    PERCONA = "Percona Server"
    PXC = "Percona XtraDB Cluster"
    CODERSHIP = "MySQL-wsrep"
    MONGODB = "MongoDB"
    UNKNOWN = "unknown"


VOTES: Final = "votes"
"""Its members vote: who is in the part with a majority is the cluster, and it is drawn as such parts."""
SEVERAL_GROUPS: Final = "several-groups"
"""Several groups of members that vote, each by itself, and servers beside them."""
KEEPS_IDENTITY: Final = "keeps-identity"
"""Its id is kept in the data of its members: a host that is down is known to belong to it."""
LENDS_HISTORY: Final = "lends-history"
"""A member that was away a while gets what it missed from another's memory (IST): for how long, is told."""
PLACES: Final = "places"
"""Members call one another by host and port, by which each is found again: none needs to be remembered beside them."""
TREE: Final = "tree"
"""Sources and their replicas."""
ALONE: Final = "alone"
"""One host, tied to no other."""
ONLY_NAMED: Final = "only-named"
"""The inventory names it, and this program does not read it: nothing is judged, measured or drawn as a curve."""
NOT_KNOWN: Final = "not-known"
"""Nothing was told yet that says what it is."""


@final
class ClusterKind:
    """How the nodes of a cluster are bound to one another. Each family declares its own (services/discovery/families).

    No dataclass: msgspec would write its fields, and files hold the words alone, as they always did.

    Attributes:
        code: what code and data compare; words: what a person reads, and what is kept in files.
        short: its name in the tree, before a version; '' where the tree says something else.
        inside, outside: what a part with and one without the majority is called, of kinds whose members vote.
        identity: a sentence with {uuid}, where its id says something to a person.
        traits: what may be said of every cluster of the kind (VOTES, ...): who asks these need not know the kind.
        gravity: how bad its problems of a whole cluster are, by their codes; what is not there is advice only.
    """

    __slots__ = ("code", "gravity", "identity", "inside", "outside", "short", "traits", "words")

    def __init__(
        self,
        code: str,
        words: str,
        *,
        short: str = "",
        identity: str = "",
        inside: str = "",
        outside: str = "",
        traits: frozenset[str] = frozenset(),
        gravity: Mapping[str, Health] | None = None,
    ) -> None:
        self.code: Final = code
        self.words: Final = words
        self.short: Final = short
        self.identity: Final = identity
        self.inside: Final = inside
        self.outside: Final = outside
        self.traits: Final = traits
        self.gravity: Final[Mapping[str, Health]] = dict(gravity or {})

    def __eq__(self, other: object) -> bool:
        """Return whether both are of one code: a copy is no other kind."""
        return isinstance(other, ClusterKind) and other.code == self.code

    def __hash__(self) -> int:
        """Return the hash of the code."""
        return hash(self.code)

    def __repr__(self) -> str:
        """Return the code, for tests and logs."""
        return f"ClusterKind({self.code})"

    def stored(self) -> str:
        """Return what stands in a file for it (words.stored)."""
        return self.words


class Health(Enum):
    """What a state means to a person. Each has one shape, one colour token and never colour alone.

    GOOD filled circle, TRANSFER half circle, WARN triangle, BAD square with a cut, UNKNOWN dashed outline.
    """

    GOOD = "good"
    TRANSFER = "transfer"
    WARN = "warn"
    BAD = "bad"
    UNKNOWN = "unknown"

    @property
    def severity(self) -> int:
        """Order for 'the worst of': GOOD 0, TRANSFER 1, UNKNOWN 2, WARN 3, BAD 4."""
        return _SEVERITY[self]


_SEVERITY = {Health.GOOD: 0, Health.TRANSFER: 1, Health.UNKNOWN: 2, Health.WARN: 3, Health.BAD: 4}


def worst(healths: tuple[Health, ...]) -> Health:
    """Return the most severe health, UNKNOWN for an empty tuple (nothing known is never 'good')."""
    return max(healths, key=lambda h: h.severity, default=Health.UNKNOWN)


class Reach(Enum):
    """How far the console itself gets to a host, told apart because the remedies differ."""

    FULL = mark("SSH and SQL answer")
    SSH_ONLY = mark("SSH answers, SQL does not")
    SQL_ONLY = mark("SQL answers, SSH does not")
    NONE = mark("no answer")
    NOT_TRIED = mark("not contacted yet")


Lack = Literal["", "not offered", "not yet", "no way"]
"""Why nothing of a metric was sampled, '' where something was."""
NODES_LEFT_OUT = "too-many-nodes"
"""A recording holds more nodes than are drawn."""
NOT_OFFERED: Final = "not offered"
"""The server does not know such a number."""
NOT_YET: Final = "not yet"
"""It takes more samples than there are."""
NO_WAY: Final = "no way"
"""It comes over a way in that gave nothing here."""

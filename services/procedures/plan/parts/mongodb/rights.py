"""What the account for changes may do on a MongoDB server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.mongo.document import Document
from services.connections.reads import mongo as reads
from services.facts.mongodb.values import documents, inside, line, yes
from services.procedures.plan.part import Part, Reading, Turn, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_MOST = 2_000


@dataclass(frozen=True, slots=True)
class MongoRights(Part):
    """Read with connectionStatus, as the account for changes where the inventory names one.

    Attributes:
        logged_in: somebody is; a server without access control lets everybody do all; None: not known.
        on_cluster, on_databases: actions on the cluster, and on every database (MongoDB manual, "Resource Document").
        clears_sets: it may remove a set's configuration from local.system.replset, which no built-in role may; a server
            without access control lets everybody.
    """

    way: ClassVar[Way] = Way.ANY
    turn: ClassVar[Turn] = Turn.RIGHTS

    logged_in: bool | None = None
    on_cluster: frozenset[str] = frozenset()
    on_databases: frozenset[str] = frozenset()
    clears_sets: bool | None = None

    def lacking(self, cluster: tuple[str, ...], databases: tuple[str, ...]) -> tuple[str, ...]:
        """Return which of these actions the account may not do; none where nobody is logged in."""
        if not self.logged_in:
            return ()
        lacks = [one for one in cluster if one not in self.on_cluster]
        return tuple(dict.fromkeys((*lacks, *(one for one in databases if one not in self.on_databases))))

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        if host.node is None or host.node.mongo is None:
            return None
        body = (reading.operator or reading).ask("rights", reads.OWN_RIGHTS)
        if body is None:
            return None
        told = inside(body, "authInfo")
        users, given = told.get("authenticatedUsers"), told.get("authenticatedUserPrivileges")
        if not isinstance(users, list) or not isinstance(given, list):
            return None
        found = documents(given, _MOST)
        on_cluster = (one for one in found if _covers(one, "cluster"))
        on_databases = (one for one in found if _covers(one, "databases"))
        clears = not users or any(_clears(one) for one in found)
        return cls(bool(users), _actions(on_cluster), _actions(on_databases), clears)


def _covers(privilege: Document, what: str) -> bool:
    resource = inside(privilege, "resource")
    if yes(resource.get("anyResource")):
        return True
    if what == "cluster":
        return yes(resource.get("cluster")) is True
    return resource.get("db") == "" and resource.get("collection") == ""


def _clears(privilege: Document) -> bool:
    resource, given = inside(privilege, "resource"), privilege.get("actions")
    named = resource.get("db") == "local" and resource.get("collection") == "system.replset"
    return (named or yes(resource.get("anyResource")) is True) and isinstance(given, list) and "remove" in given


def _actions(privileges: Iterable[Document]) -> frozenset[str]:
    found: set[str] = set()
    for one in privileges:
        given = one.get("actions")
        found |= {line(name, 80) for name in given} if isinstance(given, list) else set()
    return frozenset(found)

"""How a server of each kind is spoken with: its driver, what it may be sent, and how a connection to it is tested.

One entry a kind; a kind that is only named has none. Drivers are loaded where such a host is opened, and nowhere else:
what loads one is a function that imports it late, as in the tables of the other layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.errors import BadInput
from services.i18n import mark, tr
from services.inventory.kinds import MONGODB, MYSQL

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from services.connections.probe.told import OpenServer
    from services.inventory.model import HostEntry

STATEMENTS = mark("statement")
COMMANDS = mark("command of MongoDB")


@dataclass(frozen=True, slots=True)
class ServerKind:
    """One kind.

    Attributes:
        connection: loads and returns the module of its connection, and with it the driver.
        takes: what such a server is sent.
        tester: loads and returns what opens it for the test of a connection.
        tests_operator: that test tries the account for changes too.
    """

    connection: Callable[[], ModuleType]
    takes: str
    tester: Callable[[], OpenServer]
    tests_operator: bool


def _sql_connection() -> ModuleType:
    from services.connections.sql import session

    return session


def _mongodb_connection() -> ModuleType:
    from services.connections.mongo import link

    return link


def _sql_tester() -> OpenServer:
    from services.connections.probe.sql import opened

    return opened


def _mongodb_tester() -> OpenServer:
    from services.connections.probe.mongodb import opened

    return opened


SERVER_KINDS: Mapping[str, ServerKind] = {
    MYSQL.code: ServerKind(_sql_connection, STATEMENTS, _sql_tester, tests_operator=True),
    MONGODB.code: ServerKind(_mongodb_connection, COMMANDS, _mongodb_tester, tests_operator=False),
}


def takes(entry: HostEntry, what: str) -> bool:
    """Return whether the server of an entry may be sent statements, or commands of MongoDB."""
    return SERVER_KINDS[entry.kind].takes == what


def refuse_other(entry: HostEntry, what: str) -> None:
    """Raise BadInput where the server of an entry takes no such thing."""
    if not takes(entry, what):
        raise BadInput(
            tr("This server is {kind} and does not accept a {what}.", kind=tr(entry.what.name), what=tr(what)),
            host=entry.name,
            safe=tr("Nothing was sent to the server."),
        )

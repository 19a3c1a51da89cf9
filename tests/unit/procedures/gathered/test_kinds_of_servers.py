"""What is read of a host to tell whose member its server is: of each kind of server its own."""

from __future__ import annotations

from typing import Any, cast

import pytest

from services.clock import ManualClock
from services.connections.mongo.document import Reply
from services.connections.ports import Output
from services.connections.reads.mongo import MongoRead
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.errors import Unreachable
from services.inventory.model import HostEntry, Inventory, MongoAccess, SqlAccess, SshAccess
from services.procedures.gather.gather import gather
from tests.unit.procedures.scripted_sessions import ScriptedSession

SSH = SshAccess("dba")
INVENTORY = Inventory(
    hosts=(
        HostEntry("n1", "10.0.0.1", SSH, SqlAccess("observer")),
        HostEntry("m1", "10.0.0.2", SSH, MongoAccess(), kind="mongodb"),
    )
)
OF_MYSQL = ("my_print_defaults", "/etc/my.cnf", "/etc/mysql/my.cnf", "/var/lib/mysql/gvwstate.dat")


class Host(ScriptedSession):
    """A host whose server is down and that keeps what it was asked."""

    def __init__(self, host: str, kind: str) -> None:
        super().__init__(host)
        self.kind = kind
        self.state = Unreachable("Nobody answers.", host=host)
        self.asked: list[str] = []

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del read, limit_s
        raise Unreachable("Nobody answers.", host=self.host)

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        self.asked += command_of(read).argv
        return super().run(read, limit_s=limit_s)


class Hosts:
    """The sessions of a gathering."""

    def __init__(self) -> None:
        self.sessions = {host.name: Host(host.name, host.kind) for host in INVENTORY.hosts}

    def observer(self, host: str) -> Host:
        return self.sessions[host]


@pytest.fixture(scope="module")
def gathered() -> Hosts:
    hosts = Hosts()
    gather(cast("Any", hosts), INVENTORY, ManualClock(), needs=frozenset())
    return hosts


def test_that_the_option_files_of_a_silent_mysql_server_are_read(gathered: Hosts) -> None:
    assert set(OF_MYSQL) <= set(gathered.sessions["n1"].asked)


def test_that_no_file_of_mysql_is_looked_for_on_the_host_of_a_mongodb_server(gathered: Hosts) -> None:
    asked = gathered.sessions["m1"].asked
    assert "mongod,mongos" in asked  # its processes were
    assert not [one for one in asked if one in OF_MYSQL or one.startswith("/var/lib/mysql")]

"""Where a tunnel ends decides what it is worth; the SSH connection is a scripted one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from services.connections.limits import Limits
from services.connections.ssh.connection import SshLink
from services.connections.tls.policy import trust_for
from services.connections.tunnels import open_way
from services.errors import Unreachable
from services.inventory.model import HostEntry, SqlAccess, SshAccess

ENTRY = HostEntry("db1", "db1.example", SshAccess("dba"), SqlAccess("obs", via="tunnel"))


class ScriptedLink:
    """An SSH connection to a host whose server listens on one address only."""

    alive = True
    target = SimpleNamespace(host="192.0.2.7")

    def __init__(self, listens: str) -> None:
        self._listens = listens

    def tcp(self, address: str, port: int, *, limit_s: float | None = None) -> Any:
        if address != self._listens:
            raise Unreachable("refused")
        return object()


def road(listens: str) -> str:
    link = cast("SshLink", ScriptedLink(listens))
    return open_way(ENTRY, lambda: link, limits=Limits(), limit_s=1.0).road


def test_that_a_tunnel_is_safe_on_the_host_itself_and_an_open_road_beyond_it() -> None:
    assert (road("127.0.0.1"), road("192.0.2.7")) == ("tunnel", "open")
    assert ENTRY.sql is not None
    assert trust_for(ENTRY.sql, "tunnel").proof == "host"
    assert trust_for(ENTRY.sql, "open").required

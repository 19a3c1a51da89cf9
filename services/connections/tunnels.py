"""The way from here to a database server: its port, its port through SSH, or its Unix socket (through SSH or here).

A tunnel is a channel in the host's SSH connection, used as a socket: no port listens on the workstation, and closing
the SQL session leaves the SSH connection standing.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.connections.budget import UnderWay
from services.connections.dial import dial
from services.connections.limits import Limits
from services.connections.sql.socket_owner import is_of_the_server, listens_as_itself
from services.connections.ssh.config import target_for
from services.connections.tls.policy import Road
from services.errors import BadInput, TimedOut, Unreachable
from services.i18n import tr

if TYPE_CHECKING:
    from services.connections.ssh.connection import SshLink
    from services.connections.tls.policy import SocketLike
    from services.inventory.model import HostEntry

DEFAULT_SOCKET = "/run/mysqld/mysqld.sock"  # Debian's; elsewhere the inventory names it
DEAD_AFTER_S = 60.0


@dataclass(frozen=True, slots=True)
class OpenRoute:
    """An open way: the socket, what it is, and how to name its end in a sentence.

    own: it is a Unix socket where nobody can listen but the server.
    """

    sock: SocketLike
    road: Road
    where: str
    own: bool = False


def open_way(
    entry: HostEntry,
    ssh: Callable[[], SshLink] | None,
    *,
    limits: Limits,
    limit_s: float,
    under_way: UnderWay | None = None,
) -> OpenRoute:
    """Open the way the inventory asks for. `ssh` gives the host's SSH connection. Raises UserError subclasses.

    Args:
        under_way: gets the socket as it is made; cutting it ends this call, or the login over it, with an error.
    """
    making = under_way or UnderWay()
    access = entry.sql
    if access is None:
        raise BadInput(tr("The inventory has no SQL connection to this host."), host=entry.name)
    if access.via == "direct":
        return _direct(entry, access.port, min(limits.connect_s, limit_s), making)
    if access.via == "socket":
        path = access.socket or DEFAULT_SOCKET
        if ssh is None:
            sock = _local(path, entry.name, limit_s)
            way = OpenRoute(sock, "socket", tr("the socket {path}", path=path), listens_as_itself(sock, path))
        else:
            channel = ssh().unix(path, limit_s=limit_s)
            way = OpenRoute(channel, "socket", tr("the socket {path}", path=path), is_of_the_server(path))
        making.take(way.sock)
        return way
    if ssh is None:
        raise BadInput(
            tr("A tunnel needs an SSH connection to this host, and the inventory has none."), host=entry.name
        )
    way = _tunnel(ssh(), entry.address, access.port, limit_s)
    making.take(way.sock)
    return way


def _direct(entry: HostEntry, port: int, limit_s: float, making: UnderWay) -> OpenRoute:
    """Connect to the address; one that only ssh_config knows (an alias) is reached at its HostName."""

    def way(address: str) -> OpenRoute:
        sock = dial(
            address,
            port,
            what=tr("the database"),
            host=entry.name,
            limit_s=limit_s,
            dead_after_s=DEAD_AFTER_S,
            on_socket=making.take,
        )
        return OpenRoute(sock, "open", f"{address} port {port}")

    try:
        return way(entry.address)
    except Unreachable as problem:
        if not isinstance(problem.__cause__, socket.gaierror) or entry.ssh is None:
            raise
        host = target_for(entry.ssh, entry.address).host
        if host == entry.address:
            raise
        return way(host)


def _tunnel(link: SshLink, address: str, port: int, limit_s: float) -> OpenRoute:
    """Enter at the host's 127.0.0.1; a server bound to another address is reached at the address we know the host by.

    That one may be another machine's (a forwarded port, a gateway): from the host on it is an open road.
    """
    try:
        return OpenRoute(link.tcp("127.0.0.1", port, limit_s=limit_s), "tunnel", f"127.0.0.1 port {port} (tunnel)")
    except TimedOut:
        raise
    except Unreachable:
        if not link.alive:
            raise
        own = link.target.host or address
        return OpenRoute(link.tcp(own, port, limit_s=limit_s), "open", f"{own} port {port} (tunnel)")


def _local(path: str, host: str, limit_s: float) -> socket.socket:
    family = getattr(socket, "AF_UNIX", None)
    if family is None:
        raise BadInput(
            tr("The socket {path} cannot be opened: this system has no Unix sockets.", path=path),
            host=host,
            try_=(tr('Reach this server by its address and port: via = "direct".'),),
        )
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(limit_s)
    try:
        sock.connect(path)
    except OSError as problem:
        sock.close()
        raise Unreachable(
            tr("The socket {path} cannot be opened ({problem}).", path=path, problem=problem.strerror or problem),
            host=host,
            try_=("Check that the server runs on this machine, and where its socket is: SELECT @@socket.",),
        ) from problem
    return sock

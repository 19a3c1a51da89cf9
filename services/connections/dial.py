"""One TCP connection with a limit, its failures told as sentences."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from services.connections.names import addresses_of
from services.errors import NameUnknown, NoRoute, NothingListens, ResolverSilent, TimedOut, Unreachable
from services.i18n import tr

MOST_ADDRESSES = 8
"""Of one name: each gets a share of the time."""
_NOT_LOOKED_UP = {
    getattr(socket, name) for name in ("EAI_AGAIN", "EAI_FAIL", "EAI_MEMORY", "EAI_SYSTEM") if hasattr(socket, name)
}
"""What says nothing of the name: "The name server returned a temporary failure indication", and its like.

Source: getaddrinfo(3), man7.org/linux/man-pages/man3/getaddrinfo.3.html. glibc says EAI_AGAIN of a server that can't be
reached, and of one that could not ask further (SERVFAIL)."""
_NO_ROUTE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN}

_FAMILIES = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}


@dataclass(frozen=True, slots=True)
class Ends:
    """The addresses of a connection: family is 'any', 'inet' or 'inet6' (ssh_config(5), AddressFamily).

    own: the end on this machine (BindAddress), '' for the system's choice.
    """

    family: str = "any"
    own: str = ""


def dial(
    address: str,
    port: int,
    *,
    what: str,
    host: str,
    limit_s: float,
    dead_after_s: float = 0.0,
    on_socket: Callable[[socket.socket], None] | None = None,
    ends: Ends | None = None,
) -> socket.socket:
    """Connect to `address`:`port`.

    Args:
        what: the service, for the sentence ("SSH", "the database").
        host: inventory name, for the error.
        limit_s: of all addresses that the name resolves to, together; each gets its share of what is left.
        dead_after_s: give a silent peer up after so many seconds (TCP_USER_TIMEOUT, man tcp(7)); 0 is the system's.
        on_socket: gets each socket before it connects: hanging it up from another thread ends the attempt.
        ends: which addresses both ends may have, as ssh_config says; None for the system's choice.

    Raises:
        TimedOut: no answer within the limit (a firewall that drops, a host that is down).
        NameUnknown: nobody here knows the name. ResolverSilent: nobody could be asked for it.
        Unreachable: nothing listens, or there is no route.
    """
    try:
        deadline = time.monotonic() + limit_s
        places = addresses_of(address, port, limit_s)
        ends = ends or Ends()
        if ends.family != "any":
            places = _of_family(places, ends.family, address=address, host=host)
        sock = _connected(places[:MOST_ADDRESSES], deadline, limit_s, _Before(on_socket, ends.own, host))
    except OSError as problem:
        raise unreachable_from(problem, address=address, port=port, what=what, host=host, limit_s=limit_s) from problem
    except UnicodeError as problem:  # no name that DNS could hold (encodings.idna)
        raise unreachable_from(
            socket.gaierror(socket.EAI_NONAME, tr("not a name")),
            address=address,
            port=port,
            what=what,
            host=host,
            limit_s=limit_s,
        ) from problem
    _tune(sock, dead_after_s)
    return sock


def _of_family(places: list[tuple[Any, ...]], family: str, *, address: str, host: str) -> list[tuple[Any, ...]]:
    wanted = _FAMILIES[family]
    if found := [place for place in places if place[0] == wanted]:
        return found
    raise Unreachable(
        tr(
            "{address} has no address of the family that ssh_config requires (AddressFamily {family}).",
            address=address,
            family=family,
        ),
        host=host,
        try_=(tr("Check AddressFamily: ssh -G {address}", address=address),),
    )


@dataclass(frozen=True, slots=True)
class _Before:
    """What is done with each socket before it connects."""

    on_socket: Callable[[socket.socket], None] | None
    own: str
    host: str

    def do(self, sock: socket.socket, limit_s: float) -> None:
        if self.on_socket is not None:
            self.on_socket(sock)
        if self.own:
            self._bind(sock, limit_s)

    def _bind(self, sock: socket.socket, limit_s: float) -> None:
        problem = OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
        try:
            own = [place for place in addresses_of(self.own, 0, limit_s) if place[0] == sock.family]
            if not own:
                raise problem
            sock.bind(own[0][4])
        except OSError as failed:
            raise Unreachable(
                tr(
                    "This workstation cannot bind to BindAddress {address} from ssh_config ({problem}).",
                    address=self.own,
                    problem=failed.strerror or failed,
                ),
                host=self.host,
                try_=(tr("Check the network and whether the VPN is up."),),
            ) from failed


def _connected(places: list[tuple[Any, ...]], deadline: float, limit_s: float, before: _Before) -> socket.socket:
    """Try the addresses in the resolver's order. Raises the last one's error."""
    problem: OSError = OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
    for number, (family, kind, protocol, _, place) in enumerate(places):
        share = (deadline - time.monotonic()) / (len(places) - number)
        if share <= 0:
            raise TimeoutError from problem
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(share)
            before.do(sock, share)
            sock.connect(place)
        except Unreachable:
            sock.close()
            raise
        except OSError as failed:
            sock.close()
            problem = failed
        else:
            sock.settimeout(limit_s)
            return sock
    raise problem


def unreachable_from(problem: OSError, *, address: str, port: int, what: str, host: str, limit_s: float) -> Unreachable:
    """Return the error a person understands for a failed connection attempt."""
    where = f"{address} port {port}"
    if isinstance(problem, socket.gaierror):
        return _no_address(problem, address, host)
    if isinstance(problem, TimeoutError):
        return TimedOut(
            tr("No answer from {what} on {where} within {limit:g} s.", what=what, where=where, limit=limit_s),
            host=host,
            try_=(tr("Check that the host is up, and that no firewall drops the connection (VPN up?)."),),
        )
    if isinstance(problem, ConnectionRefusedError):
        return NothingListens(
            tr("{where} refused the connection: {what} does not listen there.", where=where, what=what),
            host=host,
            try_=(
                tr(
                    "Check that {what} is running and listens on port {port} of this address, not only on 127.0.0.1.",
                    what=what,
                    port=port,
                ),
            ),
        )
    if problem.errno in _NO_ROUTE:
        return NoRoute(
            tr("There is no route to {where} ({problem}).", where=where, problem=problem.strerror),
            host=host,
            try_=(tr("Check the network and whether the VPN is up."),),
        )
    return Unreachable(
        tr(
            "{what} on {where} cannot be reached ({problem}).",
            what=f"{what[0].upper()}{what[1:]}",
            where=where,
            problem=problem.strerror or problem,
        ),
        host=host,
    )


def _no_address(problem: socket.gaierror, name: str, host: str) -> NameUnknown | ResolverSilent:
    """Return the error for a name without an address: it is not known, or nobody could say."""
    if problem.errno in _NOT_LOOKED_UP:
        return ResolverSilent(
            tr('The name "{name}" could not be looked up ({problem}).', name=name, problem=problem.strerror),
            name=name,
            host=host,
            try_=(tr("Check that this workstation reaches its DNS servers: the network, and whether the VPN is up."),),
        )
    return NameUnknown(
        tr('The name "{address}" cannot be resolved ({problem}).', address=name, problem=problem.strerror),
        name=name,
        host=host,
        try_=(tr("Check the address, the DNS servers and whether the VPN is up."),),
    )


def _tune(sock: socket.socket, dead_after_s: float) -> None:
    with contextlib.suppress(OSError):  # an option the platform lacks is no reason to fail
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if sys.platform == "linux" and dead_after_s > 0:
            # With this, keepalives that nobody acknowledges (sleep, a VPN that dropped) end the connection.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(dead_after_s * 1000))


def hang_up(sock: object) -> None:
    """Shut a socket (or what acts as one) down and close it, from any thread; a blocked reader wakes at once."""
    shutdown = getattr(sock, "shutdown", None)
    if shutdown is not None:
        with contextlib.suppress(OSError, EOFError):
            shutdown(socket.SHUT_RDWR)
    close = getattr(sock, "close", None)
    if close is not None:
        with contextlib.suppress(OSError, EOFError):
            close()

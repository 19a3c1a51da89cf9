"""One SSH connection to one host, through its hops, its key checked and its login done; channels are opened on it."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import paramiko

from services.connections.budget import UnderWay, reached
from services.connections.dial import Ends, dial, hang_up
from services.connections.limits import LOGIN_BYTES, Limits
from services.connections.openssh.algorithms import Offer, offer_for
from services.connections.ssh.auth import Login
from services.connections.ssh.config import hop_for, target_for
from services.connections.ssh.host_key_check import HostKeyPolicy, check_host_key, key_algorithms, known_for
from services.connections.ssh.host_keys import KnownHosts
from services.connections.ssh.proxy_process import ProxyProcess
from services.connections.ssh.target import SshTarget
from services.connections.ssh.transport import SshTransport
from services.errors import BadInput, OtherProtocol, TimedOut, Unreachable, UserError
from services.i18n import tr
from services.visible import as_line

if TYPE_CHECKING:
    from services.inventory.model import HostEntry, SshAccess
    from services.secrets import Vault

MOST_HOPS = 8
_MOST_SAID = 300
"""Characters of what a host said instead of a greeting."""


class SshLink:
    """A standing connection. Channels may be opened from any thread; `close` may be called from any thread.

    Attributes:
        peer: the address that answered, of a host that was dialled from here; '' behind jump hosts and a ProxyCommand.
    """

    def __init__(self, transport: SshTransport, target: SshTarget, host: str, limits: Limits) -> None:
        self._transport = transport
        self._host = host
        self._limits = limits
        self._below: list[SshLink] = []
        self._process: ProxyProcess | None = None
        self.target = target
        self.login = ""
        self.peer = ""

    @classmethod
    def open(
        cls,
        entry: HostEntry,
        vault: Vault,
        *,
        policy: HostKeyPolicy | None,
        limits: Limits,
        under_way: UnderWay | None = None,
        sought: Callable[[str], None] | None = None,
    ) -> SshLink:
        """Connect, check the host key and log in, hop by hop. Raises UserError subclasses only.

        Args:
            under_way: gets each socket as it is made; cutting it ends this call with an error.
            sought: gets the host's name or address as ssh_config gives it, before anybody is dialled.
        """
        access = entry.ssh
        if access is None:
            raise BadInput(tr("The inventory has no SSH connection to this host."), host=entry.name)
        opener = _Opener(access, vault, entry.name, policy, limits, under_way or UnderWay())
        target = target_for(access, entry.address)
        if entry.ways_of and target.strict == "accept-new":  # a person's word for their own hosts, not for named ones
            target = dataclasses.replace(target, strict="ask")
        if sought is not None:
            sought(target.host)
        return opener.open(target, depth=0)

    def rests_on(self, below: list[SshLink], process: ProxyProcess | None) -> None:
        """Take over what lies below this link; it is closed with it, the nearest first."""
        self._below = below
        self._process = process

    @property
    def alive(self) -> bool:
        """Return whether the connection stands, as far as is known here."""
        return self._transport.is_active()

    @property
    def transport(self) -> SshTransport:
        """Return the transport, for the modules of this package."""
        return self._transport

    def session(self, limit_s: float) -> paramiko.Channel:
        """Open a channel for a command."""
        return self._channel(
            lambda limit: self._transport.open_session(timeout=limit),
            tr("a session"),
            tr("Check MaxSessions in sshd_config."),
            limit_s,
        )

    def tcp(self, address: str, port: int, *, limit_s: float | None = None) -> paramiko.Channel:
        """Open a channel to `address`:`port` as the host sees it (direct-tcpip; no port listens anywhere)."""
        return self._channel(
            lambda limit: self._transport.open_channel(
                "direct-tcpip", (address, port), ("127.0.0.1", 0), timeout=limit
            ),
            tr("a tunnel to {address} port {port}", address=address, port=port),
            tr(
                "Check that a server listens on {address} port {port} of the host, and AllowTcpForwarding in "
                "sshd_config.",
                address=address,
                port=port,
            ),
            limit_s,
            at_once=address == "127.0.0.1",
        )

    def unix(self, path: str, *, limit_s: float | None = None) -> paramiko.Channel:
        """Open a channel to a Unix socket of the host (direct-streamlocal@openssh.com, OpenSSH 6.7 and newer)."""
        return self._channel(
            lambda limit: self._transport.open_unix(path, limit_s=limit),
            tr("a tunnel to the socket {path}", path=path),
            tr(
                "Check that {path} exists and {user} may open it, and AllowStreamLocalForwarding in sshd_config.",
                path=path,
                user=self.target.user,
            ),
            limit_s,
        )

    def _channel(
        self,
        opening: Callable[[float], paramiko.Channel],
        what: str,
        advice: str,
        limit_s: float | None,
        *,
        at_once: bool = True,
    ) -> paramiko.Channel:
        """Open a channel.

        Args:
            at_once: a living host answers this at once; one that does not is taken for gone and given up.
        """
        limit = min(self._limits.channel_s, limit_s or self._limits.channel_s)
        try:
            return opening(limit)
        except paramiko.ChannelException as problem:
            raise Unreachable(
                tr("The host refused {what} ({problem}).", what=what, problem=as_line(problem.text, _MOST_SAID)),
                host=self._host,
                try_=(advice,),
            ) from problem
        except (paramiko.SSHException, EOFError, OSError) as problem:
            if "Timeout" in str(problem):
                if at_once:
                    self.abort()
                raise TimedOut(
                    tr("The host did not open {what} within {limit:g} s.", what=what, limit=limit), host=self._host
                ) from problem
            raise self.lost(problem) from problem

    def lost(self, problem: BaseException | None = None) -> Unreachable:
        """Return the error for a connection that ended."""
        why = f" ({as_line(str(problem), _MOST_SAID)})" if problem is not None and str(problem) else ""
        ended = Unreachable(
            tr("The SSH connection to {where} ended{why}.", where=self.target.where, why=why), host=self._host
        )
        return ended if self._process is None else self._process.explained(ended)

    def abort(self) -> None:
        """Cut the connection from any thread without waiting; blocked calls of other threads end with an error."""
        self._transport.active = False
        hang_up(self._transport.sock)
        for hop in self._below:
            hop.abort()

    def close(self) -> None:
        """Close the connection and the hops below it, and join their threads. Idempotent."""
        self.abort()
        with contextlib.suppress(EOFError, OSError, paramiko.SSHException):
            self._transport.close()
        for hop in self._below:
            hop.close()
        if self._process is not None:
            self._process.close(self._limits.close_s)
        self._transport.join(self._limits.close_s)


class _Opener:
    """What stays the same over the hops of one connection."""

    def __init__(
        self,
        access: SshAccess,
        vault: Vault,
        host: str,
        policy: HostKeyPolicy | None,
        limits: Limits,
        under_way: UnderWay,
    ) -> None:
        self._access = access
        self._vault = vault
        self._host = host
        self._policy = policy
        self._limits = limits
        self._under_way = under_way

    def open(self, target: SshTarget, *, depth: int, through: SshLink | None = None) -> SshLink:
        """Open the link to `target`, first those below it."""
        if depth > MOST_HOPS:
            raise BadInput(tr("The jump hosts of {alias} form a loop.", alias=target.alias), host=self._host)
        known = known_for(target)
        algorithms = key_algorithms(target, known)  # before anybody is dialled: both may refuse
        offer = offer_for(target)
        below: list[SshLink] = [through] if through is not None else []
        process: ProxyProcess | None = None
        try:
            for number, hop in enumerate(target.jumps):
                last = below[-1] if below else None
                resolved = hop_for(self._access, hop, before=",".join(target.jumps[:number]))
                below.append(self.open(resolved, depth=depth + 1, through=last))
            if below:
                sock: object = below[-1].tcp(target.host, target.port)
            elif target.proxy_command:
                process = ProxyProcess(target.proxy_command, self._host)
                sock = process.sock
            else:
                sock = self._dial(target)
            link = self._greet(sock, target, algorithms, offer, known if process is not None else None)
        except BaseException as problem:
            for opened in reversed(below):
                opened.close()
            if process is not None:
                process.close(self._limits.close_s)
                if isinstance(problem, Unreachable):
                    raise process.explained(problem) from problem
            raise
        link.rests_on(below[::-1], process)
        try:
            self._enter(link, target, is_hop=depth > 0)
        except BaseException:
            link.close()
            raise
        return link

    def _dial(self, target: SshTarget) -> object:
        interval = self._alive(target)
        count = target.alive_count or self._limits.keepalive_misses
        return dial(
            target.host,
            target.port,
            what="SSH",
            host=self._host,
            limit_s=target.connect_timeout_s or self._limits.connect_s,
            dead_after_s=interval * count,
            on_socket=self._under_way.take,
            ends=Ends(target.address_family, target.bind_address),
        )

    def _alive(self, target: SshTarget) -> float:
        return target.alive_interval_s if target.alive_interval_s is not None else self._limits.keepalive_s

    def _greet(
        self, sock: object, target: SshTarget, algorithms: tuple[str, ...], offer: Offer, known: KnownHosts | None
    ) -> SshLink:
        """Exchange keys over `sock`; no secret has been sent yet.

        Args:
            known: what is read again when the host has greeted: a program on the way may write it.
        """
        self._under_way.take(sock)
        transport: SshTransport | None = None
        try:
            transport = SshTransport(sock)
            transport.meter.begin(self._limits.handshake_s, LOGIN_BYTES)
            transport.clear_to_send_timeout = self._limits.handshake_s
            transport.host_key_algorithms = algorithms
            if known is not None:
                transport.order_anew = lambda: key_algorithms(target, known.read_again())
            transport.offer(offer)
            transport.name = f"ssh {self._host}"
            transport.banner_timeout = self._limits.handshake_s
            transport.handshake_timeout = self._limits.handshake_s
            transport.auth_timeout = self._limits.auth_s
            transport.start_client(timeout=self._limits.handshake_s)
            late = None if transport.initial_kex_done else TimeoutError()  # paramiko returns without a word then
        except Exception as problem:
            hang_up(sock)
            raise self._not_ssh(problem, target, other=transport is not None and transport.other_protocol) from problem
        if late is not None:
            hang_up(sock)
            raise self._not_ssh(late, target, other=transport.other_protocol)
        transport.meter.begin(None, LOGIN_BYTES)  # a person may be asked about the key; each login has its own time
        return SshLink(transport, target, self._host, self._limits)

    def _enter(self, link: SshLink, target: SshTarget, *, is_hop: bool) -> None:
        """Check the key and log in."""
        try:
            self._log_in(link, target, is_hop=is_hop)
        except UserError:
            raise
        except Exception as problem:
            # Keys, certificates and answers are the host's own bytes: paramiko and cryptography raise anything.
            raise self._not_ssh(problem, target) from problem

    def _log_in(self, link: SshLink, target: SshTarget, *, is_hop: bool) -> None:
        key = link.transport.get_remote_server_key()
        link.peer = _address_of(link.transport.meter.below)
        check_host_key(
            key,
            target=target,
            known=known_for(target, key),
            host=self._host,
            policy=self._policy,
            address=link.peer,
        )
        access = self._access
        if is_hop:
            # The host's own password is nobody else's business.
            access = _without_password(access)
        link.login = Login(link.transport, target, self._host, self._limits.auth_s).run(access, self._vault)
        link.transport.meter.free()
        link.transport.set_keepalive(int(self._alive(target)))

    def _not_ssh(self, problem: BaseException, target: SshTarget, *, other: bool = False) -> UserError:
        """Return the error for what went wrong; other: what came is another protocol's."""
        text = as_line(str(problem), _MOST_SAID)
        limit = reached(problem)
        if limit == "size":
            return Unreachable(
                tr(
                    "{host} port {port} sent more than {n} kB before the login was complete.",
                    host=target.host,
                    port=target.port,
                    n=LOGIN_BYTES // 1024,
                ),
                host=self._host,
                try_=(tr("Check that this is the SSH port, and that it is the right machine."),),
            )
        if other:
            return OtherProtocol(
                tr("What listens on {host} port {port} does not speak SSH.", host=target.host, port=target.port),
                host=self._host,
                try_=(tr("Check the port: another service may use it."),),
            )
        if limit == "time" or isinstance(problem, TimeoutError):
            return TimedOut(
                tr(
                    "{host} port {port} sent no SSH greeting within {limit:g} s.",
                    host=target.host,
                    port=target.port,
                    limit=self._limits.handshake_s,
                ),
                host=self._host,
                try_=(tr("Check that the host is not overloaded or stopped, and that this is its SSH port."),),
            )
        if isinstance(problem, paramiko.ssh_exception.IncompatiblePeer):
            return Unreachable(
                tr("{host} and Pilothouse have no SSH algorithm in common ({text}).", host=target.host, text=text),
                host=self._host,
                try_=(_about_algorithms(target),),
            )
        told = isinstance(problem, paramiko.SSHException | EOFError | OSError)
        why = (text or tr("it closed the connection")) if told else tr("the data is not SSH")
        return Unreachable(
            tr(
                "{host} port {port} did not complete the SSH greeting: {why}.",
                host=target.host,
                port=target.port,
                why=why,
            ),
            host=self._host,
            try_=(tr("Check that this is the SSH port, and MaxStartups and address filters on the host."),),
        )


def _about_algorithms(target: SshTarget) -> str:
    if target.ciphers or target.macs or target.kex or target.host_key_algorithms:
        return tr("ssh_config lists the algorithms for this host: ssh -G {address}", address=target.alias)
    return tr("Update the host's OpenSSH; algorithms with SHA-1 are not offered.")


def _address_of(sock: object) -> str:
    """Return the address of the host's end of a connection that was dialled from here; '' for any other way."""
    if not isinstance(sock, socket.socket) or sock.family not in {socket.AF_INET, socket.AF_INET6}:
        return ""
    return str(sock.getpeername()[0])


def _without_password(access: SshAccess) -> SshAccess:
    return dataclasses.replace(access, password=None)

"""paramiko's Transport with what it lacks: the server's Unix sockets, limits on every request, fewer idle wake-ups."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import paramiko
from paramiko.common import (
    MSG_CHANNEL_DATA,
    MSG_CHANNEL_EXTENDED_DATA,
    cMSG_CHANNEL_OPEN,
    cMSG_CHANNEL_REQUEST,
)

from services.connections.budget import Metered
from services.connections.dial import hang_up
from services.connections.openssh.algorithms import Offer
from services.connections.ssh.group import BoundedGroupExchange
from services.connections.ssh.packets import BoundedPacketizer, within_window
from services.errors import UserError
from services.i18n import tr

# Whatever paramiko logs (tracebacks of a dropped connection) is raised as a sentence by this package.
logging.getLogger("paramiko").setLevel(logging.CRITICAL)


class SshTransport(paramiko.Transport):
    """A client transport.

    `host_key_algorithms` are offered in exactly this order (paramiko would put certificates last). `order_anew` is
    asked for them when the host has greeted, as ssh looks into known_hosts then; its errors leave them as they are.
    """

    # How often the reading thread looks whether it should end or send a keepalive. paramiko's 0.1 s costs 1.1 % of a
    # core for 50 idle hosts (performance notes); closing shuts the socket down, so nobody waits for this.
    _active_check_timeout = 1.0

    host_key_algorithms: tuple[str, ...] = ()
    order_anew: Callable[[], tuple[str, ...]] | None = None

    if TYPE_CHECKING:  # parts of paramiko's Transport that its stubs leave out
        active: bool
        initial_kex_done: bool
        _channels: Any
        _sanitize_window_size: Any
        _sanitize_packet_size: Any
        _next_channel: Any
        completion_event: Any
        auth_handler: Any
        clear_to_send_timeout: float

    _channel_handler_table: ClassVar[dict[int, Any]] = {
        **paramiko.Transport._channel_handler_table,  # type: ignore[attr-defined]  # noqa: SLF001
        MSG_CHANNEL_DATA: within_window(paramiko.Channel._feed),  # type: ignore[attr-defined]  # noqa: SLF001
        MSG_CHANNEL_EXTENDED_DATA: within_window(paramiko.Channel._feed_extended),  # type: ignore[attr-defined]  # noqa: SLF001
    }

    _kex_info: ClassVar[dict[str, Any]] = {
        **paramiko.Transport._kex_info,  # type: ignore[attr-defined]  # noqa: SLF001
        BoundedGroupExchange.name: BoundedGroupExchange,
        # RFC 8731's name of what libssh.org had named first.
        "curve25519-sha256": paramiko.Transport._kex_info["curve25519-sha256@libssh.org"],  # type: ignore[attr-defined]  # noqa: SLF001
    }

    def __init__(self, sock: object) -> None:
        """Speak over `sock`: a socket, a channel or a program's pipes."""
        self.meter = Metered(sock)
        super().__init__(self.meter, packetizer_class=BoundedPacketizer)  # type: ignore[arg-type]
        self.offer(Offer())
        packetizer = cast("BoundedPacketizer", self.packetizer)
        packetizer.is_open = lambda number: self._channels.get(number) is not None
        packetizer.asked_by_password = lambda: getattr(self.auth_handler, "auth_method", "") == "password"

    def offer(self, offered: Offer) -> None:
        """Say before the connection begins what it may be made of."""
        options = self.get_security_options()
        options.ciphers, options.digests, options.kex = offered.ciphers, offered.macs, offered.kex
        self._preferred_pubkeys = offered.rsa  # of which paramiko looks at RSA's alone: other keys have one each

    @property
    def other_protocol(self) -> bool:
        """Return whether what came for a greeting is another service's."""
        return cast("BoundedPacketizer", self.packetizer).other_protocol

    def run(self) -> None:
        """Read until the connection ends: paramiko's own loop, which ends with closing what it read from.

        Through a jump host that is a channel, and closing the channel of a hop that ended first raises (Transport.run,
        its last line); so does what a server's bytes bring paramiko to while it tells of an error. Nothing is left to
        be done then, and the thread would die with a traceback.
        """
        with contextlib.suppress(Exception):
            super().run()
        if getattr(self, "active", False):
            self._end()

    def _end(self) -> None:
        """Wake everybody who waits for this connection, as paramiko's own loop does where it ends by itself."""
        self.active = False
        self.packetizer.close()
        waiting = [self.completion_event, *self.channel_events.values()]
        if self.auth_handler is not None:
            self.auth_handler.abort()
        for event in waiting:
            if event is not None:
                event.set()

    def get_exception(self) -> Exception | None:
        """Return what ended the connection, as one of three kinds.

        A server's bytes bring paramiko to raise anything: struct.error, IndexError, UnicodeDecodeError, KeyError ...
        """
        problem = super().get_exception()
        if problem is None or isinstance(problem, paramiko.SSHException | EOFError | OSError):
            return problem
        strange = paramiko.SSHException(tr("the data is not SSH"))
        strange.__cause__ = problem
        return strange

    def _send_user_message(self, data: paramiko.Message) -> None:
        """Send a message of ours; a peer that began new keys and never ends that is given up."""
        try:
            super()._send_user_message(data)  # type: ignore[misc]
        except paramiko.SSHException:
            self.active = False
            hang_up(self.sock)
            raise

    @property
    def preferred_keys(self) -> Sequence[str]:
        """Return the host key algorithms to ask for."""
        if self.order_anew is not None:
            order_anew, self.order_anew = self.order_anew, None
            with contextlib.suppress(UserError):
                self.host_key_algorithms = order_anew()
        return self.host_key_algorithms or super().preferred_keys

    def open_unix(self, path: str, *, limit_s: float) -> paramiko.Channel:
        """Open a channel to a Unix socket on the server.

        Source: OpenSSH PROTOCOL, section 2.4: "direct-streamlocal@openssh.com", socket path, reserved string,
        reserved uint32. paramiko's open_channel can't add fields to a kind it does not know, hence this twin of it.
        """
        with self.lock:
            window = self._sanitize_window_size(None)
            packet = self._sanitize_packet_size(None)
            number = self._next_channel()
            message = paramiko.Message()
            message.add_byte(cMSG_CHANNEL_OPEN)
            message.add_string("direct-streamlocal@openssh.com")
            message.add_int(number)
            message.add_int(window)
            message.add_int(packet)
            message.add_string(path)
            message.add_string("")
            message.add_int(0)
            channel: Any = paramiko.Channel(number)
            self._channels.put(number, channel)
            self.channel_events[number] = event = threading.Event()
            self.channels_seen[number] = True
            channel._set_transport(self)  # noqa: SLF001 - as open_channel itself does
            channel._set_window(window, packet)  # noqa: SLF001
        self._send_user_message(message)
        deadline = time.monotonic() + limit_s
        while not event.wait(0.1):
            if not self.active or time.monotonic() > deadline:
                break
        if event.is_set() and self._channels.get(number) is channel:
            opened: paramiko.Channel = channel
            return opened
        raise self.get_exception() or paramiko.SSHException("Timeout opening channel.")

    def request_exec(self, channel: paramiko.Channel, command: str, *, limit_s: float) -> None:
        """Start a command; like Channel.exec_command, which waits without a limit (a stopped sshd never answers)."""
        message = paramiko.Message()
        message.add_byte(cMSG_CHANNEL_REQUEST)
        message.add_int(channel.remote_chanid)
        message.add_string("exec")
        message.add_boolean(True)
        message.add_string(command)
        channel.event.clear()
        channel.event_ready = False
        self._send_user_message(message)
        if not channel.event.wait(limit_s):
            raise TimeoutError
        if not channel.event_ready:
            raise self.get_exception() or paramiko.SSHException(tr("The host refused to start a command."))

"""paramiko's Transport with what it lacks: the server's Unix sockets, limits on every request, fewer idle wake-ups."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import paramiko
from paramiko.common import cMSG_CHANNEL_OPEN, cMSG_CHANNEL_REQUEST

from services.words import tr

# Whatever paramiko logs (tracebacks of a dropped connection) is raised as a sentence by this package.
logging.getLogger("paramiko").setLevel(logging.CRITICAL)


class SshTransport(paramiko.Transport):
    """A client transport.

    `host_key_algorithms` are offered in exactly this order (paramiko would put certificates last).
    """

    # How often the reading thread looks whether it should end or send a keepalive. paramiko's 0.1 s costs 1.1 % of a
    # core for 50 idle hosts (performance notes); closing shuts the socket down, so nobody waits for this.
    _active_check_timeout = 1.0

    host_key_algorithms: tuple[str, ...] = ()

    if TYPE_CHECKING:  # parts of paramiko's Transport that its stubs leave out
        active: bool
        initial_kex_done: bool
        _channels: Any
        _sanitize_window_size: Any
        _sanitize_packet_size: Any
        _next_channel: Any
        _send_user_message: Any

    def run(self) -> None:
        """Read until the connection ends: paramiko's own loop, which ends with closing what it read from.

        Through a jump host that is a channel, and closing the channel of a hop that ended first raises (Transport.run,
        its last line): nothing is left to be done then, and the thread would die with a traceback.
        """
        with contextlib.suppress(EOFError, OSError, paramiko.SSHException):
            super().run()

    @property
    def preferred_keys(self) -> Sequence[str]:
        """Return the host key algorithms to ask for."""
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

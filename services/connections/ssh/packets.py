"""SSH packets within limits: none larger than the protocol needs, none that nobody asked for without end.

paramiko believes the length a packet announces (4 GB), keeps what comes beyond a channel's window, and reads what no
channel wants for as long as it comes. It counts to whatever number a message begins with (4,294,967,295), what stands
behind it or not: one packet of 13 bytes held a core for hours, another one took all memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import paramiko
from paramiko.packet import Packetizer

from services.connections.budget import Metered
from services.connections.dial import hang_up
from services.connections.ssh.questions import PasswordExpired

MOST_PACKET: Final = 64 * 1024
"""RFC 4253, section 6.1: 35,000 bytes must be understood; we take 32,768 bytes of data in a packet of a channel."""
SEND_S: Final = 20.0
"""One packet, of 32 kB at most, to a peer that reads."""
UNASKED_BYTES: Final = 6 * 1024 * 1024
"""What no open channel wants, at once: a channel that is closed here may have a window of 2 MB under way."""
UNASKED_BYTES_S: Final = 128 * 1024
"""And how much of it each second for good; keepalives and what surrounds commands are far below."""
MESSAGE_COST: Final = 256
KEY_CHANGES: Final = 10
KEY_CHANGE_EVERY_S: Final = 60.0
"""A peer may ask for new keys as often as it likes, and each costs a tenth of a second in which no other thread runs.
An OpenSSH server asks once an hour, or after a gigabyte (sshd_config(5), RekeyLimit)."""
_KEXINIT: Final = 20
_PASSWORD_CHANGE: Final = 60
_COUNTED: Final = {7: (0, 8), 60: (3, 5)}
"""Messages with a count: how many strings stand before it, and the fewest bytes of each that it counts.

SSH_MSG_EXT_INFO (RFC 8308, section 2.3): names and values; SSH_MSG_USERAUTH_INFO_REQUEST (RFC 4256, section 3.2):
title, instructions, language, then prompts with a flag. 60 also asks for a new password: two strings and no count."""
_SSHD_REFUSES: Final = ("Exceeded MaxStartups", "Not allowed at this time")
"""What OpenSSH's sshd sends for a greeting to whom it drops (sshd.c, drop_connection; sshd_config(5), MaxStartups and
PerSourcePenalties)."""
_DATA: Final = frozenset({94, 95})  # SSH_MSG_CHANNEL_DATA, SSH_MSG_CHANNEL_EXTENDED_DATA (RFC 4254, section 5.2)


class BoundedPacketizer(Packetizer):
    """paramiko's packets over a Metered socket, with a largest size, a time for sending, and a purse for the unasked.

    Attributes:
        is_open: tells whether a channel's number is that of an open one.
        other_protocol: whether what came for a greeting is another service's.
        asked_by_password: tells whether a password was offered last: what 60 means depends on it (RFC 4252, section 6).
    """

    def __init__(self, sock: Metered) -> None:
        super().__init__(sock)  # type: ignore[arg-type] # it receives, sends, limits and closes
        self._sock = sock
        self.is_open: Callable[[int], bool] = lambda _: True
        self.other_protocol = False
        self.asked_by_password: Callable[[], bool] = lambda: False
        self._unasked = float(UNASKED_BYTES)
        self._filled = time.monotonic()
        self._key_changes = float(KEY_CHANGES)
        self._key_changed = self._filled

    def readline(self, timeout: float) -> str:
        """Receive a line of the greeting. Text of an SSH server may come before its version, and sshd says two itself.

        Source: RFC 4253, section 4.2.
        """
        try:
            line = str(super().readline(timeout))
        except UnicodeDecodeError:
            self.other_protocol = True
            raise
        self.other_protocol = not line.startswith(("SSH-", *_SSHD_REFUSES))
        return line

    def read_all(self, n: int, check_rekey: bool = False) -> bytes:
        """Receive `n` bytes, unless no packet of ours can have so many."""
        if not 0 <= n <= MOST_PACKET:
            raise paramiko.SSHException(f"a packet of {n} bytes")
        return super().read_all(n, check_rekey)

    def write_all(self, out: bytes) -> None:  # type: ignore[override]
        """Send a packet in its time. What was begun and not sent ends the connection: nothing could follow it."""
        self._sock.sending(SEND_S)
        try:
            super().write_all(out)
        except EOFError:
            hang_up(self._sock)
            raise
        finally:
            self._sock.sending(None)

    def read_message(self) -> tuple[int, paramiko.Message]:
        """Read one message; more than the purse holds of those that nobody wants ends the connection."""
        kind, message = super().read_message()
        if kind == _KEXINIT:
            self._count_key_change()
        if kind == _PASSWORD_CHANGE and self.asked_by_password():
            raise PasswordExpired
        if kind in _COUNTED:
            _refuse_a_count_of_more_than_came(message, *_COUNTED[kind])
        if kind in _DATA:
            number = message.get_int()
            message.rewind()
            if self.is_open(number):
                return kind, message
        now = time.monotonic()
        self._unasked = min(UNASKED_BYTES, self._unasked + (now - self._filled) * UNASKED_BYTES_S)
        self._filled = now
        self._unasked -= MESSAGE_COST + len(message.get_remainder())
        if self._unasked < 0:
            raise paramiko.SSHException("it sends without end what nobody asked for")
        return kind, message

    def _count_key_change(self) -> None:
        now = time.monotonic()
        left = self._key_changes + (now - self._key_changed) / KEY_CHANGE_EVERY_S
        self._key_changes, self._key_changed = min(float(KEY_CHANGES), left) - 1.0, now
        if self._key_changes < 0:
            raise paramiko.SSHException("it asks for new keys without end")

    # paramiko's own clock of the handshake is a thread; it stops at the first message, or outlives its connection.

    def start_handshake(self, timeout: float) -> None:
        """Leave the time to the Metered socket."""

    def handshake_timed_out(self) -> bool:
        """Return False: the Metered socket raises."""
        return False

    def complete_handshake(self) -> None:
        """Leave the time to the Metered socket."""


def _refuse_a_count_of_more_than_came(message: paramiko.Message, strings: int, fewest: int) -> None:
    for _ in range(strings):
        message.get_string()
    if message.get_int() * fewest > len(message.get_remainder()):
        raise paramiko.SSHException("it counts more than it sends")
    message.rewind()


def within_window(take: Callable[[paramiko.Channel, paramiko.Message], None]) -> Callable[..., None]:
    """Return paramiko's way of taking a channel's data, for as long as the peer keeps to the window it was given."""

    def bounded(channel: paramiko.Channel, message: paramiko.Message) -> None:
        waiting = len(channel.in_buffer) + len(channel.in_stderr_buffer)
        if waiting + len(message.get_remainder()) > channel.in_window_size + MOST_PACKET:
            raise paramiko.SSHException("it sent more than a channel's window allows")
        take(channel, message)

    return bounded

"""How long and how much: every limit of the connection layer in one value. Nothing here waits or reads without one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LOGIN_BYTES: Final = 1024 * 1024
"""All that a server may send until a login is through. An OpenSSH server sends 5 kB, a database server with its
certificates 10 kB; a greeting without end took gigabytes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one host's connections. Times in seconds, sizes in bytes.

    Attributes:
        connect_s: making one TCP connection, all addresses of a name together.
        handshake_s: SSH banner and key exchange; also the whole login of a database.
        auth_s: one login, all methods together.
        channel_s: opening a channel or a tunnel in a standing SSH connection.
        keepalive_s: interval of SSH keepalives, unless ServerAliveInterval says otherwise; 0 is off.
        keepalive_misses: unanswered intervals after which the kernel gives the connection up.
        output_bytes: most that is kept of a command's stdout, and of its stderr; one that goes on to eight times as
            much is ended.
        line_bytes: longest line of a stream.
        stream_bytes_s: most that a stream brings each second over a minute.
        result_bytes: largest SQL result.
        backoff_first_s, backoff_most_s: waits between attempts to reconnect.
        close_s: how long closing may wait for a thread to end.
    """

    connect_s: float = 10.0
    handshake_s: float = 15.0
    auth_s: float = 20.0
    channel_s: float = 10.0
    keepalive_s: float = 15.0
    keepalive_misses: int = 3
    output_bytes: int = 8 * 1024 * 1024
    line_bytes: int = 1024 * 1024
    stream_bytes_s: int = 256 * 1024
    result_bytes: int = 32 * 1024 * 1024
    backoff_first_s: float = 1.0
    backoff_most_s: float = 30.0
    close_s: float = 5.0

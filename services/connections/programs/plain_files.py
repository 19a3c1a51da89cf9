"""A read of a file's content reads a regular file, and ends on the host when nobody waits for it any more.

Who has the server's account may put a named pipe in the place of a log or a state file, or a link to a device: opening
the one waits for a writer (fifo(7)), reading the other never ends, and closing the channel ends neither.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.connections.command import Command

ONLY_PLAIN = r"""[ ! -e "$1" ] || [ -f "$1" ] || { printf '%s is no regular file: not read\n' "$1" >&2; exit 73; }
shift; exec "$@"
"""
"""$1 the file, then the command. What is not there, or hidden from the login, the command itself says in its words.

What is put there between the two is read, or waited for, until timeout(1) ends it.
"""


def within(command: Command, limit_s: float) -> Command:
    """Return how a read is sent: one of a file's content within its limit, and of a regular file; any other as it is.

    It is made where a read is sent, so that what is registered, allowed and told stays the read's own words.
    """
    if not command.plain:
        return command
    ends = str(max(1, math.ceil(limit_s)))
    words = ("timeout", ends, "sh", "-c", ONLY_PLAIN, "pilothouse", command.plain, *command.argv)
    return replace(command, argv=words, plain="")

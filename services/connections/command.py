"""Commands for hosts as structure: words, quoting and masks, so that no string is ever pasted together.

The idea (bits, quoted bits, masked bits, `str` always the masked form) is pyinfra's; the code is ours.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from services.secrets import Secret

MASK = "********"


@dataclass(frozen=True, slots=True)
class Command:
    """One program and its arguments, run without a shell's interpretation of any of them.

    Attributes:
        argv: program and arguments; each becomes exactly one word on the host.
        sudo: run as root where the login is not root.
        stdin: secret text sent on standard input (never on the command line).
        environment: variables set for the command, names checked, values quoted.
    """

    argv: tuple[str, ...]
    sudo: bool = False
    stdin: Secret | None = None
    environment: tuple[tuple[str, str], ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            message = "a command needs a program"
            raise ValueError(message)
        for word in self.argv:
            if "\0" in word:
                message = "a command's word can't hold a NUL"
                raise ValueError(message)
        for name, _ in self.environment:
            if not name.isidentifier():
                message = f"not a variable name: {name!r}"
                raise ValueError(message)

    def shell_text(self) -> str:
        """Return the line for a POSIX shell on the host, every word quoted. Holds no secret by construction."""
        settings = [f"{name}={shlex.quote(value)}" for name, value in self.environment]
        words = [shlex.quote(word) for word in self.argv]
        return " ".join([*(["env", *settings] if settings else []), *words])

    def __str__(self) -> str:
        shown = self.shell_text()
        if self.sudo:
            shown = f"sudo {shown}"
        if self.stdin is not None:
            shown = f"{shown} <<< {MASK}"
        return shown

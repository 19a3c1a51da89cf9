"""Commands for hosts as structure: words, quoting and masks, so that no string is ever pasted together.

The idea (bits, quoted bits, masked bits, `str` always the masked form) is pyinfra's; the code is ours.

The shell that reads the line is the login's own, and it may be fish: there a backslash before a quote or another
backslash escapes it within single quotes too (fish manual, "Quotes"). Such a one is written in double quotes, which
mean the same to fish and to POSIX shells (POSIX.1-2017, 2.2.3).
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace

from services.secrets import Secret

MASK = "********"
AS_MYSQL = ("setpriv", "--reuid=mysql", "--regid=mysql", "--clear-groups", "--no-new-privs", "--")
"""What stands before a server's own program where it only tries its configuration (setpriv(1), util-linux 2.24).

With --user=mysql it opens HOST.lower-test in its data folder first, where the account may have laid a link: root made
the file that it led to (tried with MariaDB 10.11.18 and MySQL 9.7.4).
"""
_ESCAPING = re.compile(r"\\(?=['\\]|\Z)")


_LONGEST, _BEGINNING = 160, 24


@dataclass(frozen=True, slots=True)
class Command:
    """One program and its arguments, run without a shell's interpretation of any of them.

    Attributes:
        argv: program and arguments; each becomes exactly one word on the host.
        sudo: run as root where the login is not root.
        stdin: secret text sent on standard input (never on the command line).
        environment: variables set for the command, names checked, values quoted.
        plain: a file among its words that is read only where it is a regular one (plain_files.py); '' for none.
    """

    argv: tuple[str, ...]
    sudo: bool = False
    stdin: Secret | None = None
    environment: tuple[tuple[str, str], ...] = field(default=())
    plain: str = ""

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            message = "a command needs a program"
            raise ValueError(message)
        for word in self.argv:
            if "\0" in word:
                message = "a command's word cannot hold a NUL"
                raise ValueError(message)
        for name, _ in self.environment:
            if not name.isidentifier():
                message = f"not a variable name: {name!r}"
                raise ValueError(message)

    def shell_text(self) -> str:
        """Return the line for the shell on the host, every word quoted. Holds no secret by construction."""
        settings = [f"{name}={_quoted(value)}" for name, value in self.environment]
        words = [_quoted(word) for word in self.argv]
        return " ".join([*(["env", *settings] if settings else []), *words])

    @property
    def brief(self) -> str:
        """Return it for a sentence: of a word that is a script, or long, only its beginning."""
        return str(replace(self, argv=tuple(map(_short, self.argv))))

    def __str__(self) -> str:
        shown = self.shell_text()
        if self.sudo:
            shown = f"sudo {shown}"
        if self.stdin is not None:
            shown = f"{shown} <<< {MASK}"
        return shown


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST and "\n" not in word else f"{word[:_BEGINNING].partition(chr(10))[0]}..."


def _quoted(word: str) -> str:
    """Return one word of a shell's line."""
    parts = _ESCAPING.split(word)
    if len(parts) == 1:
        return shlex.quote(word)
    return '"\\\\"'.join(shlex.quote(part) if part else "" for part in parts)

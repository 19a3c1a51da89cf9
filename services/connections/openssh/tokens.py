"""What stands for something else in an ssh_config's values: %h, ${VARIABLE}, ~ (man ssh_config(5), TOKENS).

One pass as in OpenSSH (misc.c, percent_dollar_expand), so that a value's own % stays; what is not known is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from services.connections.openssh.own_account import below_home, own_login
from services.errors import BadInput
from services.i18n import tr

_TOKEN = re.compile(r"%(.?)|\$\{([^}]*)(\}?)", re.DOTALL)
OF_A_PROGRAM = "hnprk"
"""Of ProxyCommand."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The names of one connection: host as it is connected to, alias as it was asked for, key_alias as keys have it."""

    alias: str
    host: str
    port: int
    user: str
    key_alias: str = ""
    jump: str = ""

    def put_in(
        self,
        text: str,
        what: str,
        *,
        only: str = "",
        environment: bool = True,
        more: Mapping[str, str] | None = None,
    ) -> str:
        """Return the text with its tokens replaced. Raises BadInput for one that is not known.

        Args:
            what: the option whose value it is, for the sentence.
            only: the letters that may stand there; '' is every one of the file names'.
            environment: ${VARIABLE} is one, too.
            more: letters that stand for something in this option alone.
        """

        def value(found: re.Match[str]) -> str:
            if more is not None and found[1] in more:
                return more[found[1]]
            if found[1] is not None:
                return self._token(found[1], what, only)
            if not environment:
                return found[0]
            name, closed = found[2], found[3]
            if not closed or name not in os.environ:
                raise BadInput(
                    tr("ssh_config: {key} names a variable that is not set: {text}", key=what, text=found[0]),
                    safe=tr("No host was contacted."),
                )
            return os.environ[name]

        return _TOKEN.sub(value, text)

    def path(self, text: str, what: str) -> str:
        """Return the file's name that a value stands for."""
        return str(Path(self.put_in(str(below_home(text)), what)))

    def _token(self, letter: str, what: str, only: str) -> str:
        name = socket.gethostname()
        known: dict[str, Callable[[], str]] = {
            "%": lambda: "%",
            "h": lambda: self.host,
            "n": lambda: self.alias,
            "p": lambda: str(self.port),
            "r": lambda: self.user,
            "k": lambda: self.key_alias or self.alias,
            "d": lambda: str(below_home("~")),
            "i": lambda: str(os.getuid()) if os.name == "posix" else "0",
            "j": lambda: self.jump,
            "l": lambda: name,
            "L": lambda: name.partition(".")[0],
            "u": own_login,
            "C": lambda: hashlib.sha1(f"{name}{self.host}{self.port}{self.user}".encode()).hexdigest(),  # noqa: S324
        }
        # Versions differ on whether the hop is part of %C (9.6 and newer).
        if letter in known and (not only or letter in only + "%") and not (letter == "C" and self.jump):
            return known[letter]()
        raise BadInput(
            tr("ssh_config: {key} has an unsupported token: {text}", key=what, text=f"%{letter}"),
            safe=tr("No host was contacted."),
        )

"""sudo on a host: how a command becomes root, and how its refusals are told apart from the command's own errors.

The password goes to sudo's standard input, and only when sudo asks: its prompt is a mark made for this one call, so
that a sudo that needs no password (NOPASSWD, a fresh timestamp) can never pass it on to the command's own input, and a
second prompt means the first answer was wrong (man sudo(8): -S, -p, -n).
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.connections.any_shell import for_any_shell
from services.connections.command import Command
from services.errors import SudoFailed
from services.i18n import tr

if TYPE_CHECKING:
    from services.inventory.model import SshAccess
    from services.secrets import Secret, Vault

_REFUSALS = (
    ("a password is required", "sudo wants a password, and the inventory says it needs none"),
    ("is not in the sudoers file", "the login is not in the sudoers file"),
    ("is not allowed to execute", "the sudoers rules don't allow this command"),
    ("may not run sudo", "the login may not run sudo"),
    ("incorrect password", "the sudo password is wrong"),
    ("no password was provided", "the sudo password is wrong"),
    ("must have a tty", "sudo wants a terminal (requiretty)"),
    ("Account or password is expired", "the login's account has expired"),
)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A line for the host's shell, and what sudo's marks on its standard error mean.

    Attributes:
        prompt: sudo asks for `password` when this appears; passed: sudo let the command through (b'' = no such mark).
    """

    line: str
    prompt: bytes = b""
    passed: bytes = b""
    password: Secret | None = None
    uses_sudo: bool = False


def plain(command: Command) -> Wrapped:
    """Return how to run a command as the login itself."""
    return Wrapped(for_any_shell(command.shell_text()))


def wrap(command: Command, access: SshAccess, vault: Vault, *, user: str, host: str) -> Wrapped:
    """Return how to run `command` on a host where we are `user`. Raises SudoFailed when there is no way to root."""
    if not command.sudo or user == "root":
        return plain(command)
    line = command.shell_text()
    if access.sudo == "none":
        raise SudoFailed(
            tr("This needs root, and the login {user} has no sudo according to the inventory.", user=user),
            host=host,
            try_=(tr("Set sudo for this host in the inventory, or log in as root."),),
        )
    if access.sudo == "nopasswd" or access.sudo_password is None:
        return Wrapped(for_any_shell(f"LC_ALL=C sudo -n -- {line}"), uses_sudo=True)
    number = secrets.token_hex(8)
    mark, passed = f"[pilothouse {number}]", ""
    if command.stdin is not None:
        # The command's own input must not be taken for a second try at the password: it waits for this mark.
        passed = f"[passed {number}]"
        line = f"""sh -c 'printf %s "$0" >&2; exec "$@"' '{passed}' {line}"""
    return Wrapped(
        for_any_shell(f"LC_ALL=C sudo -S -p '{mark}' -- {line}"),
        prompt=mark.encode("ascii"),
        passed=passed.encode("ascii"),
        password=vault.get(access.sudo_password),
        uses_sudo=True,
    )


def refusal(stderr: bytes, exit_code: int, *, user: str, host: str) -> SudoFailed | None:
    """Return the error when it was sudo that failed, not the command."""
    if exit_code not in {1, 127}:
        return None
    text = stderr.decode("utf-8", "replace")
    if exit_code == 127 and re.search(r"sudo: (command )?not found", text):
        return _failed(tr("sudo is not installed on the host"), user, host)
    if not re.search(r"^(sudo: |.* is not in the sudoers file|Sorry, )", text, re.MULTILINE):
        return None
    for pattern, why in _REFUSALS:
        if pattern in text:
            return _failed(why, user, host)
    return None


def wrong_password(*, user: str, host: str) -> SudoFailed:
    """Return the error for a password that sudo did not take."""
    return _failed(tr("the sudo password is wrong"), user, host)


def _failed(why: str, user: str, host: str) -> SudoFailed:
    return SudoFailed(
        tr("sudo for {user} failed: {why}.", user=user, why=why),
        host=host,
        try_=(tr("Check the sudo setting and password of this host in the inventory, and sudo -l on the host."),),
    )

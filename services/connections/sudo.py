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
from services.i18n import mark, tr
from services.visible import as_line

if TYPE_CHECKING:
    from services.inventory.model import SshAccess
    from services.secrets import Secret, Vault

_RULES = mark("Check what the login may run on the host: sudo -l, and visudo.")
_PASSWORD = mark("Check the sudo setting and password of this host in the inventory, and sudo -l on the host.")
_TERMINAL = mark("Disable 'requiretty' for this login in sudoers (visudo), or give it a NOPASSWD rule.")
_SETUID = mark("Repair sudo on the host: its package, nosuid of its file system, and NoNewPrivileges= of sshd's unit.")
_PRIVILEGES = mark("Check NoNewPrivileges= of sshd's unit, and the options of its container.")
_ACCOUNT = mark("Check the login's account on the host: chage -l, and the log of PAM.")
_SUDOERS = mark("Check /etc/sudoers on the host: visudo -c.")
_PROMPT = mark("Set 'Defaults passprompt_override' in sudoers (visudo), or give the login a NOPASSWD rule.")

_WRONG = mark("the sudo password is wrong")
_WANTED = mark("sudo requires a password, and the inventory says it needs none")

# Sources: sudo's plugins/sudoers/*.c and src/*.c; sudo-rs' src/common/error.rs and src/pam; case does not count.
_REFUSALS = (
    ("interactive authentication is required", _WANTED, _PASSWORD),
    ("must have a tty", mark("sudo requires a terminal (requiretty)"), _TERMINAL),
    ("terminal is required", mark("sudo requires a terminal or a password, and has neither"), _TERMINAL),
    ("no tty present", mark("sudo requires a terminal or a password, and has neither"), _TERMINAL),
    ("a password is required", _WANTED, _PASSWORD),
    ("is not in the sudoers file", mark("the login is not in the sudoers file"), _RULES),
    ("is not allowed to execute", mark("the sudoers rules do not allow this command"), _RULES),
    ("may not run sudo", mark("the login may not run sudo"), _RULES),
    ("i'm afraid i can't do that", mark("the sudoers rules do not allow this command"), _RULES),
    ("incorrect password", _WRONG, _PASSWORD),
    ("incorrect authentication", _WRONG, _PASSWORD),
    ("no password was provided", _WRONG, _PASSWORD),
    ("authentication failed", _WRONG, _PASSWORD),
    ("authentication required but not attempted", mark("sudo requires a terminal or a password, and has neither"),
     _TERMINAL),
    ("account or password is expired", mark("the login's account has expired"), _ACCOUNT),
    ("account validation failure", mark("the login's account is locked or expired"), _ACCOUNT),
    ("setuid bit",
     mark("the host's sudo program may not become root (its owner, its setuid bit, or no new privileges)"), _SETUID),
    ("effective uid is not 0",
     mark("the host's sudo program may not become root (nosuid, or no setuid bit)"), _SETUID),
    ("sudoers file not found", mark("the host's sudoers file cannot be read"), _SUDOERS),
    ("invalid configuration", mark("the host's sudoers file cannot be read"), _SUDOERS),
    ("no new privileges", mark("the session cannot gain new privileges, so sudo cannot become root"), _PRIVILEGES),
)  # fmt: skip
_OWN_LINE = re.compile(
    r"^(?:sudo(?:-rs)?: .*|.* is not in the sudoers file.*|Sorry, .*)$", re.MULTILINE | re.IGNORECASE
)
_GOES_ON = re.compile(
    r"unable to resolve host|command not found|unable to send audit|setrlimit|ts_|timestamp|/run/sudo|/var/lib/sudo"
    r"|core dump|unable to send mail|ignoring time stamp|warning|: not found|No such file or directory",
    re.IGNORECASE,
)
"""Of sudo's words those after which it runs the command all the same, and those that are about the command."""
_PASSWORD_WORDS = re.compile(
    r"pass(?:word|code|phrase|wort|e)|kennwort|contrase|senha|wachtwoord|has[lł]o|heslo|jelsz|parola|l[oö]senord|kodeord"
    r"|salasana|парол|\bPIN\b|\bOTP\b|token|verification|密码|密碼|パスワード|비밀번호|암호",
    re.IGNORECASE,
)
_MOST_SAID = 300


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


def without_marks(stderr: bytes, wrapped: Wrapped) -> bytes:
    """Return standard error without sudo's marks, and without what sudo-rs writes around its prompt."""
    for mark_of_ours in (wrapped.prompt, wrapped.passed):
        if mark_of_ours:
            stderr = re.sub(rb"(?:\[sudo: )?" + re.escape(mark_of_ours) + rb"(?:\] Password: \n?)?", b"", stderr)
    return stderr


def without_sudo(command: Command) -> Wrapped:
    """Return how to run a command as the login itself."""
    return Wrapped(for_any_shell(command.shell_text()))


def wrap(command: Command, access: SshAccess, vault: Vault, *, user: str, host: str) -> Wrapped:
    """Return how to run `command` on a host where we are `user`. Raises SudoFailed when there is no way to root."""
    if not command.sudo or user == "root":
        return without_sudo(command)
    line = command.shell_text()
    if access.sudo == "none":
        raise SudoFailed(
            tr("Root is required, and according to the inventory the login {user} has no sudo.", user=user),
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


def refusal(
    stderr: bytes, exit_code: int, *, user: str, host: str, silent: bool = True, gave: bool = True
) -> SudoFailed | None:
    """Return the error when it was sudo that failed, not the command.

    Args:
        gave: sudo was given a password: where it was not (sudo -n), none can be wrong.
        silent: nothing came on standard output. Words of sudo's that are not known are a refusal only then.
    """
    if exit_code not in {1, 127}:
        return None
    text = stderr.decode("utf-8", "replace")
    if exit_code == 127 and re.search(r"sudo: (command )?not found", text):
        return _failed(tr("sudo is not installed on the host"), user, host, tr(_RULES))
    said = [line.strip() for line in _OWN_LINE.findall(text)]
    if not said:
        return None
    low = "\n".join(said).lower()
    for pattern, why, advice in _REFUSALS:
        if pattern in low:
            is_none = why == _WRONG and not gave
            return _failed(tr(_WANTED if is_none else why), user, host, tr(advice))
    unknown = [line for line in said if not _GOES_ON.search(line)]
    if not silent or not unknown:
        return None
    return _failed(tr('it says "{words}"', words=as_line("; ".join(unknown), _MOST_SAID)), user, host, tr(_RULES))


def wrong_password(*, user: str, host: str) -> SudoFailed:
    """Return the error for a password that sudo did not take."""
    return _failed(tr(_WRONG), user, host, tr(_PASSWORD))


def other_prompt(stderr: bytes, *, sure: bool = False) -> str:
    """Return what is asked for in words that are not ours, '' where the last line that came asks for nothing.

    sudo puts its -p in place of "Password:" alone: the prompt of another PAM module, or in another language, stays.

    Args:
        sure: only what asks for a password, or something of its kind.
    """
    line = stderr.decode("utf-8", "replace").replace("\r", "\n").rpartition("\n")[2].strip()
    asks = line.endswith((":", "?", "\uff1a")) and (not sure or _PASSWORD_WORDS.search(line) is not None)
    return as_line(line, _MOST_SAID) if asks else ""


def asked_otherwise(prompt: str, *, user: str, host: str) -> SudoFailed:
    """Return the error for a prompt that is not ours: the password is given to nobody who asks in other words."""
    return _failed(
        tr("it prompts \"{prompt}\", which is not sudo's own prompt, and the password is given only to sudo's own "
            "prompt",
           prompt=prompt),
        user, host, tr(_PROMPT),
    )  # fmt: skip


def _failed(why: str, user: str, host: str, advice: str) -> SudoFailed:
    return SudoFailed(tr("sudo for {user} failed: {why}.", user=user, why=why), host=host, try_=(advice,))

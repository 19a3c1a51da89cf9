"""The conditions of a `Match` line (OpenSSH, readconf.c, match_cfg_line). One that is not known is refused, never met.

The programs of `Match exec` get no secrets and have a time limit.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.connections.openssh.keywords import CRITERIA
from services.connections.openssh.own_account import own_login
from services.connections.openssh.tokens import Tokens
from services.i18n import tr
from services.secrets import environment_for_children
from services.ssh_words import BadLine, fits_list
from services.visible import visible

log = logging.getLogger(__name__)

MOST_S = 5.0
"""Of all programs of one reading together; a person waits for a connection meanwhile."""
_SHOWN = 100


@dataclass(slots=True)
class Conditions:
    """The Match lines of one reading; wants_final: the last one asks for a second pass over the files."""

    wants_final: bool = False
    _left_s: float = field(default_factory=lambda: MOST_S)

    def met(
        self, rest: str, words: Sequence[str], values: Mapping[str, Sequence[str]], address: str, *, final: bool
    ) -> bool:
        """Return whether a Match line fits: each condition in its turn, so that no program runs behind one that failed.

        Args:
            rest: the line behind `Match`; words: the same, divided; values: what is set so far; final: the second pass.

        Raises BadLine.
        """
        if "'" in rest or "\\" in rest or any(not word or word.startswith("=") or word.endswith("=") for word in words):
            raise BadLine(tr("OpenSSH versions read this Match differently"))
        self.wants_final = False
        names = _Names.of(values, address, final=final)
        found, seen, left = True, 0, list(words)
        while left:
            word = left.pop(0)
            negated = word.startswith("!")
            name, given, value = word.removeprefix("!").partition("=")
            name = name.lower()
            if name == "all" and not given:
                if seen > 1 or left:
                    raise BadLine(tr("Match all is combined with other conditions"))
                return found and not negated
            seen += 1
            if name in {"canonical", "final"} and not given:
                if name == "final" and negated:
                    raise BadLine(tr("OpenSSH versions read this Match differently"))
                self.wants_final |= name == "final"
                found = found and final is not negated
                continue
            value = value if given else left.pop(0) if left else ""
            _judge(name, value, rest)
            found = self._fits(name, value, names, found=found) is not negated and found
        if not seen:
            raise BadLine(tr("Match has no condition"))
        return found

    def _fits(self, name: str, value: str, names: _Names, *, found: bool) -> bool:
        if name == "host":
            return fits_list(names.host, value, is_host=True)
        if name == "originalhost":
            return fits_list(names.alias, value, is_host=True)
        if name in {"user", "localuser"}:
            return fits_list(names.user if name == "user" else own_login(), value)
        command = names.tokens().put_in(value, "Match exec", environment=False)
        return found and self._says_yes(command)

    def _says_yes(self, command: str) -> bool:
        began = time.monotonic()
        try:
            return _succeeds(command, self._left_s)
        finally:
            self._left_s -= time.monotonic() - began


def _judge(name: str, value: str, rest: str) -> None:
    if name not in CRITERIA:
        raise BadLine(tr('the Match condition "{name}" is not supported without an ssh program', name=name))
    if not value:
        raise BadLine(tr("Match {name} names nothing", name=name))
    if "=" in value and f'"{value}"' not in rest:
        raise BadLine(tr("OpenSSH versions read this Match differently"))


@dataclass(frozen=True, slots=True)
class _Names:
    """The names that conditions speak of, as far as they are known at that line."""

    alias: str
    host: str
    user: str
    port: int
    key_alias: str
    jump: str

    @classmethod
    def of(cls, values: Mapping[str, Sequence[str]], address: str, *, final: bool) -> _Names:
        def one(name: str, otherwise: str = "") -> str:
            return values[name][0] if name in values else otherwise

        host = one("hostname", address)
        if not final:
            host = Tokens(address, address, 0, "").put_in(host, "HostName", only="h", environment=False)
        user = one("user") or own_login()
        return cls(address, host, user, int(one("port", "22")), one("hostkeyalias"), one("proxyjump"))

    def tokens(self) -> Tokens:
        return Tokens(self.alias, self.host, self.port, self.user, self.key_alias, self.jump)


def _succeeds(command: str, limit_s: float) -> bool:
    """Run it as OpenSSH does (readconf.c, execute_in_shell): the person's shell, nothing to read, nobody listening."""
    try:
        with _started(command) as program:
            try:
                return program.wait(max(0.0, limit_s)) == 0
            finally:
                end(program)
    except subprocess.TimeoutExpired:
        sentence = tr("Match exec did not end within {limit:g} s and counts as not matched.", limit=MOST_S)
    except OSError as problem:
        sentence = tr("Match exec cannot be started ({problem}) and counts as not matched.", problem=problem.strerror)
    log.warning("%s %s", sentence, _short(command))
    return False


def _started(command: str) -> subprocess.Popen[bytes]:
    shell = [os.environ.get("COMSPEC") or "cmd.exe", "/c"]
    if os.name == "posix":
        shell = [os.environ.get("SHELL") or "/bin/sh", "-c"]
    return subprocess.Popen(  # noqa: S603
        [*shell, command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment_for_children(),
        start_new_session=True,
    )


def end(program: subprocess.Popen[bytes]) -> None:
    """End a program of a session of its own, and what it started; nothing where it has ended itself."""
    if program.poll() is None:
        kill(program)


def kill(program: subprocess.Popen[bytes]) -> None:
    """End a program of a session of its own that nobody has waited for, and what it started."""
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(program.pid, signal.SIGKILL)
        else:
            program.kill()


def _short(command: str) -> str:
    line = " ".join(visible(command).split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"

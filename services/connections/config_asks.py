"""What an ssh_config asks of others while it is read, within bounds: `Match exec`, CanonicalizeHostname, %l.

paramiko would run the program with this one's whole environment, passwords included, and wait without end for it and
for the resolver; it asks for this machine's full name whether a file or a key is named by it (%l) or not.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import time
from typing import Any

import paramiko

from services.connections.canonical_name import canonical_name
from services.connections.names import name_of_this_machine
from services.i18n import tr
from services.secrets import environment_for_children
from services.visible import visible

log = logging.getLogger(__name__)

MOST_S = 5.0
"""Of all programs of one reading together; a person waits for a connection meanwhile."""
_SHOWN = 100


class SshConfigFile(paramiko.SSHConfig):
    """paramiko's reading of an ssh_config; the programs of `Match exec` get no secrets and have a time limit."""

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[str, bool] = {}
        self._left_s = MOST_S

    def lookup(self, hostname: str, *, jumps: bool = False) -> paramiko.SSHConfigDict:
        """Return what the file says of a host, its name made a full one first where the file wants that.

        As in OpenSSH (ssh.c, main) it is the HostName that is made full; paramiko would take the alias in its place.

        Args:
            jumps: the inventory leads to it through other hosts.
        """
        options: paramiko.SSHConfigDict = self._look_up(hostname, None, canonical=False, final=False)
        host = self._tokenize(options, hostname, "hostname", options.setdefault("hostname", hostname))
        jumps = jumps or any(str(options.get(key) or "none").lower() != "none" for key in ("proxyjump", "proxycommand"))
        full = canonical_name(host, options, jumps=jumps)
        if full is None:
            return self._look_up(hostname, options, canonical=False, final=True)
        options["hostname"] = full
        return self._look_up(full, options, canonical=True, final=True)

    def _look_up(self, hostname: str, options: Any, *, canonical: bool, final: bool) -> paramiko.SSHConfigDict:
        found: paramiko.SSHConfigDict = self._lookup(hostname, options, canonical=canonical, final=final)  # type: ignore[attr-defined]
        return found

    def _tokenize(self, config: Any, target_hostname: str, key: str, value: str) -> str:
        """Put tokens in; this machine's full name is asked for only where it is wanted."""
        if "%l" in value and "%l" in self.TOKENS_BY_CONFIG_KEY.get(key, ()):
            value = value.replace("%l", name_of_this_machine())
        return str(super()._tokenize(config, target_hostname, key, value))  # type: ignore[misc]

    def _allowed_tokens(self, key: str) -> list[str]:
        return [token for token in super()._allowed_tokens(key) if token != "%l"]  # type: ignore[misc]  # noqa: S105

    def _does_match(
        self, match_list: list[dict[str, Any]], target_hostname: str, canonical: bool, final: bool, options: Any
    ) -> bool:
        """Return whether a Match line fits: each `exec` in its turn, so that none runs whose line failed before."""
        before: list[dict[str, Any]] = []
        for candidate in match_list:
            if candidate["type"] != "exec":
                before.append(candidate)
                continue
            if before and not self._others_match(before, target_hostname, canonical, final, options):
                return False
            before = []
            command = self._tokenize(options, target_hostname, "match-exec", candidate["param"])
            if self._says_yes(command) is bool(candidate["negate"]):
                return False
        if not before:
            return bool(match_list)
        return self._others_match(before, target_hostname, canonical, final, options)

    def _others_match(self, match_list: list[dict[str, Any]], *more: Any) -> bool:
        return bool(super()._does_match(match_list, *more))  # type: ignore[misc]

    def _says_yes(self, command: str) -> bool:
        """Return the program's answer; paramiko asks twice in one reading, ssh once."""
        if command not in self._answers:
            began = time.monotonic()
            self._answers[command] = _succeeds(command, self._left_s)
            self._left_s -= time.monotonic() - began
        return self._answers[command]


def _succeeds(command: str, limit_s: float) -> bool:
    """Run it as OpenSSH does (readconf.c, execute_in_shell): the person's shell, nothing to read, nobody listening."""
    try:
        with _started(command) as program:
            try:
                return program.wait(max(0.0, limit_s)) == 0
            finally:
                _end(program)
    except subprocess.TimeoutExpired:
        sentence = tr("Match exec gave no answer within {limit:g} s, so its answer is no.", limit=MOST_S)
    except OSError as problem:
        sentence = tr("Match exec can't be started ({problem}), so its answer is no.", problem=problem.strerror)
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


def _end(program: subprocess.Popen[bytes]) -> None:
    """End it and what it started."""
    if program.poll() is not None:
        return
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(program.pid, signal.SIGKILL)
        else:
            program.kill()


def _short(command: str) -> str:
    line = " ".join(visible(command).split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"

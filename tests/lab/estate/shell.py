"""Run local commands with a time limit, keeping their error text for the message of the exception."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.estate.errors import LabError, LabTimeoutError


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of one command: exit code and decoded output (invalid UTF-8 replaced)."""

    code: int
    out: str
    err: str

    @property
    def ok(self) -> bool:
        return self.code == 0


def run(
    argv: Sequence[str],
    *,
    stdin: str | None = None,
    limit_s: float = 60.0,
    check: bool = True,
    env: Mapping[str, str] | None = None,
) -> Result:
    """Run `argv` without a shell and return its result.

    Raises LabTimeoutError after `limit_s` seconds (the process is killed), and LabError on a non-zero exit if `check`.
    Input is never echoed in messages: it may hold secrets.
    """
    try:
        done = subprocess.run(
            list(argv),
            input=None if stdin is None else stdin.encode(),
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=limit_s,
            check=False,
            env=None if env is None else dict(env),
        )
    except subprocess.TimeoutExpired as exc:
        raise LabTimeoutError(f"no end after {limit_s:g} s: {shlex.join(argv)}") from exc
    except FileNotFoundError as exc:
        raise LabError(f"command not found: {argv[0]}") from exc
    result = Result(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
    if check and not result.ok:
        said = (result.err.strip() or result.out.strip())[-1500:]
        raise LabError(f"exit {result.code} of {shlex.join(argv)}: {said}")
    return result


def spawn(argv: Sequence[str], log: Path, *, env: Mapping[str, str] | None = None) -> None:
    """Start a process that outlives this one, in a session of its own, its output appended to `log`.

    It is nobody's child (setsid --fork), so nobody here has to collect it; find it again by its command line.
    """
    with log.open("ab") as handle:
        subprocess.run(
            ["setsid", "--fork", *argv],
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            timeout=10,
            check=True,
            env=None if env is None else dict(env),
        )

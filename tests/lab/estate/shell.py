"""Run local commands with a time limit, keeping their error text for the message of the exception."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.lab.estate.errors import LabError, LabTimeout


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

    Raises LabTimeout after `limit_s` seconds (the process is killed) and, with `check`, LabError on a non-zero exit.
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
        raise LabTimeout(f"no end after {limit_s:g} s: {shlex.join(argv)}") from exc
    except FileNotFoundError as exc:
        raise LabError(f"command not found: {argv[0]}") from exc
    result = Result(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
    if check and not result.ok:
        said = (result.err.strip() or result.out.strip())[-1500:]
        raise LabError(f"exit {result.code} of {shlex.join(argv)}: {said}")
    return result

"""Running one command to its end, its time limit or the person's Ctrl+C; its whole process group ends with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from boot.places import ROOT, WINDOWS, say

# What a test runner is given to write its report and take down its fixtures, after being asked to stop.
GRACE_S = 60.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended: its exit code, whether the time limit stopped it, and how long it took (seconds)."""

    code: int
    timed_out: bool
    seconds: float


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    limit_s: float,
    *,
    folder: Path = ROOT,
    grace_s: float = GRACE_S,
) -> Ending:
    """Run `command` in `folder`; at `limit_s` interrupt its process group, after `grace_s` more kill it."""
    started = time.monotonic()
    child = start(command, environment, folder)
    timed_out = False
    try:
        child.wait(timeout=limit_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        say(f"time limit of {limit_s:.0f} s reached: stopping {command[0]}")
    finally:
        end_group(child, grace_s)
    return Ending(child.returncode, timed_out, time.monotonic() - started)


def start(
    command: Sequence[str], environment: Mapping[str, str], folder: Path = ROOT, told: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """Start `command`; what it prints goes into the file `told` where one is given. `end_group` ends it."""
    # A group (POSIX: a session) of its own: what it starts can be ended with it, and Ctrl+C reaches it once, from us.
    return subprocess.Popen(
        list(command),
        cwd=folder,
        env=dict(environment),
        stdout=told,
        stderr=None if told is None else subprocess.STDOUT,
        start_new_session=not WINDOWS,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )


def end_group(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """Interrupt `child` if it still runs, then kill whatever is left of its group."""
    if child.poll() is None:
        _interrupt_group(child)
        try:
            child.wait(timeout=grace_s)
        except subprocess.TimeoutExpired:
            say(f"process {child.pid} did not stop within {grace_s:.0f} s: killing its group")
    _kill_group(child)
    child.wait()


def _interrupt_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left in the group
        if sys.platform == "win32":
            child.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            os.killpg(child.pid, signal.SIGINT)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the usual case: all went with their leader
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)


def end_by_signals() -> None:
    """Make SIGTERM (a cancelled automated run) end the running stage as cleanly as Ctrl+C does."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    # A shell starts its background jobs with SIGINT ignored, and so would be all that we start: our interrupt at a
    # time limit would go unheard.
    signal.signal(signal.SIGINT, signal.default_int_handler)

"""Finding the lab's own processes in /proc, by what they are and not by a pid that may have been reused."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path


def processes() -> Iterator[tuple[int, tuple[str, ...]]]:
    """(pid, argv) of every process that has a command line."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (argv := _argv(entry)):
            yield int(entry.name), argv


def _argv(entry: Path) -> tuple[str, ...]:
    """Command line of a process; empty for one that is gone or has none."""
    try:
        argv = (entry / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return ()
    return tuple(part.decode(errors="replace") for part in argv) if argv and argv[0] else ()


_found: dict[str, int] = {}  # where a machine's supervisor was last time: asked first, never believed


def nspawn_pid(machine: str) -> int | None:
    """Pid of the systemd-nspawn process that carries `machine` (its name must fit exactly)."""
    last = _found.get(machine)
    if last is not None and _carries(_argv(Path("/proc", str(last))), machine):
        return last
    for pid, argv in processes():
        if _carries(argv, machine):
            _found[machine] = pid
            return pid
    return None


def _carries(argv: tuple[str, ...], machine: str) -> bool:
    return bool(argv) and argv[0].endswith("systemd-nspawn") and f"--machine={machine}" in argv


def _descendants(pid: int) -> Iterator[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except OSError:
        return
    for child in children:
        yield int(child)
        yield from _descendants(int(child))


def leader_pid(machine: str) -> int | None:
    """Pid, seen from here, of the container's pid 1; None while it is not up. A reboot gives another one."""
    supervisor = nspawn_pid(machine)
    if supervisor is None:
        return None
    for pid in _descendants(supervisor):
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        except OSError:
            continue
        inner = next((line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:")), "")
        nested = len(next((line.split() for line in status.splitlines() if line.startswith("NSpid:")), [])) > 2
        if nested and inner == "1" and "Name:\tsystemd\n" in status:
            return pid
    return None


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def end(pid: int, *, first: signal.Signals = signal.SIGTERM, limit_s: float = 10.0) -> None:
    """Ask the process to end with `first`, kill it after `limit_s` seconds; return when it is gone."""
    for number, wait_s in ((first, limit_s), (signal.SIGKILL, 5.0)):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + wait_s
        while time.monotonic() < deadline:
            if not alive(pid):
                return
            time.sleep(0.05)

"""The command line with shifted clocks: `python -m tests.lab.procedures.console.shifted_console FILE COMMAND`.

FILE holds two numbers, seconds added to the wall clock and to the monotonic one, and is read at every look at them:
'10800 10800' behind a SIGSTOP is a laptop that slept for three hours, '-3600 0' a wall clock that was put back.
"""

from __future__ import annotations

import sys
from pathlib import Path

from app.__main__ import main
from services.clock import SystemClock


def shift_to(given: Path, wall_s: float, monotonic_s: float) -> None:
    """Write how far the clocks are off, at once: a console that looks meanwhile reads the old numbers or the new."""
    made = given.with_suffix(".new")
    made.write_text(f"{wall_s} {monotonic_s}", encoding="ascii")
    made.replace(given)


def _shift(given: Path) -> None:
    wall, monotonic = SystemClock.wall, SystemClock.monotonic

    def shift(place: int) -> float:
        return float(given.read_text(encoding="ascii").split()[place])

    SystemClock.wall = lambda self: wall(self) + shift(0)  # type: ignore[method-assign]
    SystemClock.monotonic = lambda self: monotonic(self) + shift(1)  # type: ignore[method-assign]


if __name__ == "__main__":
    _shift(Path(sys.argv.pop(1)))
    sys.exit(main(sys.argv[1:]))

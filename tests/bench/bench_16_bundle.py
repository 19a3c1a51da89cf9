"""Budget 16: a start of the bundle beside the environment's, to the version and to the drawn pages of the demo.

The bundle is what `bootstrap.py package bundle` made last; both sides are whole processes, from start to end.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.model import Row, paired
from tests.bench.support.starting import ROOT, environment
from tests.bench.support.unavailable import Unavailable

LIMIT = 1.3
BUNDLE = (
    ROOT
    / "build"
    / "package"
    / "bundle"
    / "pilothouse"
    / ("pilothouse.exe" if sys.platform == "win32" else "pilothouse")
)
_TITLE = "the bundle's start, against the environment's"


def run(rounds: int) -> list[Row]:
    """Start both by turns, after one start of each that nobody counts (byte code, disk cache)."""
    if not BUNDLE.is_file():
        raise Unavailable("no bundle lies here: packaging/bootstrap.py package bundle")
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        return [
            _row(Path(folder), "a", "to its version and end", ("--version",), max(rounds, 9)),
            _row(Path(folder), "b", "to the drawn pages of the demo and end", _pictures(Path(folder)), max(rounds, 5)),
        ]


def _pictures(folder: Path) -> tuple[str, ...]:
    return ("demo", "--screenshots", str(folder / "pages"), "--data", str(folder / "data"))


def _row(folder: Path, part: str, what: str, words: tuple[str, ...], rounds: int) -> Row:
    def timed(command: tuple[str, ...]) -> float:
        began = time.monotonic()
        subprocess.run(
            [*command, *words], env=environment(folder), cwd=folder, capture_output=True, check=True, timeout=120
        )
        return (time.monotonic() - began) * 1000.0

    def bundle() -> float:
        return timed((str(BUNDLE),))

    def installed() -> float:
        return timed((sys.executable, "-c", "import sys; from app.__main__ import main; sys.exit(main())"))

    bundle(), installed()
    ratio, mine, theirs = paired(bundle, installed, rounds)
    return Row(16, part, f"{_TITLE}, {what}", ratio, LIMIT, detail=f"{mine:.0f} : {theirs:.0f} ms, {rounds} rounds")

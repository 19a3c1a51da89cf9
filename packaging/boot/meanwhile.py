"""The bundle that the package stage tries, made beside the first stages: they keep one core busy, as its making does.

What goes wrong here is said, and the stage makes the bundle itself: its tests say then what is wrong.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from boot import process
from boot.places import REPORTS, ROOT, say
from boot.stages import PACKAGE, Stage

PACKAGES = "PILOTHOUSE_PACKAGES"
"""Set: the folder of packages that were made of this tree a moment ago (tests/package)."""
COMMAND = (sys.executable, str(ROOT / "packaging" / "bootstrap.py"), "package", "bundle", "--out")
LIMIT_S = 1_800.0


@contextmanager
def bundle(stages: Sequence[Stage]) -> Iterator[Callable[[], dict[str, str]]]:
    """Begin to make it where the package stage comes behind others; yield what waits for it.

    That returns the variables of the stage: where the bundle lies, or none.
    """
    if PACKAGE not in [stage.name for stage in stages[1:]] or PACKAGES in os.environ:
        yield dict
        return
    say("the bundle is being made beside the first stages")
    with tempfile.TemporaryDirectory(prefix="pilothouse-packages-") as out, _log().open("wb") as told:
        child = process.start([*COMMAND, out], os.environ, told=told)
        try:
            yield lambda: {PACKAGES: out} if _ended_well(child) else {}
        finally:
            process.end_group(child, process.GRACE_S)


def _log() -> Path:
    REPORTS.mkdir(parents=True, exist_ok=True)
    return REPORTS / "bundle.log"


def _ended_well(child: subprocess.Popen[bytes]) -> bool:
    if child.poll() is None:
        say("waiting for the bundle")
    try:
        code = child.wait(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        say(f"the bundle was not made within {LIMIT_S:.0f} s")
        return False
    if code != 0:
        say(f"the bundle could not be made (exit code {code}):\n{_log().read_text(encoding='utf-8', errors='replace')}")
    return code == 0

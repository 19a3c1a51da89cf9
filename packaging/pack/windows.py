"""The setup program for Windows, made by Inno Setup of the bundle (its manual: "Command Line Compiler Execution")."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from boot.places import BootError, say
from pack.made import Made, call

_USUAL = Path(os.environ.get("PROGRAMFILES(X86)", "C:\\Program Files (x86)")) / "Inno Setup 6" / "ISCC.exe"
SIGN = "PILOTHOUSE_SIGN"
"""A command line that signs $f, as Inno Setup's SignTool has it; without it nothing is signed."""


def setup(made: Made) -> None:
    """Make the setup program."""
    compiler = shutil.which("ISCC") or (str(_USUAL) if _USUAL.is_file() else None)
    if compiler is None:
        raise BootError("Inno Setup 6 is not there (ISCC.exe): winget install JRSoftware.InnoSetup")
    say("making the setup program")
    words = [
        compiler, "/Qp", f"/DVersion={made.version}", f"/DBundle={made.bundle}", f"/DOut={made.out}",
        f"/DName={made.name}-setup", f"/DIcon={made.share / 'icons' / 'pilothouse.ico'}",
    ]  # fmt: skip
    if command := os.environ.get(SIGN):
        words += ["/DSigned", f"/Spilothouse={command}"]
    call([*words, made.tree / "packaging" / "windows" / "pilothouse.iss"], made.work)

"""What people install: a .tar.xz and a .deb on Linux, a setup program on Windows, a disk image on macOS."""

from __future__ import annotations

import sys
from collections.abc import Callable

from pack import linux, macos, windows
from pack.made import Made

_OF: dict[str, tuple[Callable[[Made], None], ...]] = {
    "win32": (windows.setup,),
    "darwin": (macos.image,),
}


def build(made: Made) -> None:
    """Make those of this system."""
    for make in _OF.get(sys.platform, (linux.portable, linux.deb)):
        make(made)

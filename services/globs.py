"""What a pattern of file names stands for, looked up within bounds: `/*/*/*/*` would read the whole machine."""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import itertools
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from services.i18n import tr

MOST_NAMES = 10_000
MOST_S = 2.0
_MAGIC = re.compile(r"[*?\[]")


class Globs:
    """The patterns of one reading: together they look at 10,000 names and take two seconds, no more."""

    def __init__(self) -> None:
        self._looked = 0
        self._left_s = MOST_S

    def matching(self, pattern: str | Path) -> list[Path]:
        """Return the paths that an absolute pattern fits, sorted: `*`, `?` and `[...]` of a shell, no `**`.

        Raises OSError with a sentence's end where the bounds are reached.
        """
        began = time.monotonic()
        whole = Path(pattern)
        found = [Path(whole.anchor)]
        try:
            for part in whole.relative_to(whole.anchor).parts:
                if _MAGIC.search(part):
                    found = self._among(found, part, until=began + self._left_s)
                else:
                    found = [folder / part for folder in found]
            return sorted(path for path in found if os.path.lexists(path))
        finally:
            self._left_s -= time.monotonic() - began

    def _among(self, folders: list[Path], part: str, *, until: float) -> list[Path]:
        fits: Callable[[str], object] = re.compile(fnmatch.translate(part)).match
        found: list[Path] = []
        for folder in folders:
            self._count(until)
            for name in _names_in(folder):
                self._count(until)
                if fits(name) and (part.startswith(".") or not name.startswith(".")):
                    found.append(folder / name)
        return found

    def _count(self, until: float) -> None:
        self._looked += 1
        if self._looked > MOST_NAMES or (self._looked % 100 == 0 and time.monotonic() > until):
            raise OSError(errno.E2BIG, tr("a file name pattern matches too many files"))


def _names_in(folder: Path) -> list[str]:
    """Return what stands in a folder, as far as it could ever be looked at; nothing where it can't be opened."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return [entry.name for entry in itertools.islice(entries, MOST_NAMES)]
    return []

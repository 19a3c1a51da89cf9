"""Reading one of another program's settings files, which may include others: lines, or a problem told."""

from __future__ import annotations

from pathlib import Path

from services.globs import Globs
from services.i18n import tr
from services.lines import lines_of
from services.workstation.files import read_bounded

_MOST_FILES = 200
"""Files that one may include, all in all: each of sixteen levels may name each file again."""


class Inclusions:
    """One reading of a file and of all that it includes: it ends, whatever they include.

    `word`: what that program calls an inclusion ("Include", "!include"); `most`: how deep is too deep.
    `problems` gains a sentence for each file that is left out.
    """

    def __init__(self, word: str, most: int, problems: list[str]) -> None:
        self._word = word
        self._most = most
        self._problems = problems
        self._files = 0
        self._globs = Globs()

    def lines_of(self, file: Path, depth: int) -> list[str] | None:
        """Return the lines of a file that is `depth` inclusions deep; None where it is left out."""
        data = self.bytes_of(file, depth)
        return None if data is None else lines_of(data.decode("utf-8", "replace"))

    def bytes_of(self, file: Path, depth: int) -> bytes | None:
        """Return what is in such a file; None where it is left out."""
        if self._files > _MOST_FILES:
            return None
        if depth > self._most:
            self._tell(tr("{file}: {word} is nested deeper than {n} files.", file=file, word=self._word, n=self._most))
            return None
        self._files += 1
        if self._files > _MOST_FILES:
            self._tell(tr("{file}: {word} names more than {n} files.", file=file, word=self._word, n=_MOST_FILES))
            return None
        try:
            return read_bounded(file)
        except OSError as problem:
            self._tell(tr("{file} cannot be read: {problem}.", file=file, problem=problem.strerror or problem))
            return None

    def matching(self, pattern: Path, where: str) -> list[Path]:
        """Return the files that an absolute pattern names; none, and a problem told, where it looks at too many."""
        try:
            return self._globs.matching(pattern)
        except OSError as problem:
            self._tell(
                tr("{where}: {path} cannot be listed: {problem}.", where=where, path=pattern, problem=problem.strerror)
            )
            return []

    def _tell(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)

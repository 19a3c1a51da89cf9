"""The files that an ssh_config's meaning rests on, and whether it rests on more than files.

Only this is read here: `Include`, and words that ask somebody else. A file that is missed here and that ssh says it
read keeps the answer from being kept (program.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.connections.openssh.own_account import below_home
from services.globs import Globs
from services.i18n import tr
from services.lines import lines_of, marked_encoding
from services.ssh_words import BadLine, arguments, keyword_of
from services.workstation.files import read_bounded

_MOST_FILES = 200
_ASKS_OTHERS = re.compile(r"exec|localnetwork|canonicali", re.IGNORECASE)
_OF_SESSION = frozenset({"sessiontype", "command"})


@dataclass(frozen=True, slots=True)
class Watched:
    """What was found.

    names: the files, existing or not; marks: what tells that one changed; moving: it rests on more than files;
    refused: why ssh must not or can't read them (a device, a pipe, a file without end, another encoding), '' else;
    of_session: a Match may ask what kind of session it is for.
    """

    names: frozenset[str]
    marks: tuple[tuple[str, int, int, int, int], ...]
    moving: bool
    refused: str
    of_session: bool


def watched(files: Sequence[str]) -> Watched:
    """Return what an answer of `ssh -G` rests on; the first is its program, the others are configuration files."""
    look = _Look()
    look.mark(Path(files[0]))
    for file in files[1:]:
        look.read(Path(file))
    return Watched(frozenset(look.marks), tuple(look.marks.values()), look.moving, look.refused, look.of_session)


def other_encoding(file: Path, data: bytes) -> str:
    """Return the sentence that refuses a file of another encoding, '' for any other file: ssh does not read it."""
    encoding = marked_encoding(data)
    if not encoding:
        return ""
    return tr(
        "{file} is encoded in {encoding}, which ssh does not read: save it in UTF-8 without a byte order mark.",
        file=file,
        encoding=encoding,
    )


class _Look:
    def __init__(self) -> None:
        self.marks: dict[str, tuple[str, int, int, int, int]] = {}
        self.moving = False
        self.refused = ""
        self.of_session = False
        self._globs = Globs()

    def mark(self, file: Path) -> None:
        try:
            about = file.stat()
            found = (str(file), about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino)
        except OSError:
            found = (str(file), 0, 0, -1, 0)
        self.marks[str(file)] = found

    def read(self, file: Path) -> None:
        if str(file) in self.marks:
            return
        if len(self.marks) >= _MOST_FILES:
            self.moving = True
            return
        self.mark(file)
        try:
            data = read_bounded(file)
        except OSError as problem:
            if file.exists() and not file.is_dir():  # a folder is read as empty
                self.refused = tr("{file} cannot be read ({problem}).", file=file, problem=problem.strerror or problem)
            return
        self.refused = self.refused or other_encoding(file, data)
        for line in lines_of(data.decode("utf-8", "surrogateescape")):
            self._line(line, file)

    def _line(self, line: str, file: Path) -> None:
        keyword, rest = keyword_of(line)
        if keyword == "include":
            self._include(rest, file)
            return
        self.of_session |= keyword == "match" and _asks_session(rest)
        if keyword and (keyword.startswith("canonicali") or (keyword == "match" and _ASKS_OTHERS.search(rest))):
            self.moving = True

    def _include(self, rest: str, file: Path) -> None:
        try:
            for pattern in arguments(rest):
                self.moving |= "$" in pattern or "%" in pattern
                bases = (below_home("~/.ssh"), Path("/etc/ssh"))
                for whole in {base / below_home(pattern) for base in bases}:
                    for name in self._globs.matching(whole):
                        self.read(name)
        except BadLine:  # ssh says what is wrong
            self.moving = True
        except OSError as problem:  # a pattern that looks at the whole machine, which ssh would do as well
            self.refused = tr("{file} cannot be read ({problem}).", file=file, problem=problem.strerror or problem)


def _asks_session(rest: str) -> bool:
    """Return whether a Match has a condition on the session; what stands in quotes (the line of a program) has none."""
    try:
        words = arguments(rest)
    except BadLine:  # ssh says what is wrong
        return False
    return any(word.lower().removeprefix("!").partition("=")[0] in _OF_SESSION for word in words)

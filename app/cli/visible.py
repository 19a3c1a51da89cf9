"""What a terminal is given: text alone, whatever a server, a log or a name holds (services/visible.py).

Only line ends and tabs pass, and a bell that begins what is written. Where the terminal, or the file that is written
to, has no place for a character (ISO 8859-1, a code page of Windows), a mark of ASCII stands for it, or '?'.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO, cast

from services.visible import SHOWN_AS, visible

_IN_ASCII = {
    "●": "*", "◐": "~", "▲": "!", "■": "#", "○": "o", "·": "-", "…": "...", "–": "-", "—": "-", "→": "->", "←": "<-",
    "×": "x", "’": "'", "‘": "'", "“": '"', "”": '"', "≥": ">=", "≤": "<=", "µ": "u",
    "\N{NO-BREAK SPACE}": " ", SHOWN_AS: "?",
}  # fmt: skip
"""A character of ours -> what stands for it. The shapes of states stay apart from each other."""


class _Visible:
    """A text stream that writes what is visible and is otherwise the stream that it holds."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write; a bell that begins the text is rung."""
        bell = "\a" if text.startswith("\a") else ""
        shown = writable(visible(text.removeprefix("\a")), self._stream.encoding)
        return self._stream.write(bell + shown)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)


def writable(text: str, encoding: str | None) -> str:
    """Return text that this encoding has characters for; the same object where all are there."""
    if text.isascii():
        return text
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return "".join(_writable(character, encoding or "ascii") for character in text)
    except LookupError:  # an encoding that Python does not know
        return "".join(_writable(character, "ascii") for character in text)
    return text


def _writable(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return _IN_ASCII.get(character, "?")
    return character


class VisibleLines(logging.Formatter):
    """Log records as visible text. What follows a line end is indented: no message can look like another record.

    `traces`: with the tracebacks that a record carries; they are for a report, and nobody reads them at work.
    """

    def __init__(self, form: str, *, traces: bool = False) -> None:
        super().__init__(form)
        self._traces = traces

    def format(self, record: logging.LogRecord) -> str:
        """Return the record, whoever made it, paramiko included."""
        if not self._traces and record.exc_info:
            error = record.exc_info[1]
            said = f": {type(error).__name__}: {error}" if error is not None else ""
            return visible(f"{self._line(record)}{said}").replace("\n", "\n    ")
        return visible(super().format(record)).replace("\n", "\n    ")

    def _line(self, record: logging.LogRecord) -> str:
        record.message = record.getMessage()
        record.asctime = self.formatTime(record, self.datefmt)
        return self.formatMessage(record)


def hold_standard_streams() -> None:
    """Open what was closed of standard input, output and errors (`<&-`), before any other file takes its number.

    Else a store has the number of standard output, and what a child prints is written into it.
    """
    for number, way in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, way)  # the lowest that is free: this one
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")


@contextlib.contextmanager
def only_visible() -> Iterator[None]:
    """Let standard output and errors write nothing but visible text; one that was closed (`>&-`) takes all the same."""
    with contextlib.ExitStack() as opened:

        def seen(stream: TextIO | None) -> TextIO:
            if stream is None:
                stream = opened.enter_context(os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
            return cast("TextIO", _Visible(stream))

        with contextlib.redirect_stdout(seen(sys.stdout)), contextlib.redirect_stderr(seen(sys.stderr)):
            yield

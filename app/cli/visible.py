"""What a terminal is given: text alone, whatever a server, a log or a name holds (services/visible.py).

Only line ends and tabs pass, and a bell that begins what is written.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import TextIO, cast

from services.visible import visible


class _Visible:
    """A text stream that writes what is visible and is otherwise the stream that it holds."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write; a bell that begins the text is rung."""
        bell = "\a" if text.startswith("\a") else ""
        return self._stream.write(bell + visible(text.removeprefix("\a")))


class VisibleLines(logging.Formatter):
    """Log records as visible text. What follows a line end is indented: no message can look like another record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record, whoever made it, paramiko included."""
        return visible(super().format(record)).replace("\n", "\n    ")


@contextlib.contextmanager
def only_visible() -> Iterator[None]:
    """Let standard output and errors write nothing but visible text."""
    out, errors = (cast("TextIO", _Visible(stream)) for stream in (sys.stdout, sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        yield

"""What a terminal is given: text alone, whatever a server, a log or a name holds (services/visible.py).

Only line ends and tabs pass, and a bell that begins what is written.
"""

from __future__ import annotations

import contextlib
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


@contextlib.contextmanager
def only_visible() -> Iterator[None]:
    """Let standard output and errors write nothing but visible text."""
    out, errors = (cast("TextIO", _Visible(stream)) for stream in (sys.stdout, sys.stderr))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        yield

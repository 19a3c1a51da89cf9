"""What a terminal is given: text alone, whatever a server, a log or a name holds.

A control character moves the cursor, clears or renames the window, answers in a person's name; one that turns the
direction of text shows another order than what is there (Unicode Annex 9; Unicode Technical Report 36, "Bidirectional
Text Spoofing"). Each is shown as U+FFFD. Only line ends and tabs pass, and a bell that begins what is written.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TextIO, cast

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_SHOWN = {code: "\ufffd" for code in (*_CONTROLS, *_DIRECTIONS) if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """Return text whose every character is seen as what it is."""
    return text.translate(_SHOWN)


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

"""What only receives, as a raw stream: io.BufferedReader reads lines and exact counts from it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Receiver(Protocol):
    """What bytes come from."""

    def recv(self, size: int, /) -> bytes:
        """Return some bytes, b'' at the end."""


class RawStream(io.RawIOBase):
    """A receiver as a raw stream. Closing it closes nothing below."""

    def __init__(self, source: Receiver) -> None:
        self._source = source

    def readable(self) -> bool:
        """Return True: that is all it is."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Fill a buffer with what comes first; return how many bytes, 0 at the end."""
        view = memoryview(buffer)
        data = self._source.recv(len(view))
        view[: len(data)] = data
        return len(data)

"""Pictures as bytes, for a file that is written whole and for its owner alone (services.workstation.files)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImage


@contextmanager
def picture_buffer() -> Iterator[QBuffer]:
    """Give a device in memory that a picture is drawn or written to."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    yield buffer
    buffer.close()


def bytes_of(buffer: QBuffer) -> bytes:
    """Return what was written to a device in memory."""
    return bytes(buffer.data().data())


def picture_bytes(image: QImage, kind: str = "png") -> bytes:
    """Return an image in a format that Qt writes; OSError where it has no such format."""
    with picture_buffer() as buffer:
        if not image.save(buffer, kind):  # type: ignore[call-overload]
            message = f"no picture format {kind}"
            raise OSError(message)
        return bytes_of(buffer)

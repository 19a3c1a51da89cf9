"""The drawing as a file: PNG at twice its size, or SVG whose text stays text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from services.errors import BadInput
from services.i18n import tr
from services.workstation.files import write_whole
from widgets.common.pictures import bytes_of, picture_buffer, picture_bytes
from widgets.topology.canvas import Canvas
from widgets.topology.paint_state import Detail

_MARGIN = 24.0
_MOST_PIXELS = 60_000_000  # a picture of 500 nodes stays a file one can send


def export_png(canvas: Canvas, path: Path, *, scale: float = 2.0) -> None:
    """Write the whole drawing, whatever part of it is in sight; raise BadInput when the file can't be written."""
    with _whole(canvas) as area:
        scale = min(scale, (_MOST_PIXELS / (area.width() * area.height())) ** 0.5)
        image = QImage(
            round(area.width() * scale), round(area.height() * scale), QImage.Format.Format_ARGB32_Premultiplied
        )
        image.fill(canvas.paint_state.theme.canvas)
        painter = QPainter(image)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        canvas.scene().render(painter, QRectF(image.rect()), area)
        painter.end()
    _write(path, picture_bytes(image))


def export_svg(canvas: Canvas, path: Path, *, title: str = "") -> None:
    """Write the whole drawing as SVG; raise BadInput when the file can't be written."""
    with picture_buffer() as buffer, _whole(canvas) as area:
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setTitle(title or "Topology")
        generator.setSize(QSize(round(area.width()), round(area.height())))
        generator.setViewBox(QRectF(0, 0, area.width(), area.height()))
        painter = QPainter(generator)
        canvas.scene().render(painter, QRectF(0, 0, area.width(), area.height()), area)
        painter.end()
        data = bytes_of(buffer)
    _write(path, data)


def _write(path: Path, data: bytes) -> None:
    try:
        write_whole(path, data)
    except OSError as problem:
        raise BadInput(
            tr("The drawing could not be written to {path} ({file}).", path=path, file=problem.strerror or problem),
            try_=(tr("Choose a folder you may write to."),),
        ) from problem


@contextmanager
def _whole(canvas: Canvas) -> Iterator[QRectF]:
    """Paint with all text whatever the zoom, without the marks of pointer and selection."""
    state = canvas.paint_state
    before = (state.detail, state.selected, state.hovered)
    state.detail, state.selected, state.hovered = Detail.CARD, "", ""
    try:
        yield canvas.content_rect().adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)
    finally:
        state.detail, state.selected, state.hovered = before

"""The charts as a file: PNG at twice its size, or SVG whose text stays text. What is scrolled out of sight is in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from services.errors import BadInput
from services.i18n import mark, tr
from services.workstation.files import write_whole
from widgets.charts.card import ChartCard
from widgets.common.look.fonts import SMALL, STRONG, TITLE, ui_font
from widgets.common.look.theme import current_theme
from widgets.common.pictures import bytes_of, picture_buffer, picture_bytes

_MARGIN, _HEAD = 20.0, 48.0
_ELSEWHERE = mark("Choose a folder you may write to.")


def export_charts(path: Path, cards: Sequence[ChartCard], size: QSize, title: str, subtitle: str) -> None:
    """Write the cards at their places; the kind by the suffix (.svg, else PNG). BadInput when it can't be written."""
    whole = QSize(size.width(), round(size.height() + _HEAD))
    if path.suffix.casefold() == ".svg":
        with picture_buffer() as buffer:
            generator = QSvgGenerator()
            generator.setOutputDevice(buffer)
            generator.setTitle(title or "Charts")
            generator.setSize(whole)
            generator.setViewBox(QRectF(0, 0, whole.width(), whole.height()))
            painter = QPainter(generator)
            _paint(painter, cards, whole, title, subtitle)
            painter.end()
            data = bytes_of(buffer)
        _write(path, data, tr("The charts could not be written to {path}.", path=path))
        return
    path = path if path.suffix else path.with_suffix(".png")
    image = QImage(whole * 2, QImage.Format.Format_ARGB32_Premultiplied)
    painter = QPainter(image)
    painter.scale(2, 2)
    _paint(painter, cards, whole, title, subtitle)
    painter.end()
    sentence = tr("The picture could not be written to {path}.", path=path)
    try:
        data = picture_bytes(image, path.suffix[1:])
    except OSError as problem:
        raise BadInput(sentence, try_=(tr("Choose a name that ends in .png or .svg."),)) from problem
    _write(path, data, sentence)


def _write(path: Path, data: bytes, sentence: str) -> None:
    try:
        write_whole(path, data)
    except OSError as problem:
        raise BadInput(sentence, try_=(tr(_ELSEWHERE),)) from problem


def _paint(painter: QPainter, cards: Sequence[ChartCard], whole: QSize, title: str, subtitle: str) -> None:
    theme = current_theme()
    painter.fillRect(QRectF(0, 0, whole.width(), whole.height()), theme.canvas)
    left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.setPen(theme.text)
    painter.setFont(ui_font(TITLE, STRONG))
    head = QRectF(_MARGIN, 8, whole.width() - 2 * _MARGIN, _HEAD - 16)
    name = painter.boundingRect(head, int(left), title)
    painter.drawText(head, left, title)
    painter.setFont(ui_font(SMALL))
    painter.setPen(theme.third)
    painter.drawText(head.adjusted(name.width() + (12 if title else 0), 0, 0, 0), left, subtitle)
    for card in cards:
        card.paint_picture(painter, QPointF(card.pos()) + QPointF(0, _HEAD))

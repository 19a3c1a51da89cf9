"""The program's own mark: a ship's wheel, drawn for it (resources/icons). Everything else is said in words.

No icon font is used: the pages show states by their shapes and actions by words, so nothing was left to draw.
"""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPaintEvent, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from widgets.common.look.theme import current_theme, theme_holder

_DRAWN_WITH = "#4456C9"


def _svg(name: str) -> str:
    return (files("resources") / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def paint_wheel(painter: QPainter, rect: QRectF, color: QColor) -> None:
    """Paint the wheel in `color`."""
    QSvgRenderer(QByteArray(_svg("wheel").replace(_DRAWN_WITH, color.name()).encode())).render(painter, rect)


def app_icon() -> QIcon:
    """Return the window's icon in the sizes desktops ask for."""
    renderer = QSvgRenderer(QByteArray(_svg("app").encode()))
    icon = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        pixmap = QPixmap(size, size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter)
        painter.end()
        icon.addPixmap(pixmap)
    return icon


class _Wheel(QWidget):
    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self.setFixedSize(size, size)
        theme_holder().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(self._size, self._size)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_wheel(painter, QRectF(self.rect()), current_theme().accent)
        painter.end()


def wheel_label(size: int = 24) -> QWidget:
    """Return the wheel as a widget that follows the theme."""
    return _Wheel(size)

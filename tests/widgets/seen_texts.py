"""Every text that a person sees or hears of a widget: painted, in fields, menus, tooltips, for screen readers."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from PySide6.QtCore import QBuffer, QIODevice, QPoint
from PySide6.QtGui import QAction, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QLabel,
    QLineEdit,
    QScrollArea,
    QTableWidget,
    QWidget,
)

from widgets.common.controls.labels import ElidedLabel

TEXT = "{http://www.w3.org/2000/svg}text"


def painted(widget: QWidget) -> set[str]:
    """Return the texts painted into a widget: drawn as SVG they stay texts."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(widget.size())
    painter = QPainter(generator)
    widget.render(painter, QPoint())
    painter.end()
    tree = ET.fromstring(bytes(buffer.data().data()))
    return {"".join(element.itertext()).strip() for element in tree.iter(TEXT)}


def told(widget: QWidget) -> Iterator[tuple[str, str]]:
    """Yield (who, text) of what visible parts say beside their paint, and of every entry of their menus."""
    for part in (widget, *widget.findChildren(QWidget)):
        if part.isVisible():
            yield from ((f"{type(part).__name__} {what}", text) for what, text in _told(part))
    if widget.isWindow():
        yield "title", widget.windowTitle()


def _told(part: QWidget) -> Iterator[tuple[str, str]]:
    yield "name", part.accessibleName()
    yield "description", part.accessibleDescription()
    yield "tooltip", part.toolTip()
    if isinstance(part, QLineEdit):
        yield "placeholder", part.placeholderText()
    if isinstance(part, QComboBox):
        yield from (("row", part.itemText(row)) for row in range(part.count()))
    if isinstance(part, QTableWidget):
        yield from (("column", part.horizontalHeaderItem(column).text()) for column in range(part.columnCount()))
    yield from (("action", action.text()) for action in part.findChildren(QAction) if not action.isSeparator())


def seen(widget: QWidget) -> set[tuple[str, str]]:
    """Return (who, text) of everything a widget shows and says."""
    return {("painted", text) for text in painted(widget)} | {(who, text) for who, text in told(widget) if text}


def clipped(widget: QWidget) -> set[tuple[str, str]]:
    """Return (who, text) of texts that lack the room to be read whole and are not cut with an ellipsis on purpose."""
    found: set[tuple[str, str]] = set()
    for part in widget.findChildren(QWidget):
        if not part.isVisible():
            continue
        if isinstance(part, QAbstractButton) and part.text() and part.width() < part.sizeHint().width():
            found.add((type(part).__name__, part.text()))
        if isinstance(part, QLabel) and not isinstance(part, ElidedLabel):
            needs = part.heightForWidth(part.width()) if part.wordWrap() else part.sizeHint().height()
            if part.height() < needs or (not part.wordWrap() and part.width() < part.sizeHint().width()):
                found.add((type(part).__name__, part.text()))
        inner = part.widget() if isinstance(part, QScrollArea) and not part.horizontalScrollBar().isVisible() else None
        if inner is not None and inner.width() > part.viewport().width():
            found.add((type(part).__name__, f"{inner.width()} px in {part.viewport().width()}"))
    return found

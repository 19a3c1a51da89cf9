"""Every page, dialog and state of the window, one after another, and what of their words has no room."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from widgets.common.controls.boxes import CutButton
from widgets.common.controls.combo import Combo
from widgets.common.controls.labels import ElidedLabel
from widgets.common.look.fonts import text_percent
from widgets.common.look.theme import ThemeName, apply_theme

_SLACK = 1
"""Metrics are rounded: a pixel is no letter."""
_AROUND = 150
"""Pixels of margins, shapes and frames beside the words of a page at 200 %."""


def cut_words(root: QWidget) -> list[str]:
    """Return what a person can't read or reach in a window: words without room and without a sign, parts out of it."""
    found = []
    for part in root.findChildren(QWidget):
        if not part.isVisible() or part.window() is not root.window():
            continue
        words = _words_of(part)
        if not words:
            continue
        if why := _no_room(part) or _out_of_reach(part):
            found.append(f"{type(part).__name__} '{words[:50]}': {why}")
    return found


def _words_of(part: QWidget) -> str:
    if isinstance(part, (QLabel, QAbstractButton)):
        return part.text()
    return part.currentText() if isinstance(part, QComboBox) else ""


def _no_room(part: QWidget) -> str:
    if isinstance(part, (ElidedLabel, CutButton, Combo)):
        least = part.fontMetrics().horizontalAdvance("MM…")
        return f"{part.width()} px leave no letter" if part.width() < min(least, part.sizeHint().width()) else ""
    if isinstance(part, QLabel):
        return _label_room(part)
    need, has = part.sizeHint(), part.size()
    if isinstance(part, QComboBox):
        advance = part.fontMetrics().horizontalAdvance(part.currentText()) + 34
        return f"{advance} px of words in {has.width()}" if advance > has.width() + _SLACK else ""
    if isinstance(part, QPushButton) and hasattr(part, "shown_text"):
        need.setWidth(0)
    if isinstance(part, (QPushButton, QCheckBox, QRadioButton)):
        advance = part.fontMetrics().horizontalAdvance(part.text().replace("&", ""))
        need.setWidth(min(need.width(), advance + 8) if isinstance(part, QPushButton) else need.width())
    if need.width() > has.width() + _SLACK:
        return f"{need.width()} px of words in {has.width()}"
    if part.fontMetrics().ascent() + part.fontMetrics().descent() > has.height() + _SLACK:
        return f"letters higher than {has.height()} px"
    return ""


def _label_room(part: QLabel) -> str:
    room = part.contentsRect()
    margin = 2 * part.margin() + (2 * part.indent() if part.indent() > 0 else 0)
    metrics = part.fontMetrics()
    pieces = part.text().split() if part.wordWrap() else part.text().splitlines()
    widest = max((metrics.horizontalAdvance(piece) for piece in pieces), default=0) + margin
    if widest > room.width() + _SLACK:
        return f"{widest} px of words in {room.width()}"
    lines = len(part.text().splitlines())
    if part.wordWrap():
        flags = int(Qt.TextFlag.TextWordWrap)
        high = metrics.boundingRect(QRect(0, 0, room.width(), 100_000), flags, part.text()).height()
    else:
        high = (lines - 1) * metrics.lineSpacing() + metrics.ascent() + metrics.descent()
    return f"{high} px of lines in {room.height()}" if high > room.height() + 2 else ""


def _out_of_reach(part: QWidget) -> str:
    """Return how a part sticks out of what it stands in, where no scrolling brings it in."""
    inner: QWidget = part
    box = part.rect()
    while not inner.isWindow():
        parent = inner.parentWidget()
        if parent is None:
            break
        box = QRect(inner.mapTo(parent, box.topLeft()), box.size())
        area = parent.parentWidget()
        if isinstance(area, QAbstractScrollArea) and area.viewport() is parent:
            across = area.horizontalScrollBar()
            never = area.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            if (never or not across.maximum()) and box.right() > parent.width() + _SLACK:
                return f"ends {box.right() - parent.width()} px right of its page, which does not scroll"
            return ""
        if box.right() > parent.width() + _SLACK or box.left() < -_SLACK:
            return f"{box.left()} to {box.right()} of {parent.width()} px across"
        if box.bottom() > parent.height() + _SLACK or box.top() < -_SLACK:
            return f"{box.top()} to {box.bottom()} of {parent.height()} px down"
        inner = parent
    return ""


def sideways(root: QWidget) -> list[str]:
    """Return the pages that have to be scrolled sideways to be read: tables and drawings may be, nobody reads so.

    A single word that is wider than its place (a state UUID) is not broken; for it, and no further, a page may scroll.
    """
    found = []
    for area in root.findChildren(QScrollArea):
        wider = area.horizontalScrollBar().maximum()
        if not area.isVisible() or area.window() is not root.window() or not wider:
            continue
        shown = [part for part in area.findChildren(QLabel) if part.isVisible() and part.wordWrap()]
        longest = max(
            (part.fontMetrics().horizontalAdvance(w) for part in shown for w in part.text().split()), default=0
        )
        if wider > max(0, longest - area.viewport().width() + _AROUND):
            found.append(f"{type(area.widget()).__name__} is {wider} px wider than its place")
    return found


def overlaps(root: QWidget) -> list[str]:
    """Return pairs of words that lie over each other."""
    shown = [
        part
        for part in root.findChildren(QWidget)
        if part.isVisible() and _words_of(part) and part.window() is root.window()
    ]
    return [
        f"'{_words_of(one)[:30]}' over '{_words_of(other)[:30]}'"
        for one, other in combinations(shown, 2)
        if one.parentWidget() is other.parentWidget() and one.geometry().intersects(other.geometry())
    ]


def keep_picture(root: QWidget, name: str) -> None:
    """Keep a picture where PILOTHOUSE_PICTURES says."""
    if folder := os.environ.get("PILOTHOUSE_PICTURES", ""):
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        root.grab().save(str(place / f"{name}.png"))


class View:
    """Looks at windows of one size, and says of all of them what has no room."""

    def __init__(self, size: tuple[int, int], qtbot: QtBot, theme: ThemeName = "light") -> None:
        self._size, self._qtbot, self._theme = size, qtbot, theme
        self._found: list[str] = []

    def shape(self, window: QWidget) -> None:
        """Give a window the size, and the theme: a whole window began with its own."""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        apply_theme(application, self._theme)
        window.resize(*self._size)

    def look(self, root: QWidget, name: str) -> None:
        """Note what has no room in a window as it stands, and keep a picture of it."""
        self._qtbot.wait(60)
        for _ in range(40):
            QApplication.processEvents()  # pages are filled piece by piece, a turn of the event loop each
        keep_picture(root, f"{name}-{self._theme}-{self._size[0]}x{self._size[1]}-{text_percent()}")
        self._found += [f"{name}: {fault}" for fault in (*cut_words(root), *overlaps(root), *sideways(root))]

    def judge(self) -> None:
        """Fail with all that was found."""
        assert not self._found, "\n" + "\n".join(self._found)

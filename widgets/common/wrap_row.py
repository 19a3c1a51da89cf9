"""A row that goes on below where it has no room: bars above pages in a small window, or with large text."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLayout, QLayoutItem, QSizePolicy, QWidget

from widgets.common.fonts import px

_LEAST = 64
"""What is cut to its place is cut no shorter before the row goes on below."""


class WrapRow(QLayout):
    """Parts side by side, in lines; in each line what can grow takes the rest."""

    def __init__(self, *, margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int = 8) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(*margins)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        """Take an item at the end."""
        self._items.append(item)

    def add_layout(self, layout: QHBoxLayout) -> None:
        """Take a row whose parts stay together."""
        self.addChildLayout(layout)
        self.addItem(layout)

    def count(self) -> int:
        """Return how many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item, None past the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Give an item away."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Return that it takes any width."""
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        """Return that it is higher where it is narrow."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of its lines."""
        left, top, right, bottom = self._margins()
        lines = self._lines(width - left - right)
        return top + bottom + sum(map(_height, lines)) + self.spacing() * max(0, len(lines) - 1)

    def minimumHeightForWidth(self, width: int) -> int:
        """Return the height of its lines: they can't be lower."""
        return self.heightForWidth(width)

    def sizeHint(self) -> QSize:
        """Return the size of all in one line."""
        left, top, right, bottom = self._margins()
        shown = self._shown()
        width = sum(item.sizeHint().width() for item in shown) + self.spacing() * max(0, len(shown) - 1)
        return QSize(left + right + width, top + bottom + _height(shown))

    def minimumSize(self) -> QSize:
        """Return room for the widest part."""
        left, top, right, bottom = self._margins()
        shown = self._shown()
        return QSize(left + right + max(map(_least, shown), default=0), top + bottom + _height(shown))

    def setGeometry(self, rect: QRect) -> None:
        """Place the parts."""
        super().setGeometry(rect)
        left, top, right, bottom = self._margins()
        inner = rect.adjusted(left, top, -right, -bottom)
        y = inner.y()
        for line in self._lines(inner.width()):
            self._place(line, inner, y)
            y += _height(line) + self.spacing()

    def _place(self, line: list[QLayoutItem], inner: QRect, y: int) -> None:
        needs = [_least(item) for item in line]
        rest = inner.width() - sum(needs) - self.spacing() * (len(line) - 1)
        growing = [n for n, item in enumerate(line) if _grows(item)]
        for left, n in enumerate(growing):
            more = max(0, min(rest // (len(growing) - left), line[n].maximumSize().width() - needs[n]))
            needs[n] += more
            rest -= more
        x, high = inner.x(), _height(line)
        for item, width in zip(line, needs, strict=True):
            height = min(high, item.sizeHint().height())
            item.setGeometry(QRect(x, y + (high - height) // 2, min(width, inner.width()), height))
            x += width + self.spacing()

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        used = 0
        for item in self._shown():
            need = _least(item)
            if lines and used + self.spacing() + need <= width:
                lines[-1].append(item)
                used += self.spacing() + need
            else:
                lines.append([item])
                used = need
        return lines

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _margins(self) -> tuple[int, int, int, int]:
        sides = self.contentsMargins()
        return sides.left(), sides.top(), sides.right(), sides.bottom()


def wrap_row(*parts: QWidget, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> WrapRow:
    """Return such a row of these."""
    row = WrapRow(margins=margins)
    for part in parts:
        row.addWidget(part)
    return row


def _grows(item: QLayoutItem) -> bool:
    """Return whether a part takes what room is left; an ignored hint says that words are cut to their place."""
    widget = item.widget()
    cut = widget is not None and widget.sizePolicy().horizontalPolicy() is QSizePolicy.Policy.Ignored
    return cut or bool(item.expandingDirections() & Qt.Orientation.Horizontal)


def _least(item: QLayoutItem) -> int:
    hint, least = item.sizeHint().width(), item.minimumSize().width()
    return max(least, min(hint, px(_LEAST))) if least < hint else hint


def _height(line: list[QLayoutItem]) -> int:
    return max((item.sizeHint().height() for item in line), default=0)

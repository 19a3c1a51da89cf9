"""A row that goes on below where it has no room: bars above pages in a small window, or with large text.

It is a widget that places its children, on purpose no QLayout. A layout written in Python holds QLayoutItems, which no
widget owns and no signal announces: Qt deletes them with their widgets (QLayout::widgetEvent) and with their layout, in
an order of its own, and Python's next look at one is "Internal C++ object already deleted". Children are owned by their
parent, and Qt takes one out of `children()` before it is gone. Nothing of them is kept here: each look asks for the
children of that moment, so there is nothing that could be stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from widgets.common.look.fonts import px

_LEAST, _READABLE = 64, 120
"""Fields are made no narrower before the row goes on below, and what stands there alone is no narrower at all.
Words that are cut to their place go on below long before that, so that what is left of them can be read.
"""
_TURNED = frozenset({QEvent.Type.LayoutRequest, QEvent.Type.ChildRemoved, QEvent.Type.Show})


class _Part(NamedTuple):
    """A child for one look: where among the children, how narrow in a line of others and alone, how high, how wide."""

    place: int
    least: int
    alone: int
    height: int
    most: int
    grows: bool
    widget: QWidget


class WrapRow(QWidget):
    """Parts side by side, in lines; in each line what can grow takes the rest."""

    def __init__(self, *parts: QWidget, margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int = 8) -> None:
        super().__init__()
        self.setContentsMargins(*margins)
        self._spacing = spacing
        self._needs: list[tuple[object, ...]] = []
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        for part in parts:
            self.add(part)

    def add(self, part: QWidget) -> None:
        """Take a part at the end; one that was hidden stays so."""
        hidden = part.isHidden() and part.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide)
        part.setParent(self)
        if self.isVisible() and not hidden:
            part.show()

    def drop_all(self) -> None:
        """Delete the parts, at the next turn of the event loop; they are out of sight at once."""
        for part in self._parts():
            part.hide()
            part.deleteLater()

    def heightForWidth(self, width: int) -> int:
        """Return the height of its lines."""
        sides = self.contentsMargins()
        lines = self._lines(self._shown(), width - sides.left() - sides.right())
        return sides.top() + sides.bottom() + sum(map(_height, lines)) + self._spacing * max(0, len(lines) - 1)

    def sizeHint(self) -> QSize:
        """Return the size of all in one line, cut words no longer than they have to be."""
        sides, shown = self.contentsMargins(), self._shown()
        width = sum(part.least for part in shown) + self._spacing * max(0, len(shown) - 1)
        return QSize(sides.left() + sides.right() + width, sides.top() + sides.bottom() + _height(shown))

    def minimumSizeHint(self) -> QSize:
        """Return room for the widest part, cut words at their shortest."""
        sides, shown = self.contentsMargins(), self._shown()
        width = max((part.alone for part in shown), default=0)
        return QSize(sides.left() + sides.right() + width, sides.top() + sides.bottom() + _height(shown))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the parts in the new room."""
        super().resizeEvent(event)
        self._place_all(self._shown())

    def event(self, event: QEvent) -> bool:
        """Place the parts anew when one of them came, went, or needs other room: Qt asks whoever has no layout so.

        Words that change each second and are cut to their place need no other room: nothing is laid out anew.
        """
        seen = super().event(event)
        if event.type() in _TURNED:
            shown = self._shown()
            needs: list[tuple[object, ...]] = [part[:-1] for part in shown]  # the widgets are not kept
            if needs != self._needs or event.type() is not QEvent.Type.LayoutRequest:
                self._needs = needs
                self.updateGeometry()
                self._place_all(shown)
        return seen

    def _place_all(self, shown: Sequence[_Part]) -> None:
        inner = self.contentsRect()
        y = inner.y()
        for line in self._lines(shown, inner.width()):
            self._place(line, inner, y)
            y += _height(line) + self._spacing

    def _place(self, line: Sequence[_Part], inner: QRect, y: int) -> None:
        widths = [part.least for part in line]
        rest = inner.width() - sum(widths) - self._spacing * (len(line) - 1)
        growing = [n for n, part in enumerate(line) if part.grows]
        growing.sort(key=lambda n: line[n].most - widths[n])  # what one can't take is shared by the others
        for left, n in enumerate(growing):
            more = max(0, min(rest // (len(growing) - left), line[n].most - widths[n]))
            widths[n] += more
            rest -= more
        x, high = inner.x(), _height(line)
        for part, width in zip(line, widths, strict=True):
            top = y + (high - part.height) // 2
            part.widget.setGeometry(QRect(x, top, min(width, inner.width()), part.height))
            x += width + self._spacing

    def _lines(self, shown: Sequence[_Part], width: int) -> list[list[_Part]]:
        lines: list[list[_Part]] = []
        used = 0
        for part in shown:
            if lines and used + self._spacing + part.least <= width:
                lines[-1].append(part)
                used += self._spacing + part.least
            else:
                lines.append([part])
                used = part.least
        return lines

    def _parts(self) -> list[QWidget]:
        return [child for child in self.children() if isinstance(child, QWidget) and not child.isWindow()]

    def _shown(self) -> list[_Part]:
        return [_measured(part, place) for place, part in enumerate(self._parts()) if not part.isHidden()]


def turn_box(box: QBoxLayout, *, beside: bool) -> None:
    """Let what stands in a box stand side by side, or one below the other."""
    box.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)


def _measured(part: QWidget, place: int) -> _Part:
    """Measure a part within its bounds, as QLayoutItems reckon (qSmartMinSize).

    An ignored hint says that words are cut to their place: they take what room is left, as what may expand does.
    """
    floor = part.minimumSizeHint()
    hint = part.sizeHint().expandedTo(floor).boundedTo(part.maximumSize()).expandedTo(part.minimumSize())
    policy = part.sizePolicy()
    cut = policy.horizontalPolicy() is QSizePolicy.Policy.Ignored
    grows = cut or bool(policy.expandingDirections() & Qt.Orientation.Horizontal)
    wide = least = alone = hint.width()
    if cut:
        least, alone = (max(part.minimumWidth(), min(wide, px(room))) for room in (_READABLE, _LEAST))
    elif policy.horizontalPolicy().value & QSizePolicy.PolicyFlag.ShrinkFlag.value:
        least = alone = max(floor.width(), part.minimumWidth(), min(wide, px(_LEAST)))
    return _Part(place, least, alone, hint.height(), part.maximumWidth(), grows, part)


def _height(line: Sequence[_Part]) -> int:
    return max((part.height for part in line), default=0)

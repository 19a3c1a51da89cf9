"""Where the cards of the charts page stand, and the edges of the time axis that all of their plots share.

One below the other they share it with the event strip too: an event is one upright line through all of them. Side by
side there is more in sight at once; then only the plots of a column stand on one axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QWidget

from widgets.common.look.fonts import px

if TYPE_CHECKING:
    from widgets.charts.card import ChartCard

_GAP, _ROW_GAP = 14, 10
_TWO_COLUMNS, _THREE_COLUMNS = 720, 1560
_ROOM, _RIGHT_SCALE = (60.0, 16.0), 48.0
"""Left and right of every plot's frame, for the words of its scales; whose words are wider widens all."""
_STEP_PX = 8.0


class Board(QScrollArea):
    """The cards in one column, or as many as fit. Signal frame_moved(): `edges` are others than before."""

    frame_moved = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._cards: tuple[ChartCard, ...] = ()
        self._columns = 0
        self._side_by_side = False
        self._room = float(px(_ROOM[0])), float(px(_ROOM[1]))
        self._told: tuple[float, float] | None = None
        self._tell_soon = QTimer(self)
        self._tell_soon.setSingleShot(True)
        self._tell_soon.setInterval(0)
        self._tell_soon.timeout.connect(self._tell)
        self.body = QWidget()
        self._grid = QGridLayout(self.body)
        self._grid.setContentsMargins(20, 4, 16, 16)
        self._grid.setHorizontalSpacing(_GAP)
        self._grid.setVerticalSpacing(_ROW_GAP)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(self.body)
        self.body.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)

    def adopt(self, card: ChartCard) -> None:
        """Let a new card's plot stand on the axis of all."""
        card.plot.set_room(*self._room)
        self._widen(0.0, px(_RIGHT_SCALE) if card.spec.has_right else 0.0)
        card.plot.crowded.connect(self._widen)
        card.plot.resized.connect(self._tell_soon.start)

    def place(self, cards: Sequence[ChartCard]) -> None:
        """Show these cards, in this order."""
        for card in self._cards:
            self._grid.removeWidget(card)
        self._cards = tuple(cards)
        self._columns = 0
        self._arrange()
        self._share()

    def set_side_by_side(self, chosen: bool) -> None:
        """Put as many cards beside one another as there is room for, or one below the other."""
        self._side_by_side = chosen
        self._arrange()

    def fit_text(self) -> None:
        """Give the words of the scales the room that they need in the present text size, and cards theirs."""
        right = _RIGHT_SCALE if any(card.spec.has_right for card in self._cards) else _ROOM[1]
        self._room = float(px(_ROOM[0])), float(px(right))
        self._arrange()
        self._share()

    def bring(self, card: ChartCard) -> None:
        """Bring a card into sight, its title at the top where there is room."""
        self._grid.activate()
        self.verticalScrollBar().setValue(max(0, card.y() - _ROW_GAP))

    def edges(self) -> tuple[float, float] | None:
        """Return left and right of the time axis in pixels of this widget; None while there is no plot."""
        if not self._cards:
            return None
        frames = [c.plot.frame_rect().translated(c.plot.mapTo(self, QPoint())) for c in self._cards]
        return min(frame.left() for frame in frames), max(frame.right() for frame in frames)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose the number of columns."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        width = self.width()
        fits = 1 if width < px(_TWO_COLUMNS) else 2 if width < px(_THREE_COLUMNS) else 3
        columns = fits if self._side_by_side else 1
        if columns == self._columns:
            return
        self._columns = columns
        rows = -(-len(self._cards) // columns)
        for index, card in enumerate(self._cards):
            self._grid.addWidget(card, index // columns, index % columns)
        for column in range(3):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, 1 if row < rows else 0)
        self._tell_soon.start()

    def _widen(self, left: float, right: float) -> None:
        """Give every plot the room that one of them needs; it is not taken back, or the axis would move to and fro."""
        had = self._room
        self._room = max(had[0], _stepped(left)), max(had[1], _stepped(right))
        if self._room != had:
            self._share()

    def _share(self) -> None:
        for card in self._cards:
            card.plot.set_room(*self._room)
        self._tell_soon.start()

    def _tell(self) -> None:
        now = self.edges()
        if now is not None and now != self._told:
            self._told = now
            self.frame_moved.emit()


def _stepped(room: float) -> float:
    return math.ceil(room / _STEP_PX) * _STEP_PX

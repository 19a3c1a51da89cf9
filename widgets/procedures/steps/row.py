"""One step as a row that paints itself: sixty of them are made at once and brought up to date ten times a second."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from services.i18n import tr
from services.procedures.plan.run_model import StepView
from services.types import Health
from widgets.common.commands.shortcuts import PROCEDURE, act_of
from widgets.common.look.fonts import STRONG, px
from widgets.common.look.glyphs import glyph, shape_box
from widgets.common.look.theme import current_theme, mono_font, theme_holder, ui_font
from widgets.procedures.mono import PAD_X, PAD_Y, Wrapped
from widgets.procedures.steps.content import Block, RowContent, RowInput, row_content

_TOP, _BOTTOM, _GAP = 8.0, 8.0, 4.0
_NUMBER_WIDTH, _GLYPH_X, _HOST_X = 30.0, 40.0, 62.0
_RISK_WIDTH, TOOK_WIDTH, _RIGHT = 104.0, 112.0, 16.0
_BAR = 4.0
_LEAST_TITLE = 120.0
_WIDTHS = 8


@dataclass(frozen=True, slots=True)
class _Placed:
    block: Block
    text: Wrapped | None
    y: float
    height: float


_Laid = tuple[tuple[_Placed, ...], float]  # blocks in their places, the height of all


class StepRow(QWidget):
    """Signals: `chosen(int)` when it gets the focus or a click, `moved(int)` -1 or +1 for Up and Down, 0 for Enter,

    `turned(bool)` for Right (all of it) and Left.
    """

    chosen = Signal(int)
    moved = Signal(int)
    turned = Signal(bool)

    def __init__(self, index: int, view: StepView, given: RowInput, host_width: float) -> None:
        super().__init__()
        self.index = index
        self._view, self._given = view, given
        self._host_width = host_width
        self._now = 0.0
        self._content = row_content(index + 1, view, given, 0.0)
        self._laid: dict[int, _Laid] = {}  # by width: a layout asks for several before it settles
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(self._content.spoken())
        theme_holder().changed.connect(self.update)

    def set_host_width(self, width: float) -> None:
        """Take another width of the hosts' column: the text has another size."""
        if width != self._host_width:
            self._host_width = width
            self._laid.clear()
            self.updateGeometry()
            self.update()

    @property
    def content(self) -> RowContent:
        """Return what is shown."""
        return self._content

    @property
    def given(self) -> RowInput:
        """Return what the row is made of besides its step."""
        return self._given

    def show_step(self, view: StepView, given: RowInput, now: float) -> bool:
        """Show the step anew; return whether anything changed. Cheap while nothing does."""
        began, ended = view.span
        if view is self._view and given == self._given and (began is None or ended is not None):
            return False
        self._view, self._given, self._now = view, given, now
        content = row_content(self.index + 1, view, given, now)
        if content == self._content:
            return False
        same_place = content.blocks == self._content.blocks
        self._content = content
        self.setAccessibleName(content.spoken())
        if not same_place:
            before = self._laid.get(self.width())
            self._laid.clear()
            if before is None or self._layout(self.width())[1] != before[1]:
                self.updateGeometry()
        self.update()
        return True

    # -- layout --------------------------------------------------------------------------------------------------
    def _layout(self, width: int) -> _Laid:
        if width not in self._laid:
            if len(self._laid) >= _WIDTHS:
                self._laid.clear()
            self._laid[width] = self._lay(width)
        return self._laid[width]

    def _lay(self, width: int) -> _Laid:
        left = self._left(width)
        beside = width - left - _RIGHT - px(TOOK_WIDTH) - px(_RISK_WIDTH)
        y, placed = _TOP, []
        if self._stacked(width):
            y, beside = _TOP + QFontMetricsF(ui_font()).height() + _GAP, width - left - _RIGHT
        for number, block in enumerate(self._content.blocks):
            room = beside if number == 0 else width - left - _RIGHT
            if block.kind == "bar":
                placed.append(_Placed(block, None, y + 3, _BAR))
                y += _BAR + 6 + _GAP
                continue
            mono = block.kind == "mono"
            text = Wrapped(block.lines, mono_font() if mono else ui_font(), room - (2 * PAD_X if mono else 0))
            height = text.height + (2 * PAD_Y if mono else 0)
            placed.append(_Placed(block, text, y, height))
            y += height + _GAP
        return tuple(placed), y - _GAP + _BOTTOM + 1

    def _stacked(self, width: int) -> bool:
        """Return whether the title stands below host, risk and time: large text leaves it no room between them."""
        return width < px(_HOST_X) + self._host_width + 12.0 + px(_LEAST_TITLE + _RISK_WIDTH + TOOK_WIDTH) + _RIGHT

    def _left(self, width: int) -> float:
        return px(_HOST_X) if self._stacked(width) else px(_HOST_X) + self._host_width + 12.0

    def hasHeightForWidth(self) -> bool:
        """Return True: titles and commands break."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height that shows everything at `width`."""
        return int(self._layout(width)[1] + 0.999)

    def sizeHint(self) -> QSize:
        """Return a size for the present width."""
        width = max(self.width(), 480)
        return QSize(480, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Return the narrowest width that still reads."""
        return QSize(px(_HOST_X + _LEAST_TITLE), 32)

    # -- painting ------------------------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw ground, shape, host, blocks, risk and time."""
        del event
        theme, content = current_theme(), self._content
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        if content.ground:
            painter.fillRect(box, getattr(theme, content.ground))
        if self.index:
            painter.fillRect(QRectF(0, 0, box.width(), 1), theme.line)
        if self.hasFocus():
            painter.setPen(theme.accent)
            painter.drawRoundedRect(box.adjusted(2.5, 2.5, -2.5, -2.5), 4, 4)
        self._paint_head(painter, box)
        for part in self._layout(self.width())[0]:
            self._paint_block(painter, part)
        painter.end()

    def _paint_head(self, painter: QPainter, box: QRectF) -> None:
        theme, content = current_theme(), self._content
        line = QRectF(0, _TOP, px(_NUMBER_WIDTH), QFontMetricsF(ui_font()).height())
        middle = line.center().y()
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.setFont(ui_font(12))
        painter.setPen(theme.third)
        painter.drawText(line, right, content.number)
        shape = Health.TRANSFER if content.ground == "transfer_tint" else content.health
        glyph(painter, shape_box(px(_GLYPH_X), middle), shape, theme)
        painter.setFont(ui_font(weight=STRONG))
        painter.setPen(theme.text)
        host = QFontMetricsF(painter.font()).elidedText(content.host, Qt.TextElideMode.ElideMiddle, self._host_width)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(QRectF(px(_HOST_X), line.y(), self._host_width + 4, line.height()), left, host)
        painter.setFont(ui_font())
        risk, took = self._right_words(box.right(), QFontMetricsF(painter.font()))
        painter.setPen(theme.second)
        painter.drawText(QRectF(took[0], line.y(), took[1], line.height()), right, content.took)
        painter.setPen(getattr(theme, content.risk_token))
        painter.drawText(QRectF(risk[0], line.y(), risk[1], line.height()), right, content.risk)

    def _right_words(self, edge: float, metrics: QFontMetricsF) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return left and width of risk and time: columns, or where there is no room for these as wide as they are."""
        took, risk, gap = float(px(TOOK_WIDTH)), px(_RISK_WIDTH) - 4.0, 4.0
        if self._stacked(self.width()):
            took, risk = (metrics.horizontalAdvance(text) + 2 for text in (self._content.took, self._content.risk))
            gap = 14.0 if self._content.took else 0.0
        start = edge - _RIGHT - took
        return (start - gap - risk, risk), (start, took)

    def _paint_block(self, painter: QPainter, part: _Placed) -> None:
        theme, left = current_theme(), self._left(self.width())
        if part.text is None:
            room = QRectF(left, part.y, self.width() - left - _RIGHT, _BAR)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.panel)
            painter.drawRoundedRect(room, 2, 2)
            painter.setBrush(theme.transfer)
            painter.drawRoundedRect(QRectF(room.x(), room.y(), room.width() * part.block.share, _BAR), 2, 2)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            return
        if part.block.kind == "mono":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.panel if self._content.ground else theme.canvas)
            width = min(self.width() - left - _RIGHT, part.text.widest + 2 * PAD_X)
            painter.drawRoundedRect(QRectF(left, part.y, width, part.height), 4, 4)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(theme.second)
            part.text.paint(painter, left + PAD_X, part.y + PAD_Y)
            return
        painter.setPen(getattr(theme, part.block.token))
        part.text.paint(painter, left, part.y)

    # -- hand ----------------------------------------------------------------------------------------------------
    def copy(self) -> None:
        """Put the step's exact commands on the clipboard (its title where it has none)."""
        lines = [line for block in self._content.blocks if block.kind == "mono" for line in block.lines]
        QGuiApplication.clipboard().setText("\n".join(self._given.wording or lines or self._content.blocks[0].lines))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down move between the rows, Enter and Right show all of a row, the platform's key copies."""
        act = act_of(PROCEDURE, event)
        if act in {"up", "down", "unfold"}:
            self.moved.emit({"up": -1, "down": 1, "unfold": 0}[act])
        elif act in {"open", "close"}:
            self.turned.emit(act == "open")
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all of the row, or fold it."""
        del event
        self.moved.emit(0)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy the commands."""
        menu = QMenu(self)
        menu.addAction(tr("Copy"), self.copy)
        menu.exec(event.globalPos())

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell the list which step is looked at."""
        super().focusInEvent(event)
        self.chosen.emit(self.index)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the frame away."""
        super().focusOutEvent(event)
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        """Lay out anew with another font."""
        if event.type() is QEvent.Type.FontChange:
            self._laid.clear()
        super().changeEvent(event)

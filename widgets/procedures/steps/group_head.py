"""The head of a group of steps: whose, how many, how long, like which other; in a run how far it is."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent

from services.types import Health
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import STRONG, px
from widgets.common.look.glyphs import glyph, shape_box
from widgets.common.look.theme import current_theme, ui_font
from widgets.procedures.steps.fold_line import FoldLine, focus_ring, wedge
from widgets.procedures.steps.row import TOOK_WIDTH

_HEIGHT = 34
_WEDGE_X, _GLYPH_X, _HOST_X, _RIGHT = 22.0, 40.0, 62.0, 16.0


@dataclass(frozen=True, slots=True)
class HeadWords:
    """What the head of a group says: the risk is told while its steps are folded away."""

    host: str
    told: str
    health: Health
    took: str = ""
    risk: str = ""
    risk_token: str = "second"  # noqa: S105 - a colour's name


class GroupHead(FoldLine):
    """`turned(bool)`, `moved(int)` as every fold."""

    def __init__(self, number: int, host_width: float) -> None:
        super().__init__(_HEIGHT, opened=True)
        self.number = number
        self._host_width = host_width
        self._words = HeadWords("", "", Health.UNKNOWN)

    def set_host_width(self, width: float) -> None:
        """Take another width of the hosts' column: the text has another size."""
        self._host_width = width
        self.update()

    @property
    def words(self) -> HeadWords:
        """Return what is shown."""
        return self._words

    def say(self, words: HeadWords) -> None:
        """Show these words."""
        if words == self._words:
            return
        self._words = words
        self.setText(words.host)
        self.setAccessibleName(f"{words.host} {words.told}")
        self.describe(" ".join(filter(None, (words.risk, words.took))))
        set_tip(self, f"{words.host}: {words.told}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw wedge, shape, host, what is told, the worst risk of what is folded, the time."""
        del event
        theme, words = current_theme(), self._words
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        painter.fillRect(box, theme.canvas)
        if self.number:
            painter.fillRect(QRectF(0, 0, box.width(), 1), theme.line)
        if self.hasFocus():
            focus_ring(painter, box)
        middle = box.center().y()
        wedge(painter, QPointF(px(_WEDGE_X), middle), down=self.opened)
        glyph(painter, shape_box(px(_GLYPH_X), middle), words.health, theme)
        line = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.setFont(ui_font(weight=STRONG))
        painter.setPen(theme.text)
        metrics = QFontMetricsF(painter.font())
        host = metrics.elidedText(words.host, Qt.TextElideMode.ElideMiddle, self._host_width)
        painter.drawText(QRectF(px(_HOST_X), 0, self._host_width + 4, box.height()), line, host)
        self._paint_rest(painter, box.adjusted(px(_HOST_X) + self._host_width + 12, 0, -_RIGHT, 0))
        painter.end()

    def _paint_rest(self, painter: QPainter, room: QRectF) -> None:
        theme, words = current_theme(), self._words
        line = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.setFont(ui_font())
        metrics = QFontMetricsF(painter.font())
        risk = "" if self.opened else words.risk
        columns = ((words.took, "second", px(TOOK_WIDTH) + 4.0 if risk else 0.0), (risk, words.risk_token, 0.0))
        for text, token, column in columns:  # risk and time stand where the rows below have them
            if text:
                painter.setPen(getattr(theme, token))
                painter.drawText(room, line | Qt.AlignmentFlag.AlignRight, text)
            taken = metrics.horizontalAdvance(text) + 20 if text else 0.0
            room.setRight(room.right() - max(column, taken))
        painter.setPen(theme.second)
        painter.drawText(
            room, line, metrics.elidedText(words.told, Qt.TextElideMode.ElideRight, max(0.0, room.width()))
        )

"""Words that are painted again with each second, as they were: laid out once, then drawn."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QStaticText, QTransform

from widgets.common.fonts import SMALL, px, ui_font


def write_small(painter: QPainter, x: float, middle: float, across: float, words: str) -> None:
    """Write words of the small size in the painter's pen, their middle at a height.

    Quicker than QPainter.drawText, which lays the words out each time. For words that stay (ticks of an axis, names);
    what changes with each second is not worth keeping.

    Args:
        across: 0 where `x` is their left, 0.5 their middle, 1 their right.
    """
    static, width, height = _laid_out(words, px(SMALL))
    painter.drawStaticText(QPointF(x - across * width, middle - 0.5 * height), static)


@lru_cache(maxsize=1_024)
def _laid_out(words: str, pixels: int) -> tuple[QStaticText, float, float]:
    del pixels  # another text size is another font
    made = QStaticText(words)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    made.prepare(QTransform(), ui_font(SMALL))
    size = made.size()
    return made, size.width(), size.height()

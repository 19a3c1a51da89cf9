"""Words of the small size that are painted at a point, once it is known how wide they are: ticks of an axis."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF
from PySide6.QtGui import QFontMetricsF, QPainter

from widgets.common.look.fonts import SMALL, px, small_width, ui_font


def write_small(painter: QPainter, x: float, middle: float, across: float, words: str) -> None:
    """Write words in the painter's pen, their middle at a height.

    Quicker than QPainter.drawText into a box, which measures the words each time to find their place in it.

    Args:
        painter: has the font of the small size.
        across: 0 where `x` is their left, 0.5 their middle, 1 their right.
    """
    painter.drawText(QPointF(x - across * small_width(words), middle + _below_middle(px(SMALL))), words)


@lru_cache(maxsize=16)
def _below_middle(pixels: int) -> float:
    """Return how far the line that letters stand on is below the middle of their height."""
    del pixels  # another text size is another font
    metrics = QFontMetricsF(ui_font(SMALL))
    return 0.5 * (metrics.ascent() - metrics.descent())

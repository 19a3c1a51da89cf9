"""What all items of one canvas share while they paint, so that none has to ask Qt for it node by node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtGui import QFont, QFontMetricsF

from widgets.common.look.fonts import BASE, SMALL, STRONG, TITLE, drawn_font, text_percent
from widgets.common.look.theme import Theme, current_theme

NAMES_FROM = 0.45  # below this zoom no text: the budget of the design, and nobody could read it
CARDS_FROM = 0.7


class Detail(IntEnum):
    """How much of a node is drawn."""

    GLYPH = 0
    NAME = 1
    CARD = 2


def detail_at(zoom: float) -> Detail:
    """Return the level of detail for a zoom factor: who wants larger text gets fewer words sooner, but larger ones."""
    zoom /= min(1.5, text_percent() / 100)
    if zoom < NAMES_FROM:
        return Detail.GLYPH
    return Detail.NAME if zoom < CARDS_FROM else Detail.CARD


class Fonts:
    """The fonts of the drawing with their metrics; made once there is an application."""

    def __init__(self) -> None:
        self.name: QFont = drawn_font(TITLE, STRONG)
        self.strong: QFont = drawn_font(SMALL, STRONG)
        self.small: QFont = drawn_font(SMALL)
        self.base_strong: QFont = drawn_font(BASE, STRONG)
        self.base: QFont = drawn_font(BASE)
        self.far_name: QFont = drawn_font(26, STRONG)
        self.far_state: QFont = drawn_font(20)
        self.name_width = QFontMetricsF(self.name)
        self.strong_width = QFontMetricsF(self.strong)
        self.small_width = QFontMetricsF(self.small)
        self.base_strong_width = QFontMetricsF(self.base_strong)
        self.base_width = QFontMetricsF(self.base)
        self.far_name_width = QFontMetricsF(self.far_name)
        self.far_state_width = QFontMetricsF(self.far_state)


@dataclass(slots=True)
class PaintState:
    """Mutable on purpose: one object per canvas, changed by the canvas, read by its items."""

    fonts: Fonts
    theme: Theme
    detail: Detail = Detail.CARD
    selected: str = ""
    hovered: str = ""
    focused: bool = False
    phase: float = 0.0  # of moving dashes, scene pixels

    @classmethod
    def fresh(cls) -> PaintState:
        """Return a state for a new canvas."""
        return cls(Fonts(), current_theme())

"""Type: three sizes, two weights, tabular figures everywhere so that numbers do not dance when they change.

All of it grows and shrinks with the text size that a person chose (80 to 200 %), and with it what words stand in.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF

SMALL = 12
BASE = 13
TITLE = 15

REGULAR = QFont.Weight.Normal
STRONG = QFont.Weight.DemiBold

SIZES = (80, 90, 100, 110, 125, 150, 175, 200)
"""The text sizes that can be chosen, in percent."""
USUAL = 100

_TABULAR = QFont.Tag("tnum")
_percent = USUAL


def text_percent() -> int:
    """Return the text size in percent."""
    return _percent


def set_text_percent(percent: int) -> None:
    """Let fonts and measures be of another size from now on (`theme.apply_text_size` dresses what stands)."""
    global _percent  # noqa: PLW0603  (one text size a process, of the window's thread)
    _percent = min(SIZES, key=lambda size: abs(size - percent))


def next_size(way: int) -> int:
    """Return the next larger (1) or smaller (-1) text size, or the usual one (0)."""
    place = SIZES.index(_percent) + way
    return SIZES[max(0, min(len(SIZES) - 1, place))] if way else USUAL


def px(pixels: float) -> int:
    """Return a measure of what words stand in, in the text size of the present."""
    return round(pixels * _percent / 100)


@lru_cache(maxsize=64)
def _shared(mono: bool, size: int, weight: int) -> QFont:
    kind = QFontDatabase.SystemFont.FixedFont if mono else QFontDatabase.SystemFont.GeneralFont
    font = QFont(QFontDatabase.systemFont(kind))
    named = ["JetBrains Mono", "Menlo", "Consolas"] if mono else ["Inter"]
    font.setFamilies([*named, *font.families()])
    font.setPixelSize(size)
    font.setWeight(QFont.Weight(weight))
    font.setStyleHint(QFont.StyleHint.Monospace if mono else QFont.StyleHint.SansSerif)
    # Text on the canvas is scaled: whole-pixel hinting would make its widths jump from zoom to zoom.
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if not mono:
        font.setFeature(_TABULAR, 1)
    return font


def ui_font(size: int = BASE, weight: QFont.Weight = REGULAR) -> QFont:
    """Return the user interface's font (Inter, else the system's) with tabular figures; `size` in pixels at 100 %."""
    return QFont(_shared(False, px(size), int(weight.value)))


def mono_font(size: int = BASE - 1, weight: QFont.Weight = REGULAR) -> QFont:
    """Return the font for commands, seqnos and GTIDs (JetBrains Mono, else the system's); `size` in pixels at 100 %."""
    return QFont(_shared(True, px(size), int(weight.value)))


def drawn_font(size: int = BASE, weight: QFont.Weight = REGULAR) -> QFont:
    """Return the interface's font for a drawing that is enlarged as a whole, words and all."""
    return QFont(_shared(False, size, int(weight.value)))


def small_width(words: str) -> float:
    """Return how wide words are in the small size: the same ones are placed anew with each second."""
    return _width(words, px(SMALL))


def drawn_small_width(words: str) -> float:
    """Return how wide words in the small size are in a drawing that is enlarged as a whole."""
    return _width(words, SMALL)


@lru_cache(maxsize=4_096)
def _width(words: str, pixels: int) -> float:
    return QFontMetricsF(drawn_font(pixels)).horizontalAdvance(words)

"""Type: three sizes, two weights, tabular figures everywhere so that numbers do not dance when they change."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF

SMALL = 12
BASE = 13
TITLE = 15

REGULAR = QFont.Weight.Normal
STRONG = QFont.Weight.DemiBold

_TABULAR = QFont.Tag("tnum")


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
    """Return the user interface's font (Inter, else the system's) with tabular figures; `size` in pixels."""
    return QFont(_shared(False, size, int(weight.value)))


def mono_font(size: int = BASE - 1, weight: QFont.Weight = REGULAR) -> QFont:
    """Return the font for commands, seqnos and GTIDs (JetBrains Mono, else the system's); `size` in pixels."""
    return QFont(_shared(True, size, int(weight.value)))


def small_width(words: str) -> float:
    """Return how wide words are in the small size: the same ones are placed anew with each second."""
    return _width(words, _shared(False, SMALL, int(REGULAR.value)).pixelSize())


@lru_cache(maxsize=4_096)
def _width(words: str, size: int) -> float:
    return QFontMetricsF(ui_font(size)).horizontalAdvance(words)

"""Finding by words: what is typed begins words, stands within them, or is their initials. Pure.

Letters scattered over a text find nothing: in a sentence some are in order nearly always ("sst" in "estate").
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

_BREAKS = frozenset(" -_./·:,('\"@[\u202f")
_LEAST_WITHIN = 2
"""So many letters may stand within a word: one stands in nearly every text."""


class Fit(IntEnum):
    """How well an entry fits what was typed, the best first; an entry fits as badly as its worst word does."""

    WHOLE = 0  # the title is what was typed
    FIRST = 1  # the title begins with it
    TITLE = 2  # it begins words of the title
    BESIDE = 3  # it begins words of what is said beside the title
    WITHIN = 4  # it stands within a word of the title
    INITIALS = 5  # it is the initials of words of the title


def fit(typed: str, title: str, beside: str = "") -> Fit | None:
    """Return how well an entry fits what was typed, None when a word of that is nowhere in it."""
    words, title, beside = typed.casefold().split(), title.casefold(), beside.casefold()
    if not words or title == " ".join(words):
        return Fit.WHOLE
    worst = Fit.FIRST if title.startswith(words[0]) else Fit.TITLE
    for word in words:
        found = _word(word, title, beside)
        if found is None:
            return None
        worst = max(worst, found) if found > Fit.TITLE else worst
    return worst


def _word(word: str, title: str, beside: str) -> Fit | None:
    if _begins_a_word(word, title):
        return Fit.TITLE
    if _begins_a_word(word, beside):
        return Fit.BESIDE
    if len(word) >= _LEAST_WITHIN and word in title:
        return Fit.WITHIN
    if len(word) >= _LEAST_WITHIN and word in _initials(title):
        return Fit.INITIALS
    return None


def _begins_a_word(word: str, text: str) -> bool:
    at = text.find(word)
    while at >= 0:
        if at == 0 or text[at - 1] in _BREAKS:
            return True
        at = text.find(word, at + 1)
    return False


def _initials(text: str) -> str:
    return "".join(sign for before, sign in zip(" " + text, text, strict=False) if before in _BREAKS)


def ranked(typed: str, entries: Sequence[tuple[str, str]]) -> list[int]:
    """Return the indices of the entries (title, what is said beside it) that fit, best first, else in their order."""
    fits = ((fit(typed, title, beside), i) for i, (title, beside) in enumerate(entries))
    return [i for _, i in sorted((found, i) for found, i in fits if found is not None)]

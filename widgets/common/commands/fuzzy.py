"""Fuzzy finding: the letters typed, in order, anywhere; beginnings of words and unbroken runs count more. Pure.

Loose letters count in a title only. In what is said beside it, a sentence perhaps, some letters are found in order
nearly always: there a word has to begin as one that was typed.
"""

from __future__ import annotations

from collections.abc import Sequence

_START, _RUN, _PLAIN, _GAP = 8, 5, 1, -0.05
_BREAKS = frozenset(" -_./·:,(")


def score(needle: str, text: str) -> float | None:
    """Return how well `needle` fits `text` (higher is better), None when its letters are not all there in order.

    Several words in `needle` must each fit somewhere.
    """
    words = needle.casefold().split()
    total = 0.0
    for word in words:
        found = _word_score(word, text.casefold())
        if found is None:
            return None
        total += found
    return total - 0.01 * len(text)


def _word_score(word: str, text: str) -> float | None:
    best: float | None = None
    start = text.find(word[0])
    while start >= 0:
        here = _from(word, text, start)
        if here is not None and (best is None or here > best):
            best = here
        start = text.find(word[0], start + 1)
    return best


def _from(word: str, text: str, start: int) -> float | None:
    total, at, last = 0.0, start, start - 1
    for letter in word:
        at = text.find(letter, last + 1)
        if at < 0:
            return None
        if at == 0 or text[at - 1] in _BREAKS:
            total += _START
        elif at == last + 1:
            total += _RUN
        else:
            total += _PLAIN + _GAP * (at - last)
        last = at
    return total


def ranked(needle: str, texts: Sequence[str]) -> list[int]:
    """Return the indices of the texts that fit, best first; all of them in their order for an empty needle."""
    if not needle.strip():
        return list(range(len(texts)))
    scored = [(s, i) for i, text in enumerate(texts) if (s := score(needle, text)) is not None]
    return [i for s, i in sorted(scored, key=lambda pair: (-pair[0], pair[1]))]


def ranked_by_title(needle: str, entries: Sequence[tuple[str, str]]) -> list[int]:
    """Return the indices of the entries (title, what is said beside it) that fit, best first.

    Where every word that was typed begins one, in the title or else beside it, that stands before loose letters.
    """
    if not needle.strip():
        return list(range(len(entries)))
    scored: list[tuple[int, float, int]] = []
    for i, (title, beside) in enumerate(entries):
        loosely = score(needle, title)
        if loosely is not None and _begins_words(needle, title):
            scored.append((0, -loosely, i))
        elif _begins_words(needle, f"{title} {beside}"):
            scored.append((1, 0.01 * len(title), i))
        elif loosely is not None:
            scored.append((2, -loosely, i))
    return [i for _, _, i in sorted(scored)]


def _begins_words(needle: str, text: str) -> bool:
    told = "".join(" " if sign in _BREAKS else sign for sign in text.casefold()).split()
    whole = text.casefold().split()
    return all(any(one.startswith(word) for one in (*told, *whole)) for word in needle.casefold().split())

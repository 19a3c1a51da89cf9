"""A language nobody speaks: every letter accented, every sentence about a third longer, in angle quotes.

An unaccented word on the screen was never marked for translation, a missing quote was clipped, and a quote inside a
sentence shows that it was glued together from pieces (which other languages order differently).
"""

from __future__ import annotations

import re

LONGER = 0.35
_KEPT = re.compile(r"(\{[^{}]*\}|<[^<>]*>|&[a-z]+;)")  # placeholders, markup, entities
_ACCENTED = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "áƀçďéƒĝĥíĵķĺɱñöþɋŕšţúṽŵẋýžÁƁÇĎÉƑĜĤÍĴĶĹṀÑÖÞɊŔŠŢÚṼŴẊÝŽ",
)
_VOWELS = frozenset("aeiouyAEIOUY")


class Pseudo:
    """The catalogue of this language: made on the fly from the English."""

    def gettext(self, message: str, /) -> str:
        """Return the message accented, longer and quoted."""
        return accented(message)

    def ngettext(self, one: str, many: str, n: int, /) -> str:
        """Return the English form for `n`, accented."""
        return accented(one if n == 1 else many)

    def pgettext(self, context: str, message: str, /) -> str:  # noqa: ARG002  (gettext's own signature)
        """Return the message accented: a pseudo-word has one meaning."""
        return accented(message)


def accented(message: str) -> str:
    """Return '‹Ťö öþéñ›' for 'To open': placeholders and markup untouched, vowels doubled until a third is added."""
    parts = _KEPT.split(message)
    if not any(letter.isalpha() for part in parts[::2] for letter in part):
        return message  # a number, or a value alone
    letters = sum(len(part) for part in parts[::2])
    missing = max(0, round(letters * LONGER) - 2)
    out: list[str] = []
    for place, part in enumerate(parts):
        if place % 2:
            out.append(part)
            continue
        stretched: list[str] = []
        for letter in part:
            stretched.append(letter)
            if missing and letter in _VOWELS:
                stretched.append(letter.lower())
                missing -= 1
        out.append("".join(stretched).translate(_ACCENTED))
    return f"‹{''.join(out)}›"

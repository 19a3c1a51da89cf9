"""Names that look alike: two hosts whose names a person can't tell apart are refused before anybody acts on one.

A name is folded to what it looks like (Unicode Technical Standard 39, "Confusable Detection", in small): compatibility
forms and case away, signs without width away, dots at its end away, letters of other scripts that look like ASCII as
those.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from services.i18n import tr
from services.visible import visible

_CYRILLIC = str.maketrans("абвгеикмнорстухьѕіїјѵԁһԛԝӏєё", "abbreukmhopctyxbsiijvdhqwlee")
_GREEK = str.maketrans("αβγεηικμνορτυχωϲ", "abyenikmvoptyxwc")
_OTHER = str.maketrans("ıȷɑɡɩǀոսօհցք‐‑‒–—−·․∶ː։׃꞉", "ijagilnuohgp------..:::::")
_LIKE = {**_CYRILLIC, **_GREEK, **_OTHER}


@lru_cache(maxsize=4096)
def skeleton(name: str) -> str:
    """Return what a name looks like; two names with one skeleton are taken for each other."""
    folded = unicodedata.normalize("NFKC", name).casefold().replace("i\u0307", "i")
    seen = "".join(c for c in folded.translate(_LIKE) if visible(c) == c)
    return unicodedata.normalize("NFKC", " ".join(seen.split())).rstrip(". ")


def alike(name: str, others: Iterable[str]) -> str:
    """Return the first of `others` that is another name and looks like `name`, '' where none does."""
    mine = skeleton(name)
    return next((other for other in others if other != name and skeleton(other) == mine), "")


def pairs_alike(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (place, earlier name) of each name that looks like an earlier one and is not the same."""
    first: dict[str, str] = {}
    for place, name in enumerate(names):
        if name and (earlier := first.setdefault(skeleton(name), name)) != name:
            yield place, earlier


def told_alike(kind: str, one: str, other: str) -> str:
    """Return the sentence that refuses two names: each letter that is not ASCII is named by its number too."""
    return tr(
        'the {kind} names "{one}" and "{other}" look alike and could be confused; rename one.',
        kind=kind,
        one=spelt(one),
        other=spelt(other),
    )


def spelt(name: str) -> str:
    """Return a name with the number behind each letter beyond ASCII: 'dб[U+0431]1'."""
    return "".join(c if c.isascii() else f"{visible(c)}[U+{ord(c):04X}]" for c in name)


def is_seen_whole(name: str) -> bool:
    """Return whether nothing of a name is out of sight: no blanks around it, no sign without width."""
    return name == name.strip() and visible(name) == name

"""The words of commands that a person typed: names in braces, and what may stand for one. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

_IN_BRACES = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""`${name}` is a shell's own."""
_PLAIN = re.compile(r"[A-Za-z0-9/_.:@+-]{1,255}", re.ASCII)
_SNAPSHOT = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}", re.ASCII)


def braced(word: str) -> tuple[str, ...]:
    """Return the names in braces in a word."""
    return tuple(_IN_BRACES.findall(word))


def with_names(word: str, known: Mapping[str, str]) -> str:
    """Return a word with each name in braces replaced; all of them must be known."""
    return _IN_BRACES.sub(lambda found: known[found[1]], word)


def is_plain(text: str) -> bool:
    """Return whether a text is one harmless word in any shell."""
    return _PLAIN.fullmatch(text) is not None


def is_snapshot_name(text: str) -> bool:
    """Return whether a text may name a snapshot, a file and a part of a unit's name."""
    return _SNAPSHOT.fullmatch(text) is not None

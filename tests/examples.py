"""How many examples a property is tried with: all of them where it is proven, a share where it is only run again."""

from __future__ import annotations

from hypothesis import settings

WHOLE = 100
LEAST = 3


def examples(many: int) -> int:
    """Return how many examples are tried now where `many` are meant: the profile's hundredths of them (conftest.py)."""
    return max(LEAST, many * settings().max_examples // WHOLE)

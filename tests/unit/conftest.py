"""The order of the stage's files: the longest first, none is begun when the others are through."""

from __future__ import annotations

import pytest

_LONGEST = frozenset({"test_many_lines.py", "test_spoken_words.py"})
"""Each an eighth of the whole (pytest-xdist shares files out in the order of the collection)."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first."""
    items.sort(key=lambda item: item.path.name not in _LONGEST)

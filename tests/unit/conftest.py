"""The stage's sample, and the order of its files: the longest first, none is begun when the others are through."""

from __future__ import annotations

import pytest

from tests.lab.sample import leave_out_long

_LONGEST = frozenset({"test_many_lines.py", "test_spoken_words.py"})
"""Each an eighth of the whole (pytest-xdist shares files out in the order of the collection)."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases marked `long` (`test everything` runs them too), and put the longest files first."""
    leave_out_long(config, items)
    items.sort(key=lambda item: item.path.name not in _LONGEST)

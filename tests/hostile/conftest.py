"""The order of the tests of hostile servers."""

from __future__ import annotations

import pytest

FIRST = ("test_hostile_window.py", "test_drip_to_the_end.py", "test_hostile_mysql.py")
"""The files that wait longest: begun last, one of them would keep all processes but its own idle at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with those; files are handed out in the order of their first tests."""
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))

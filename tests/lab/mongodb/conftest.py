"""Tests of real MongoDB are left out where no binaries are at hand: no package registry has those of 3.2 (lab.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.mongodb.servers import binary
from tests.lab.sample import leave_out

_HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect them, and say it; those on scripted servers, which say so in their names, run every time."""
    if binary("mongod", "3.2") is None:
        said = "tests of real MongoDB are left out: PILOTHOUSE_LAB_MONGODB names no folder with a mongod-3.2"
        leave_out(config, items, _needs_binaries, said)


def _needs_binaries(item: pytest.Item) -> bool:
    return item.path.is_relative_to(_HERE) and "scripted" not in str(item.path.relative_to(_HERE)) + item.name

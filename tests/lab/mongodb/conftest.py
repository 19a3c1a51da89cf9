"""No test of real MongoDB where no binaries are at hand: no package registry has those of 3.2 (lab.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.mongodb.servers import binary
from tests.lab.sample import leave_out

_HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect them, and say it; the session and its facts are tried on scripted servers every time (tests/unit)."""
    if binary("mongod", "3.2") is None:
        said = "tests of real MongoDB are left out: PILOTHOUSE_LAB_MONGODB names no folder with a mongod-3.2"
        leave_out(config, items, lambda item: item.path.is_relative_to(_HERE), said)

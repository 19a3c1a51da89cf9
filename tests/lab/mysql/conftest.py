"""No test of real MySQL where the test command says that there is none to be had: Debian unstable may break."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sample import leave_out

_HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect them where there is a reason, and say it."""
    if reason := os.environ.get("PILOTHOUSE_LAB_NO_MYSQL"):
        said = f"tests of real MySQL are left out: {reason}"
        leave_out(config, items, lambda item: item.path.is_relative_to(_HERE), said)

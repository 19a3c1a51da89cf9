"""A console for the mirrored estate."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console


@pytest.fixture
def console(mirrored: Estate, tmp_path: Path) -> Console:
    return Console(mirrored, tmp_path / "data")

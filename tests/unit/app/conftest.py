"""The program run in this process: its log set up and taken away again, and a service over scripted hosts."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.app.steering_service import Shell


@pytest.fixture
def quiet_log() -> Iterator[None]:
    """The root log is as it was afterwards."""
    root, paramiko = logging.getLogger(), logging.getLogger("paramiko")
    handlers, level, quiet = list(root.handlers), root.level, paramiko.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    paramiko.setLevel(quiet)


@pytest.fixture
def shell(
    quiet_log: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """A terminal with a data folder of its own; the root log is as it was afterwards."""
    return Shell(tmp_path, monkeypatch, capsys)

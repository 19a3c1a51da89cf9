"""No display: the program is run as a person runs it, in a process of its own, and Qt really finds none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display")


def started(home: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Start the window with these settings alone: no display but what they name."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "QT_QPA_PLATFORM"}
    }
    given = [sys.executable, "-m", "app", *words, "--data", str(home), "--inventory", str(home / "none.toml")]
    runtime = {"XDG_RUNTIME_DIR": str(home)}  # nobody's compositor is there
    return subprocess.run(
        given, env=environment | runtime | settings, capture_output=True, text=True, timeout=120, check=False
    )


def test_that_without_a_display_the_window_is_a_sentence(tmp_path: Path) -> None:
    ended = started(tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith("The window can't be opened: there is no display")
    assert "ssh -X" in ended.stderr
    assert "plugin" not in ended.stderr


def test_that_a_display_that_does_not_answer_is_named_to_a_machine(tmp_path: Path) -> None:
    ended = started(tmp_path, "--json", DISPLAY=":9797")
    assert ended.returncode == 2
    document = json.loads(ended.stdout)
    assert document["error"] == "bad-input"
    assert ":9797" in document["sentence"]


def test_that_pictures_need_no_display(tmp_path: Path) -> None:
    ended = started(tmp_path, "demo", "--screenshots", str(tmp_path / "pictures"))
    assert ended.returncode == 0, ended.stderr
    assert list((tmp_path / "pictures").glob("*.png"))

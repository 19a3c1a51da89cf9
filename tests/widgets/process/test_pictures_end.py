"""A fault while pictures are made: a sentence and a code, no crash and no picture of half a page. In a process.

A test run breaks the building of one page and the painting of another; `test everything` two more buildings.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_BROKEN = """
import importlib, sys
from app.__main__ import main
module, name, method, folder = sys.argv[1:]
def fault(*_args, **_words):
    raise RuntimeError("a fault of the test")
setattr(getattr(importlib.import_module(module), name), method, fault)
sys.exit(main(["demo", "--screenshots", folder]))
"""


@pytest.mark.parametrize(
    ("broken", "page"),
    [
        pytest.param(("widgets.journal.page", "JournalPage", "_make_table"), "topology", marks=pytest.mark.long),
        (("widgets.settings.page", "SettingsPage", "_about"), "settings"),
        (("widgets.timeline.strip", "EventStrip", "paintEvent"), "topology"),
        pytest.param(("widgets.topology.inspector.panel", "Inspector", "__init__"), "topology", marks=pytest.mark.long),
    ],
)
def test_that_a_page_that_can_not_be_built_ends_the_pictures_with_a_sentence_and_a_code(
    tmp_path: Path, broken: tuple[str, str, str], page: str
) -> None:
    words = [sys.executable, "-c", _BROKEN, *broken, str(tmp_path / "pictures")]
    kept = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    ended = subprocess.run(
        words, env=os.environ | kept, capture_output=True, text=True, timeout=120, check=False, cwd=Path.cwd()
    )
    assert ended.returncode == 70, ended.stderr
    assert "Internal error in Pilothouse: RuntimeError: " in ended.stderr
    assert "a fault of the test" in ended.stderr
    assert not list((tmp_path / "pictures").glob(f"{page}-*.png"))

"""The window off screen beside hostile servers: quick, small, its texts plain, the honest server sampled at its rate.

A sample of the modes; `python -m tests.hostile.window` takes all of them, for a minute. A test run watches for six
seconds, in which it turns to every page and host as often as `test everything` does in twelve.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.hostile.window import report, watch
from tests.sample import EVERY

WATCHED_S = 12.0 if EVERY else 6.0
MOST_BYTES = 250 << 20
MOST_WORK_MS = 1_000.0
"""CPU time of the window's thread between two beats of a 20 ms timer: 49 to 232 ms, by how fast the machine is.
Aimed at are 50; the command and every run of this test print what it was. Here only a window that hangs fails: a budget
is judged by its benchmark. How long it stood still for want of a processor says nothing of the window."""


@pytest.mark.timeout(900)  # two minutes of a processor, whoever else has it
def test_that_hostile_servers_leave_the_window_quick_small_and_true(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    del qtbot, qapp
    found = watch(tmp_path, WATCHED_S, every=5)
    sys.stdout.write(report(found) + "\n")
    assert found.odd == set()
    assert found.silent == []
    assert found.own_ms < MOST_WORK_MS, report(found)
    assert found.grown < MOST_BYTES
    assert found.samples >= 0.6 * WATCHED_S, report(found)
    assert found.gap_s < 5.0, report(found)

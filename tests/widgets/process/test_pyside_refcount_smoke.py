"""The reason for `PySide6 < 6.12`: 6.12.0 drops a reference to None on every void call and aborts Python 3.11.

Decision record 0006 tells the story. The abort would take the test runner with it, so the calls are made in a process
of their own; it dies with "Fatal Python error: none_dealloc" where the fault is present.
"""

from __future__ import annotations

import os
import subprocess
import sys

CALLS = 20_000

PROGRAM = f"""
import sys
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QApplication, QGraphicsRectItem, QGraphicsScene, QGraphicsView

application = QApplication([])
scene = QGraphicsScene()
item = QGraphicsRectItem(QRectF(0, 0, 10, 10))
scene.addItem(item)
view = QGraphicsView(scene)
before = sys.getrefcount(None)
for step in range({CALLS}):
    item.setPos(step % 7, 0)
    item.update()
    item.parentItem()
    view.viewport().update()
print("lost", before - sys.getrefcount(None))
"""


def test_that_void_qt_calls_do_not_wear_out_none() -> None:
    settings = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=settings, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    word, lost = done.stdout.split()
    assert word == "lost"
    # A leak of one reference per call would be 4 times CALLS; a few hundred come and go with imports and caches.
    # (Python 3.12 and newer count None as immortal: nothing can be lost there.)
    assert abs(int(lost)) < CALLS / 10

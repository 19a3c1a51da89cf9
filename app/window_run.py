"""The window's life: paint first, load the heavy libraries behind it, connect a source, run, stop everything.

The order is a budget (performance: 1 and 2): nothing but QtWidgets and our own light modules is imported before the
first paint; numpy, pyqtgraph, SQLAlchemy, paramiko and the driver come on a worker thread meanwhile.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.add_host import AddHost
from app.arguments import GOOD
from app.error_hooks import ErrorHooks
from app.main_window import MainWindow
from app.places import inventory_file
from app.session import LiveOpener, Opener, RecordingOpener, WindowSession
from app.vault import SessionVault
from widgets.bridge.ops import Ops
from widgets.common.theme import ThemeName, apply_theme, system_theme_name

DEFAULT_SIZE = (1440, 900)


def run_window(
    options: Namespace, *, recording: Path | None, autoplay: bool = False, start_s: float | None = None
) -> int:
    """Open the window on the live estate, or on a recording; with --screenshots write pictures and return."""
    pictures: Path | None = getattr(options, "screenshots", None)
    if pictures is not None and sys.platform.startswith("linux"):
        # Pictures need no display, and look the same with and without one.
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    hooks = ErrorHooks()
    hooks.install()
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    hooks.install_qt()
    application.setApplicationName("Pilothouse")
    name: ThemeName = getattr(options, "theme", None) or system_theme_name()
    apply_theme(application, name)
    window = MainWindow()
    window.topology.set_reduced_motion(getattr(options, "reduce_motion", False) or pictures is not None)
    window.resize(*getattr(options, "size", DEFAULT_SIZE))
    ops = Ops()
    vault = SessionVault()
    opener: Opener
    if recording is not None:
        opener = RecordingOpener(recording, autoplay=autoplay, start_s=start_s)
    else:
        opener = LiveOpener(options, vault)
    session = WindowSession(window, ops, hooks, opener)
    hosts = AddHost(window, ops, vault, inventory_file(options), session)
    session.wire_hosts(hosts)
    window.show()
    QTimer.singleShot(0, session.load)  # the first paint is already queued before it
    exit_code = GOOD
    if pictures is None:
        application.exec()
    else:
        from app.screenshots import take_pictures

        exit_code = take_pictures(session, pictures, name)
    session.stop()
    return exit_code

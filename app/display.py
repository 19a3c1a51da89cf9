"""The application object, or a sentence where there is no display: Qt itself would abort, with a core dump at worst.

Whether a display answers only Qt knows (a DISPLAY of a session that ended is set too). Its constructor ends the process
with a fatal message (https://doc.qt.io/qt-6/qtlogging.html#qFatal) that no exception can pass, so the process is ended
from the message handler, before Qt does.
"""

from __future__ import annotations

import logging
import os
import sys
from argparse import Namespace

from PySide6.QtCore import QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from app.cli.arguments import BAD_INPUT
from app.cli.telling import tell
from services.errors import BadInput
from services.i18n import tr


def application(options: Namespace) -> QApplication:
    """Return the one application; without a display say so and end the process with BAD_INPUT."""
    present = QApplication.instance()
    if isinstance(present, QApplication):
        return present
    said: list[str] = []

    def on_message(kind: QtMsgType, _context: object, message: str) -> None:
        if kind is not QtMsgType.QtFatalMsg:
            said.append(message)
            return
        code = tell(without_display(said), options, BAD_INPUT)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    before = qInstallMessageHandler(on_message)
    try:
        made = QApplication(["pilothouse"])  # the name by which a desktop knows its windows (WM_CLASS)
    finally:
        qInstallMessageHandler(before)
    for message in said:
        logging.getLogger("qt").warning("%s", message)
    return made


_CHOSEN = ("QT_QPA_PLATFORM", "QT_QPA_PLATFORM_PLUGIN_PATH", "QT_PLUGIN_PATH")
"""What a person, or another program's start script, tells Qt to draw with (https://doc.qt.io/qt-6/qpa.html)."""


def without_display(said: list[str]) -> BadInput:
    """Return the problem; `said` are Qt's own words on the way to it, of which the first is the cause."""
    if chosen := {name: os.environ[name] for name in _CHOSEN if os.environ.get(name)}:
        return _without_platform(chosen, said)
    named = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    cause = said[0].strip().rstrip(".") if said and named else ""
    what = (
        tr("The window cannot be opened on the display {name}: {cause}.", name=named, cause=cause)
        if cause
        else tr("The window cannot be opened: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set).")
        if not named
        else tr("The window cannot be opened on the display {name}.", name=named)
    )
    return BadInput(
        what,
        try_=(
            tr("Start it in a desktop session; over SSH with: ssh -X"),
            tr("Commands need no display: pilothouse topology, sample, record, plan and run."),
            tr("Screenshots need none either: pilothouse demo --screenshots DIR"),
        ),
    )


def _without_platform(chosen: dict[str, str], said: list[str]) -> BadInput:
    """Return the problem of a Qt that was told where to draw, or from where to load what draws."""
    names = ", ".join(f"{name}={value}" for name, value in chosen.items())
    cause = said[0].strip().rstrip(".") if said else tr("Qt gives no reason")
    return BadInput(
        tr("The window cannot be opened with {names}: {cause}.", names=names, cause=cause),
        try_=(
            tr("Start it without: env {unset} pilothouse", unset=" ".join(f"-u {name}" for name in chosen)),
            tr("Commands need no display: pilothouse topology, sample, record, plan and run."),
        ),
    )

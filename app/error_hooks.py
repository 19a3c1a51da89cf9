"""Nothing vanishes: uncaught errors of any thread and Qt's messages reach the log and the window."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from types import TracebackType

from app.kept_errors import as_user_error, keep
from services.errors import UserError
from services.i18n import tr

log = logging.getLogger("pilothouse")


class ErrorHooks:
    """Installs the hooks and remembers what was told before a window existed."""

    def __init__(self) -> None:
        self._show: Callable[[UserError], None] | None = None
        self._early: list[UserError] = []
        self.uncaught: UserError | None = None
        """The first error that nobody caught."""

    def install(self) -> None:
        """Take over sys and threading hooks."""
        sys.excepthook = self._on_uncaught
        threading.excepthook = self._on_thread

    def install_qt(self) -> None:
        """Send Qt's messages to the log at their own level."""
        from PySide6.QtCore import QtMsgType, qInstallMessageHandler

        levels = {
            QtMsgType.QtDebugMsg: logging.DEBUG,
            QtMsgType.QtInfoMsg: logging.INFO,
            QtMsgType.QtWarningMsg: logging.WARNING,
            QtMsgType.QtCriticalMsg: logging.ERROR,
            QtMsgType.QtFatalMsg: logging.CRITICAL,
        }

        def on_message(kind: QtMsgType, _context: object, message: str) -> None:
            logging.getLogger("qt").log(levels.get(kind, logging.WARNING), "%s", message)

        qInstallMessageHandler(on_message)

    def show_with(self, show: Callable[[UserError], None]) -> None:
        """Let the window show errors from now on, the early ones first. Must be safe to call from any thread."""
        self._show = show
        early, self._early = self._early, []
        for problem in early:
            show(problem)

    def raise_uncaught(self) -> None:
        """Raise the first error that nobody caught, if there was one."""
        if self.uncaught is not None:
            raise self.uncaught

    def keep(self) -> None:
        """Keep errors again until another window shows them: the one that did is closed."""
        self._show = None

    def tell(self, problem: UserError) -> None:
        """Show a problem, or keep it until the window stands."""
        if self._show is None:
            self._early.append(problem)
        else:
            self._show(problem)

    def _on_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            _end_window()
            return
        problem = as_user_error(error, keep(error, trace), tr("You can continue working."))
        log.error("uncaught: %s", problem)
        self.uncaught = self.uncaught or problem
        self.tell(problem)

    def _on_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._on_uncaught(args.exc_type, args.exc_value, args.exc_traceback)


def _end_window() -> None:
    """End as a close of the window does: Ctrl+C at the terminal is no error, and nobody reads a traceback of it."""
    from PySide6.QtWidgets import QApplication

    if QApplication.instance() is not None:
        QApplication.closeAllWindows()

"""Background calls for the window: run a function on a worker, deliver its result on the GUI thread, drop stale ones.

The shape (one object per call, success and failure given at the call, unhandled failure always shown) is Anki's
`qt/aqt/operations`; the code is ours. Worker closures must never capture a widget: Python's collector may then destroy
a QObject on a worker thread (https://tschoenfelder.de/blog/pyqt_gc).
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from services.errors import UserError
from services.i18n import tr

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Call:
    """What to do with a result once it is back on the GUI thread."""

    key: str
    number: int
    success: Callable[[Any], None]
    failure: Callable[[UserError], None] | None


class Ops(QObject):
    """Runs calls on at most two worker threads; one instance per window.

    Signals:
        failed(UserError): a call failed and gave no handler of its own.
    """

    failed = Signal(object)
    _done = Signal(int, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="pilothouse-op")
        self._numbers = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._newest: dict[str, int] = {}
        self._closed = False
        self._done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        key: str,
        work: Callable[[], Any],
        success: Callable[[Any], None],
        failure: Callable[[UserError], None] | None = None,
    ) -> None:
        """Run `work` on a worker; of several calls with the same key only the newest is delivered.

        After `shutdown` nothing runs any more: a timer of a window that is closing may still ask.
        """
        if self._closed:
            return
        number = next(self._numbers)
        self._calls[number] = _Call(key, number, success, failure)
        self._newest[key] = number
        self._workers.submit(self._work, number, key, work)

    def busy(self) -> bool:
        """Return whether any call is still under way."""
        return bool(self._calls)

    def shutdown(self) -> None:
        """Wait for the running calls, drop the queued ones; nothing is delivered afterwards."""
        self._closed = True
        self._calls.clear()
        self._workers.shutdown(wait=True, cancel_futures=True)

    def _work(self, number: int, key: str, work: Callable[[], Any]) -> None:
        if self._newest.get(key) != number:
            self._done.emit(number, None, None)  # a newer request made this one needless before it began
            return
        try:
            result, problem = work(), None
        except UserError as error:
            result, problem = None, error
        except BaseException as error:  # a worker's bug must reach the person, not vanish in a future
            log.exception("a background call failed")
            result, problem = (
                None,
                UserError(tr("Unexpected: {kind}: {problem}", kind=type(error).__name__, problem=error)),
            )
        self._done.emit(number, result, problem)

    def _deliver(self, number: int, result: object, problem: UserError | None) -> None:
        call = self._calls.pop(number, None)
        if call is None or self._newest.get(call.key) != number:
            return
        if problem is None:
            call.success(result)
        elif call.failure is not None:
            call.failure(problem)
        else:
            self.failed.emit(problem)

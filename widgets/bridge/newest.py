"""Values that a worker makes for the window from the newest of what it asked: made elsewhere, put in place here.

One thread, one question at a time; of those that wait only the newest is kept. So answers come in the order of their
questions, however long one takes, and none is starved by the questions after it. What a person has left meanwhile is
asked about no more: its late answer is dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, Signal

from services.errors import UserError
from services.i18n import tr

log = logging.getLogger(__name__)

Work = Callable[[], Iterator[object]]
"""Yields what it knows at once, then what it had to look up; on the worker, so it holds no widget (ops.py: why)."""


class _Question(NamedTuple):
    number: int
    work: Work


class Newest(QObject):
    """Asks and hands the answers over (GUI thread only).

    Signals: answered(object): an answer. failed(UserError): a question could not be answered.
    """

    answered = Signal(object)
    failed = Signal(object)
    _made = Signal(int, object)
    _ended = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pilothouse-newest")
        self._number = 0
        self._wanted_from = 0
        self._waiting: _Question | None = None
        self._running = False
        self._closed = False
        self._made.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._ended.connect(self._end, Qt.ConnectionType.QueuedConnection)

    def ask(self, work: Work, *, afresh: bool = False) -> None:
        """Have this answered as soon as what is under way ends.

        Args:
            afresh: it is about something else than what was asked before: whose answers are not wanted any more.
        """
        if self._closed:
            return
        self._number += 1
        if afresh:
            self._wanted_from = self._number
        self._waiting = _Question(self._number, work)
        if not self._running:
            self._begin()

    def forget(self) -> None:
        """Want no answer to what was asked so far."""
        self._wanted_from = self._number + 1
        self._waiting = None

    def busy(self) -> bool:
        """Return whether an answer is still to come."""
        return self._running

    def shutdown(self) -> None:
        """Wait for what is under way; nothing is delivered afterwards."""
        self._closed = True
        self._waiting = None
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _begin(self) -> None:
        question, self._waiting = self._waiting, None
        if question is not None:
            self._running = True
            self._worker.submit(self._work, question)

    def _work(self, question: _Question) -> None:
        problem: UserError | None = None
        try:
            for answer in question.work():
                self._made.emit(question.number, answer)
                if self._waiting is not None:
                    break  # a newer question: nobody needs what this one would still look up
        except UserError as error:
            problem = error
        except BaseException as error:  # a worker's bug must reach the person, not vanish in a future
            log.exception("an answer could not be made")
            problem = UserError(tr("Unexpected: {kind}: {problem}", kind=type(error).__name__, problem=error))
        self._ended.emit(problem)

    def _deliver(self, number: int, answer: object) -> None:
        if not self._closed and number >= self._wanted_from:
            self.answered.emit(answer)

    def _end(self, problem: UserError | None) -> None:
        self._running = False
        if self._closed:
            return
        if problem is not None:
            self.failed.emit(problem)
        self._begin()

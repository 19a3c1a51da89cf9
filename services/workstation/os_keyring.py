"""The door to the operating system's keyring: asked on a thread of its own, for no longer than it may take.

A backend is foreign code. It may not be installed, may raise anything, and may wait for a prompt on a desktop where
nobody sits. The thread is a daemon, so that the program ends with a question open; a second question waits its turn,
and none is put while an earlier one has had no answer in time.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")
log = logging.getLogger(__name__)


class SilentError(Exception):
    """No answer within the limit; `limit_s` is the one that ran out."""

    def __init__(self, limit_s: float) -> None:
        super().__init__(limit_s)
        self.limit_s = limit_s


class BackendError(Exception):
    """The backend raised.

    Attributes:
        nothing_there: it says itself that there is no keyring here. why: what it was, without a word of its own, which
            may quote a secret; of a module that is missing its name.
    """

    def __init__(self, problem: BaseException) -> None:
        errors = sys.modules.get("keyring.errors")  # not there where not even the library could be loaded
        self.nothing_there = errors is not None and isinstance(problem, errors.NoKeyringError)
        missing = problem.name if isinstance(problem, ImportError) else None
        self.why = f"{type(problem).__name__}: {missing}" if missing else type(problem).__name__
        super().__init__(self.why)


@dataclass(slots=True)
class _Question(Generic[T]):
    """One call on its way: `done` is set once `answer` or `problem` is there."""

    call: Callable[[ModuleType], T]
    done: threading.Event
    answer: T | None = None
    problem: BaseException | None = None


class _Door:
    """One question at a time: no backend promises more."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._silent = False

    def ask(self, call: Callable[[ModuleType], T], limit_s: float) -> T:
        """Return what `call` makes of the keyring library; raises SilentError, BackendError."""
        until = time.monotonic() + limit_s
        if not self._turn.acquire(timeout=0.0 if self._silent else limit_s):
            raise SilentError(limit_s)
        question = _Question(call, threading.Event())
        threading.Thread(target=self._work, args=(question,), name="pilothouse-keyring", daemon=True).start()
        if not question.done.wait(max(0.0, until - time.monotonic())):
            self._silent = True
            raise SilentError(limit_s)
        if question.problem is not None:
            log.debug("the keyring's backend raised", exc_info=question.problem)
            raise BackendError(question.problem) from question.problem
        return question.answer  # type: ignore[return-value]  # there, for there is no problem

    def _work(self, question: _Question[T]) -> None:
        try:
            import keyring  # 58 ms, and backends are loaded: a start without keyring secrets need not pay

            question.answer = question.call(keyring)
        except BaseException as problem:  # noqa: BLE001 - told to whoever waits
            question.problem = problem
        finally:
            self._silent = False
            self._turn.release()
            question.done.set()


ask = _Door().ask
"""Ask the keyring; see _Door.ask."""

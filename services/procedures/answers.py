"""What a person at the window answers to a run: laid down on one thread, taken on another."""

from __future__ import annotations

import threading

from services.procedures.run_model import Question


class Answers:
    """A person at the window: answers are laid here by the GUI thread and taken by the engine's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given: dict[str, str] = {}

    def give(self, run_id: str, text: str) -> None:
        """Lay an answer to what the run asks now."""
        with self._lock:
            self._given[run_id] = text

    def answer(self, run_id: str, question: Question) -> str | None:
        """Take the answer, once."""
        del question
        with self._lock:
            return self._given.pop(run_id, None)

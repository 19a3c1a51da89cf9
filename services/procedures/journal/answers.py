"""What a person at the window answers to a run: laid down on one thread, taken on another."""

from __future__ import annotations

import threading

from services.procedures.plan.run_model import Question


class Answers:
    """A person at the window: answers are laid here by the GUI thread and taken by the engine's.

    An answer belongs to the question that was shown with it. The second click of a double click must not answer what
    is asked next; a question that a resumed run asks anew is the one that was shown.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given: dict[str, tuple[str, Question]] = {}
        self._answered: dict[str, Question] = {}

    def give(self, run_id: str, text: str, to: Question) -> None:
        """Lay an answer to a question that was shown."""
        with self._lock:
            self._given[run_id] = (text, to)

    def answer(self, run_id: str, question: Question) -> str | None:
        """Take the answer, once; one to another question, or to one that has been answered, is thrown away."""
        with self._lock:
            text, to = self._given.pop(run_id, (None, None))
            if text is None or to is None or to == self._answered.get(run_id):
                return None
            if (to.topic, to.step_id) != (question.topic, question.step_id):
                return None
            self._answered[run_id] = to
            return text

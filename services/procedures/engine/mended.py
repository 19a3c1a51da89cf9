"""While a later step only waits, what was put off is looked at, and tried again where it may have been mended.

A wait may take half an hour (shards that go over to new config servers), and somebody mends the host meanwhile. What
was put off is tried as it will be at its own time, inside that wait: the journal has the step that waits as begun
before and after it. Where it fails once more the person's word stands: it stays put off, and the wait goes on.
"""

from __future__ import annotations

from collections.abc import Callable

from services.clock import Clock
from services.procedures.engine.parts import Parts, StepCancelled, StepFailed
from services.procedures.engine.putting_off import next_step, tried_early
from services.procedures.engine.run_log import RunLog
from services.procedures.engine.waits import Waits
from services.procedures.journal.entries import answered, asked
from services.procedures.plan.actions import Ask, WaitFor
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import PUT_OFF, Question, RunState

LOOK_S = 15.0
AGAIN_S = 300.0
"""So long is nothing tried of which nothing looks otherwise than when it failed: a try may take its whole limit."""
_Seen = tuple[bool | None, ...]


class Mended:
    """What is put off while a step of one run waits. One thread."""

    def __init__(
        self,
        parts: Parts,
        log: RunLog,
        waits: Waits,
        perform: Callable[[Step], None],
        failed: Callable[[Step, StepFailed], object],
    ) -> None:
        """Begin with nothing seen.

        Args:
            perform: brings a step to its end or raises StepFailed; failed: writes down that it did not come to it.
        """
        self._parts = parts
        self._log = log
        self._waits = waits
        self._perform = perform
        self._failed = failed
        self._seen: dict[str, tuple[_Seen, float]] = {}
        self._due = 0.0

    @property
    def _clock(self) -> Clock:
        return self._parts.clock

    def put_off(self, step: Step) -> None:
        """Remember how it looks to the proof of a step that it is put off now."""
        self._seen[step.step_id] = (self._look(step), self._clock.monotonic())

    def look(self, waiting: Step) -> None:
        """Try what was put off, where a step only waits and another look is due; what stood behind it comes with it."""
        goes_on = self._log.view.state is RunState.RUNNING  # a run that is taken back tries nothing any more
        if not goes_on or not isinstance(waiting.action, WaitFor) or self._clock.monotonic() < self._due:
            return
        self._due = self._clock.monotonic() + LOOK_S
        for step in tried_early(self._log.view):
            if self._may_be_mended(step):
                self._try(step)
        while (behind := next_step(self._log.view)) is not None and behind.step_id != waiting.step_id:
            self._try(behind)

    def _may_be_mended(self, step: Step) -> bool:
        """Return whether its host answers, and looks otherwise than when it failed, or was left alone for long."""
        now = self._look(step)
        before, at = self._seen.get(step.step_id, ((), 0.0))
        answers = any(one is not None for one in now)
        return answers and (now != before or self._clock.monotonic() >= at + AGAIN_S)

    def _look(self, step: Step) -> _Seen:
        return tuple(answer.holds for answer in self._waits.answers(step.proof))

    def _try(self, step: Step) -> None:
        try:
            self._perform(step)
        except (StepFailed, StepCancelled) as problem:
            told = problem if isinstance(problem, StepFailed) else StepFailed("You interrupted it.")
            self._failed(step, told)
            self._stays_put_off(step, str(told))

    def _stays_put_off(self, step: Step, why: str) -> None:
        """Write the person's earlier word down again: it holds until the step's own time."""
        meaning = step.later.meaning if step.later is not None else ""
        ask = Ask(f"{step.title}: {why}", "choice", choices=((PUT_OFF, meaning),))
        question = Question(ask, step.step_id, "failed", self._clock.wall())
        self._log.write(asked(question))
        self._log.write(answered(question, PUT_OFF, self._parts.policy.by))
        self.put_off(step)

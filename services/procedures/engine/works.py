"""Long work of a run goes on without its console: it is ended before anything is taken back or let go on its host.

A work writes by full paths: what is put back under the same path is written into, though the step that began the work
was long given up. What an earlier console left `acting`, or gave up at its limit, may still run.
"""

from __future__ import annotations

from services.errors import UserError
from services.procedures.engine.parts import Parts, sentence
from services.procedures.engine.run_log import RunLog
from services.procedures.journal.entries import note
from services.procedures.plan.actions import Detached
from services.procedures.plan.run_model import StepState, StepView

TRIES, PAUSE_S = 5, 2.0
_TOLD_AS_ENDED = frozenset({StepState.DONE, StepState.ALREADY, StepState.UNDONE})


class Works:
    """Ends the detached work of one run. One thread."""

    def __init__(self, parts: Parts, log: RunLog) -> None:
        self._parts = parts
        self._log = log

    def end_unfinished(self) -> str:
        """End all work that no console has seen the end of; return why one may still run, '' where none does."""
        hosts = dict.fromkeys(v.step.host for v in self._begun() if v.state not in _TOLD_AS_ENDED)
        return " ".join(filter(None, (self.end(host) for host in hosts)))

    def end_all(self) -> str:
        """End the run's work on every host, nobody attends to it; return why some may still run, '' for none."""
        return " ".join(filter(None, (self.end(host) for host in dict.fromkeys(v.step.host for v in self._begun()))))

    def end(self, host: str) -> str:
        """End the run's work on a host, whatever its steps are by now; return why some may still run, '' for none."""
        return " ".join(filter(None, (self._ended(v) for v in self._begun() if v.step.host == host)))

    def _begun(self) -> tuple[StepView, ...]:
        """Return the steps whose work was ever announced and not taken back, the newest first."""
        return tuple(
            view
            for view in reversed(self._log.view.steps)
            if isinstance(view.step.action, Detached)
            and view.state is not StepState.UNDONE
            and self._log.acted(view.step.step_id)
        )

    def _ended(self, view: StepView) -> str:
        step, why = view.step, ""
        assert isinstance(step.action, Detached)
        for number in range(TRIES):
            if number and self._parts.clock.sleep(PAUSE_S):
                break
            try:
                ran = self._parts.actor.end(step.host, step.action.name)
            except UserError as problem:
                why = str(problem)
                continue
            if ran:
                words = f"{step.title}: it was still running on {step.host} and was ended."
                self._log.write(note("work-ended", words, step.step_id))
            return ""
        return sentence(f"Not known whether this still runs on {step.host}: {step.title}. {why}")

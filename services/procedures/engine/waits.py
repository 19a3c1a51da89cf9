"""Waiting: for conditions to hold, for a person's word, for a pause to end; watch rules go on in every wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from services.clock import Clock
from services.procedures.engine.control import Control
from services.procedures.engine.held_up import HeldUp, still_open
from services.procedures.engine.limit import Limit
from services.procedures.engine.looks import Looks
from services.procedures.engine.not_known import not_known
from services.procedures.engine.parts import (
    NeedsPerson,
    Parts,
    StepCancelled,
    StepFailed,
    Suspended,
    WayOut,
    undoes_alone,
)
from services.procedures.engine.run_log import RunLog
from services.procedures.engine.watching import Watching
from services.procedures.journal.entries import answered, asked, run_state
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import Question, RunState, StepState

TICK_S = 0.5
READ_TRIES_S = 30.0
ASK_EVERY_S = 5.0
AGAIN_S = 60.0
"""So long is somebody waited for who did not answer before, where a step is looked at again."""
FREE_S = 5.0
"""So long must what stood against an act be gone: a restart that goes on breaks it and mends it by itself."""


class Waits:
    """The engine's waits for one run. One thread."""

    def __init__(self, parts: Parts, log: RunLog, control: Control, watching: Watching) -> None:
        self._parts = parts
        self._log = log
        self._control = control
        self._watching = watching
        self._ask_due = 0.0
        self.meanwhile: Callable[[Step], None] = lambda _: None
        """What else is seen to while a step waits, between two looks."""

    @property
    def _clock(self) -> Clock:
        return self._parts.clock

    def looks(self) -> Looks:
        """Begin an attempt: looks that remember each other and nothing that was before them."""
        return Looks(self._parts.prover, self._clock)

    def answers(self, conditions: tuple[Condition, ...], looks: Looks | None = None) -> tuple[Answer, ...]:
        """Look at each condition once, as part of an attempt or for this once."""
        return (looks or self.looks()).answers(conditions, self._log.past)

    def hold_now(self, conditions: tuple[Condition, ...], step_id: str, looks: Looks | None = None) -> bool:
        """Return whether all hold now, keeping what was read by the way; False for none at all."""
        if not conditions:
            return False
        found = self.answers(conditions, looks)
        if all(answer.holds for answer in found):
            self.keep(step_id, found)
            return True
        return False

    def before_act(self, step: Step, *, again: bool = False) -> None:
        """Re-read the preconditions; StepFailed names what moved. What can't be read is tried again for a while.

        Args:
            again: it may have begun before, and broken off: then nobody says that nothing was changed.
        """
        acted = self._log.step(step.step_id).acted
        self._must_hold(step, step.before if acted else step.first_before, again=again)

    def before_undo(self, step: Step) -> None:
        """The same for what must hold before the step is taken back."""
        self._must_hold(step, step.undo.before if step.undo is not None else (), undoing=True)

    def _must_hold(
        self, step: Step, before: tuple[Condition, ...], *, again: bool = False, undoing: bool = False
    ) -> None:
        begin, so_far = _not_begun(again=again, undoing=undoing)
        limit, looks = Limit(self._clock, READ_TRIES_S), self.looks()
        while True:
            found = self.answers(before, looks)
            moved = next((a for a in found if a.holds is False), None)
            if moved is not None:
                if moved.final:
                    self.keep(step.step_id, (moved,))
                raise StepFailed(f"{begin}: {moved.evidence}. {so_far}", ended=moved.ended, rests=moved.doubt)
            unread = next((a for a in found if a.holds is None), None)
            if unread is None:
                self.keep(step.step_id, found)
                return
            if unread.final or limit.over():
                words = f"a precondition could not be read ({unread.evidence})"
                raise StepFailed(f"{begin}: {words}. {so_far}", unread.lines, not_known=True)
            self._log.waiting(step.step_id, unread, "an answer", None)
            self.tick(step)

    def until_hold(
        self, step: Step, conditions: tuple[Condition, ...], waits_for: str, limit_s: float, *, again: bool = False
    ) -> tuple[str, ...]:
        """Wait until all hold; return the evidence. StepFailed when one never can, or at the limit.

        Args:
            again: they were waited for before, and were not known: who is still silent is not waited for as long.
        """
        return self._until(step, conditions, waits_for, limit_s, silent_s=AGAIN_S if again else limit_s) or ()

    def until_proven_or_free(self, step: Step, waits_for: str) -> tuple[str, ...] | None:
        """Wait for the proof of an act that a dead console announced, and that can't be done again as it is now.

        Whether it goes on behind the console's back is not known, so that it is waited for; what stands against doing
        it again is told all the while, and once that has been gone for FREE_S the wait ends.

        Returns:
            The evidence, or None once what must hold before the act holds again.
        """
        return self._until(step, step.proof, waits_for, step.limit_s, or_free=step.before)

    def _until(
        self,
        step: Step,
        conditions: tuple[Condition, ...],
        waits_for: str,
        limit_s: float,
        or_free: tuple[Condition, ...] = (),
        silent_s: float = 0.0,
    ) -> tuple[str, ...] | None:
        limit, looks, told = Limit(self._clock, limit_s), self.looks(), 0.0
        silence = Limit(self._clock, silent_s or limit_s)
        free_at = self._clock.monotonic() + FREE_S
        held = HeldUp(self._parts, self._log, step.step_id)
        while True:
            found = self.answers(conditions, looks)
            open_ = [a for a in found if not a.holds]
            if not open_:
                self.keep(step.step_id, found)
                lines = tuple(line for a in found for line in a.lines)
                return (*(a.evidence for a in found), *lines)
            hopeless = next((a for a in open_ if a.final and a.holds is False), None)
            if hopeless is not None:
                self.keep(step.step_id, (hopeless,))
                raise StepFailed(hopeless.evidence, hopeless.lines, ended=hopeless.ended, rests=hopeless.doubt)
            silent, over = silence.over(), limit.over()
            if any(a.final for a in open_) or ((silent or over) and all(a.holds is None for a in open_)):
                raise not_known(conditions, found)
            waited = held.told(open_[0], still_open(conditions, found))
            against = [a for a in self.answers(or_free) if not a.holds]
            if against or not or_free:
                free_at = self._clock.monotonic() + FREE_S
            elif self._clock.monotonic() >= free_at:
                return None
            waited = _not_again(waited, against) if against else waited
            if over:
                raise _not_within(limit_s, waited, open_)
            if limit.slept_s > told:
                self._log.said(step.step_id, _asleep(limit.slept_s - told))
                told = limit.slept_s
            self._log.waiting(step.step_id, waited, waits_for, limit.wall)
            self.meanwhile(step)
            self.tick(step)

    def ask(self, question: Question, step_id: str, anew: Callable[[], str] | None = None) -> str:
        """Ask and wait as long as it takes; the run is WAITING meanwhile. NeedsPerson where nobody can answer.

        Args:
            anew: returns the question's words with what is read now. A person may take hours, and acts by them.
        """
        ready = self._ready_answer(question)
        self._log.write(asked(question))
        self._log.write(run_state(RunState.WAITING, question.ask.question))
        if ready is None and self._parts.policy.unattended:
            raise NeedsPerson(question.ask.question)
        while ready is None:
            if self._control.undoing or self._control.leaving:
                raise WayOut("undo" if self._control.undoing else "leave")
            given = self._parts.person.answer(self._log.view.run_id, question)
            if given is not None and self._fits(question, given):
                ready = given
                break
            self._breathe(step_id)
            question = self._refreshed(question, anew)
        self._log.write(answered(question, ready, self._parts.policy.by))
        return ready

    def _refreshed(self, question: Question, anew: Callable[[], str] | None) -> Question:
        """Return the question as it is to be shown now; what it says is read again every few seconds."""
        if anew is None or self._clock.monotonic() < self._ask_due:
            return question
        text, self._ask_due = anew(), self._clock.monotonic() + ASK_EVERY_S
        if text != question.ask.question:
            question = replace(question, ask=replace(question.ask, question=text))
            self._log.asking(question)
        return question

    def accepted(self, question: Question) -> bool:
        """Ask in the middle of an undo, which goes on after it; False where nobody accepts, or nobody is there."""
        ready = self._ready_answer(question)
        if ready is None and self._parts.policy.unattended:
            return False
        self._log.write(asked(question))
        while ready is None:
            given = self._parts.person.answer(self._log.view.run_id, question)
            if given is not None and self._fits(question, given):
                ready = given
                break
            self._breathe(question.step_id)
        self._log.write(answered(question, ready, self._parts.policy.by))
        return ready == question.ask.expect

    def paused(self, sentence: str, step_id: str) -> None:
        """Rest until the person goes on."""
        self._log.write(run_state(RunState.PAUSED, sentence))
        while self._control.pausing:
            if self._control.undoing or self._control.leaving:
                raise WayOut("undo" if self._control.undoing else "leave")
            self._breathe(step_id)
        self._log.write(run_state(RunState.RUNNING))

    def tick(self, step: Step) -> None:
        """Let a moment pass inside a step; raises what a person or the console's end wants."""
        if self._log.step(step.step_id).state is not StepState.UNDOING:  # an undo is gone through with
            if self.cancelled() and step.cancellable:
                raise StepCancelled
            if step.cancellable and (self._control.undoing or self._control.leaving):
                raise StepCancelled
        self._breathe(step.step_id)

    def watch(self, step: Step) -> None:
        """Look at the watch rules that are due, in a wait that is not one of these."""
        self._watching.look(step.step_id)

    def foreseen(self) -> tuple[str, ...]:
        """Return what the watch rules foresee, each in a sentence."""
        return self._watching.foreseen()

    def cancelled(self) -> bool:
        """Return whether a person wants the running step broken off; the wish is spent by it."""
        wanted = self._control.cancelled.is_set()
        self._control.cancelled.clear()
        return wanted

    def _breathe(self, step_id: str) -> None:
        if self._clock.sleep(TICK_S, self._control.closing):
            raise Suspended
        self._watching.look(step_id)

    def _ready_answer(self, question: Question) -> str | None:
        policy = self._parts.policy
        if question.topic == "breach":
            return "undo" if undoes_alone(policy, self._log.view) else None
        if question.ask.kind == "typed" and question.ask.expect in policy.confirmed:
            return question.ask.expect
        if policy.unattended and question.topic in {"step", "continued"} and question.ask.unattended:
            return question.ask.unattended
        return None

    @staticmethod
    def _fits(question: Question, given: str) -> bool:
        if question.ask.kind == "typed":
            return given in {question.ask.expect, "stop"}
        if question.ask.kind == "choice":
            return given in {value for value, _ in question.ask.choices} | {"stop"}
        return True

    def keep(self, step_id: str, found: tuple[Answer, ...]) -> None:
        """Keep the values that these looks read by the way."""
        for answer in found:
            self._log.keep(step_id, answer.kept)


def _not_begun(*, again: bool, undoing: bool) -> tuple[str, str]:
    """Return how to tell that it was not begun, and what is there by now."""
    if again:
        return "It was not started again", "Possible changes from before the interruption remain."
    return "It did not start", ("It was not rolled back." if undoing else "This step changed nothing.")


def _not_again(waited: Answer, against: list[Answer]) -> Answer:
    """Return what is waited for, with what keeps the act from being done again, and the ways out of that."""
    why = "; ".join(a.evidence for a in against)
    return replace(
        waited,
        evidence=f"{waited.evidence}. It was announced when the console ended, and may not have started. "
        f"It cannot start now: {why}. Correct that and the run continues by itself, or undo",
    )


def _not_within(limit_s: float, waited: Answer, open_: list[Answer]) -> StepFailed:
    lines = tuple(line for a in open_ for line in a.lines)
    missing = "; ".join(a.evidence for a in (waited, *open_[1:]))
    return StepFailed(f"Not within {limit_s:.0f} s: {missing}.", lines)


def _asleep(seconds: float) -> str:
    return f"This console was asleep for {seconds / 60:.0f} min: nothing was watched, and the time does not count."

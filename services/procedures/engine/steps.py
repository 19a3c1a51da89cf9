"""One step: read what must hold, announce, act, prove; and after a crash: prove what happened instead of guessing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from services.errors import TimedOut, Unreachable, UserError
from services.procedures.engine.control import Control
from services.procedures.engine.held_up import performed
from services.procedures.engine.not_known import not_known
from services.procedures.engine.parts import (
    ONLY_READ,
    STOP_WORDS,
    Parts,
    StepCancelled,
    StepFailed,
    failure,
    printed,
)
from services.procedures.engine.ports import Acted, ActFailed, Untouched
from services.procedures.engine.run_log import RunLog
from services.procedures.engine.waits import TICK_S, Waits
from services.procedures.journal.entries import (
    approved,
    continued,
    obligation_discharged,
    obligation_taken,
    output,
    run_state,
    step_state,
    value_kept,
)
from services.procedures.plan.actions import Ask, Checkpoint, Continue, Detached, WaitFor
from services.procedures.plan.checks import Check, standing_blocks
from services.procedures.plan.condition import Answer
from services.procedures.plan.invariants.plans import changes, only_reads, violations
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.run_model import Question, RunState, StepState
from services.procedures.plan.sentences import OUTCOME_UNKNOWN
from services.procedures.plan.waiting_words import waiting_words

DOUBT_S = 10.0
RETRY_S = 3.0
BY_YOUR_WORD = "you confirmed it"
_MOST_TOLD = 3
_READ_BEFORE = "A retry uses what this run has read so far: if that was corrected since, undo the run and start again."
"""Steps that a question names; the plan shows all."""


class Steps:
    """Performs steps of one run. One thread."""

    def __init__(self, parts: Parts, log: RunLog, control: Control, waits: Waits) -> None:
        self._parts = parts
        self._log = log
        self._control = control
        self._waits = waits

    def perform(self, step: Step) -> None:
        """Bring a step to DONE or ALREADY; raises StepFailed, StepCancelled, NeedsPerson, Suspended or WayOut."""
        last = self._log.step(step.step_id)
        state = last.state
        if state in {StepState.DONE, StepState.ALREADY}:
            return
        if state in {StepState.ACTING, StepState.PROVING, StepState.IN_DOUBT}:
            self._resume(step, state)
            return
        if state is StepState.FAILED and self._came_true(step):
            return
        self._log.write(step_state(step.step_id, StepState.CHECKING))
        if self._waits.hold_now(step.already, step.step_id):
            self._already(step)
            return
        self._waits.before_act(step)
        if self._confirm(step):
            self._waits.before_act(step)  # a person may have taken hours to answer
        if last.came_back and isinstance(step.action, Detached):
            self._parts.actor.discard(step.host, step.action.name)
        self._begin(step)

    def _came_true(self, step: Step) -> bool:
        """Return whether a step that failed at its proof is proven now: then it is not done a second time."""
        acts = not isinstance(step.action, Ask | Checkpoint | WaitFor | Continue)
        if not acts or not self._log.acted(step.step_id) or self._misses_value(step):
            return False
        found = self._waits.answers(step.proof)
        if not found or not all(a.holds for a in found):
            return False
        self._waits.keep(step.step_id, found)
        self._done(step, tuple(a.evidence for a in found))
        return True

    # -- fresh ---------------------------------------------------------------------------------------------------------

    def _already(self, step: Step) -> None:
        """Nothing is to do. What the step would switch on is on: it must be switched off later all the same."""
        if step.takes is not None and not self._is_open(step.takes.key):
            self._log.write(obligation_taken(step.step_id, step.takes))
        evidence = tuple(a.evidence for a in self._waits.answers(step.already))
        self._discharge(step, evidence)
        self._log.write(step_state(step.step_id, StepState.ALREADY, evidence=evidence))

    def _confirm(self, step: Step) -> bool:
        """Have a step that can't be undone confirmed by the host's name, typed; return whether there was a question."""
        if not step.confirm:
            return False

        def words() -> str:
            text = "".join(f"{a.evidence}. " for a in self._waits.answers(step.beside) if a.holds is False)
            return f"{text}This cannot be undone: {step.title}. Type {step.confirm} to confirm."

        question = Question(Ask(words(), "typed", expect=step.confirm), step.step_id, "step", self._parts.clock.wall())
        if self._waits.ask(question, step.step_id, words if step.beside else None) != step.confirm:
            raise StepFailed("You did not confirm it. This step changed nothing.")
        self._log.write(run_state(RunState.RUNNING))
        return True

    def _begin(self, step: Step) -> None:
        match step.action:
            case Ask():
                self._log.write(step_state(step.step_id, StepState.ACTING))
                self._ask(step, step.action)
            case Checkpoint(sentence=sentence):
                self._log.write(step_state(step.step_id, StepState.ACTING))
                self._log.write(step_state(step.step_id, StepState.DONE, said=sentence))
            case WaitFor():
                again = self._log.step(step.step_id).state is StepState.IN_DOUBT
                self._log.write(step_state(step.step_id, StepState.ACTING))
                self._wait(step, step.action, again=again)
            case Continue():
                self._log.write(step_state(step.step_id, StepState.ACTING))
                self._continue(step)
            case _:
                self._act(step)

    def _act(self, step: Step, *, again: bool = False) -> None:
        """Announce, act, prove.

        Args:
            again: a former console, or a broken way, may have begun it: what must hold before was not read just now.
        """
        if step.takes is not None and not self._is_open(step.takes.key):
            self._log.write(obligation_taken(step.step_id, step.takes))
        self._log.write(step_state(step.step_id, StepState.ACTING))
        self._do(step, again=again)
        self._log.write(step_state(step.step_id, StepState.PROVING))
        self._prove(step)

    def _do(self, step: Step, *, again: bool) -> None:
        """Perform the act; when the way to the host broke in the middle, let the proof say what happened."""
        until = self._parts.clock.monotonic() + step.limit_s
        while True:
            try:
                acted = performed(
                    self._parts, self._log, step.step_id, step.host, step.action, self._act_of(step, until, again=again)
                )
            except Unreachable as problem:
                if self._broken_way(step, problem, until):
                    return
                again = True
                continue
            except UserError as problem:
                self._kept_output(step, printed(problem))
                if step.cancellable and self._waits.cancelled():
                    raise StepCancelled from problem
                raise self._gave_up(step, problem, again=again) from problem
            for name, value in acted.kept:
                self._log.write(value_kept(step.step_id, name, value))
            self._kept_output(step, acted.output)
            return

    def _act_of(self, step: Step, until: float, *, again: bool) -> Callable[[], Acted]:
        """Return the act itself, to be performed now."""
        kept, limit_s = self._log.past.kept, max(1.0, until - self._parts.clock.monotonic())
        return lambda: self._parts.actor.perform(
            step.step_id, step.host, step.action, kept, limit_s=limit_s,
            stop=self._control.cancelled if step.cancellable else None,
            said=lambda line: self._attended(step, line),
            ready=(lambda: self._waits.before_act(step, again=True)) if again else None,
        )  # fmt: skip

    def _attended(self, step: Step, line: str) -> None:
        """Tell what detached work says, and beside it what the watch rules foresee: they go on while it runs."""
        self._waits.watch(step)
        self._log.said(step.step_id, "; ".join((line, *self._waits.foreseen())))

    def _kept_output(self, step: Step, lines: tuple[str, ...]) -> None:
        if lines:
            self._log.write(output(step.step_id, lines))

    def _gave_up(self, step: Step, problem: UserError, *, again: bool) -> StepFailed:
        """Return what to tell of an act that the host ended: where its proof knows why, that comes first.

        `systemctl` says only that the job failed; the server's log, which the proof reads, has the cause.
        """
        told = failure(step.action, problem, reads=only_reads(step))
        if isinstance(problem, Untouched) and not again:
            return StepFailed(told, untouched=True)
        hopeless = next((a for a in self._waits.answers(step.proof) if a.final), None)
        came_back = isinstance(problem, ActFailed)
        if hopeless is None:
            return StepFailed(told, came_back=came_back)
        told = f"{hopeless.evidence}. {told}"
        return StepFailed(told, hopeless.lines, ended=hopeless.ended, came_back=came_back)

    def _broken_way(self, step: Step, problem: Unreachable, until: float) -> bool:
        """Return True when the proof shows that it happened, False to do it again; StepFailed when neither is known.

        What must not be done twice is only looked for, until the step's limit: it may have happened behind the break.
        It is done when, after a while, all is proven to be as without it.
        """
        again = step.repeatable or isinstance(step.action, Detached)
        late, looks = self._parts.clock.monotonic() + DOUBT_S, self._waits.looks()
        while True:
            if not self._misses_value(step) and self._waits.hold_now(step.proof, step.step_id, looks):
                return True
            over = isinstance(problem, TimedOut) and isinstance(step.action, Detached)  # the job's own limit
            hopeless = over or (not again and not step.proof)
            if hopeless or self._parts.clock.monotonic() >= until:
                known = ONLY_READ if only_reads(step) else OUTCOME_UNKNOWN
                found = self._waits.answers(step.proof)
                unknown = all(answer.holds is None for answer in found if not answer.holds)
                words = f" {not_known(step.proof, found)}" if found and unknown else ""
                raise StepFailed(f"{problem} {known}{words}", not_known=unknown) from problem
            self._log.said(
                step.step_id, f"{problem.sentence} {'Trying again.' if again else 'Looking for its outcome.'}"
            )
            for _ in range(int(RETRY_S / TICK_S)):
                self._waits.tick(step)
            if isinstance(step.action, Detached):
                return False  # it is attached to; what never began reads anew what must hold before
            late_enough = again or (self._parts.clock.monotonic() >= late and self._is_undone(step))
            if late_enough and self._may_begin(step):
                return False

    def _prove(self, step: Step, *, again: bool = False) -> None:
        evidence = self._waits.until_hold(step, step.proof, waiting_words(step.proof), step.limit_s, again=again)
        self._done(step, evidence)

    def done_by_word(self, step: Step) -> None:
        """Take a person's word for a proof that is not known. What it would discharge is released by proof, later."""
        self._log.write(step_state(step.step_id, StepState.DONE, evidence=(BY_YOUR_WORD,)))

    def _done(self, step: Step, evidence: tuple[str, ...], said: str = "") -> None:
        self._discharge(step, evidence)
        self._log.write(step_state(step.step_id, StepState.DONE, said=said, evidence=evidence))

    def _discharge(self, step: Step, evidence: tuple[str, ...]) -> None:
        for key in step.discharges:
            if self._is_open(key):
                self._log.write(obligation_discharged(step.step_id, key, "; ".join(evidence)))

    def _is_open(self, key: str) -> bool:
        return any(o.obligation.key == key for o in self._log.view.obligations)

    # -- the console's own steps ---------------------------------------------------------------------------------------

    def _wait(self, step: Step, action: WaitFor, *, again: bool) -> None:
        evidence = self._waits.until_hold(step, action.conditions, action.reason, step.limit_s, again=again)
        self._done(step, evidence)

    def _ask(self, step: Step, action: Ask) -> None:
        found = self._waits.answers(step.already)
        if found and all(a.holds for a in found):  # what it asks about came true meanwhile
            self._done(step, tuple(a.evidence for a in found))
            return
        self._waits.keep(step.step_id, found)
        asked = replace(action, question=_asking_words(action, found))
        question = Question(asked, step.step_id, "step", self._parts.clock.wall())
        anew = partial(self._asking_anew, step, action) if step.already else None
        answer = self._waits.ask(question, step.step_id, anew)
        self._log.write(run_state(RunState.RUNNING))
        if answer in STOP_WORDS or (action.kind == "typed" and answer != action.expect):
            raise StepFailed(f"You answered: {answer}.")
        if action.keep:
            self._log.write(value_kept(step.step_id, action.keep, answer))
        self._done(step, (f"answer: {answer}",))

    def _asking_anew(self, step: Step, action: Ask) -> str:
        found = self._waits.answers(step.already)
        self._waits.keep(step.step_id, found)  # what a person is shown is what they answer to
        return _asking_words(action, found)

    def _continue(self, step: Step) -> None:
        """Plan the rest from what was found; it is shown and approved like a plan of its own."""
        if self._log.view.plan.steps[-1].step_id == step.step_id:
            self._plan_on(step)
        if self._log.view.approved is None:
            plan = self._log.view.plan
            asked_for = {s.confirm for s in plan.steps if s.confirm}
            missing = asked_for - self._parts.policy.confirmed
            text = f"The rest of the plan is ready: {_gist(plan, step)}. Approve it?"
            if missing and self._parts.policy.unattended:
                hosts = ", ".join(sorted(missing))
                text = f"The rest of the plan has a step that cannot be undone: confirm {hosts}."
            ask = Ask(text, unattended="" if missing else "approve")
            answer = self._waits.ask(Question(ask, step.step_id, "continued", self._parts.clock.wall()), step.step_id)
            if answer != "approve":
                raise StepFailed("You did not approve the rest of the plan.")
            self._log.write(approved(self._parts.policy.by))
        self._log.write(run_state(RunState.RUNNING))
        self._done(step, ())

    def _plan_on(self, step: Step) -> None:
        if self._parts.continuing is None:
            raise StepFailed("The rest of the plan cannot be created here.")
        checks, plan = self._parts.continuing(self._log.view)
        blocks = standing_blocks(checks, self._log.view.overrides)
        wrong = violations(plan, begun=True)
        if blocks:
            words = " ".join(_blocks(c) for c in blocks)
            unknown = all(check.not_known for check in blocks)
            raise StepFailed(f"The rest cannot be planned. {words} {_READ_BEFORE}", not_known=unknown)
        if wrong or len(plan.steps) <= len(self._log.view.plan.steps):
            raise StepFailed(f"The rest of the plan is not valid: {'; '.join(wrong) or 'it has no steps'}.")
        so_far = self._log.view.plan.steps
        if plan.steps[: len(so_far)] != so_far:
            raise StepFailed("The rest of the plan is not valid: it changes steps that were approved before.")
        self._log.write(continued(step.step_id, plan, checks))

    # -- after a crash -------------------------------------------------------------------------------------------------

    def _resume(self, step: Step, state: StepState) -> None:
        """Prove what happened; do it again only where that does no harm; else ask."""
        if isinstance(step.action, Ask | Checkpoint | WaitFor | Continue):
            self._begin(step)
            return
        keeps, performed = self._misses_value(step), self._log.step(step.step_id).performed
        if not keeps and performed:
            if state is not StepState.PROVING:
                self._log.write(step_state(step.step_id, StepState.PROVING))
            self._prove(step, again=state is StepState.IN_DOUBT)
            return
        if isinstance(step.action, Detached) and not performed:
            self._act(step, again=True)  # it is attached to, and its result told
            return
        if not keeps and self._proven(step):
            return
        if (step.repeatable or self._is_undone(step)) and self._may_begin(step):
            self._act(step)
            return
        if step.repeatable and not keeps and step.proof:
            self._prove_or_begin(step)
            return
        self._doubt(step)

    def _prove_or_begin(self, step: Step) -> None:
        """Wait for the proof of what was perhaps begun: its precondition does not hold now.

        The act may have broken it, as a stop does; or a colleague, before anything was done. The wait sees both. The
        step stays announced: the next console is to see both as well.
        """
        evidence = self._waits.until_proven_or_free(step, waiting_words(step.proof))
        if evidence is None:
            self._act(step)
        else:
            self._done(step, evidence)

    def _proven(self, step: Step) -> bool:
        """Bring the step to DONE where its proof holds, now or within seconds (a server may still be at the act).

        ACTING is not written again: what happened since the act began stays bounded by its first announcement.
        """
        if not step.proof:
            return False
        until, looks = self._parts.clock.monotonic() + (0.0 if step.repeatable else DOUBT_S), self._waits.looks()
        while True:
            found = self._waits.answers(step.proof, looks)
            if all(a.holds for a in found):
                break
            if self._parts.clock.monotonic() >= until:
                return False
            self._waits.tick(step)
        self._waits.keep(step.step_id, found)
        self._done(step, tuple(a.evidence for a in found))
        return True

    def _misses_value(self, step: Step) -> bool:
        """Return whether the act gives a value that was not kept: its proof alone does not replace it."""
        name = str(getattr(step.action, "keep", ""))
        return bool(name) and name not in dict(self._log.view.kept)

    def _is_undone(self, step: Step) -> bool:
        """Return whether all is proven to be as without the act (as after its undo): doing it is no second time."""
        proof = step.undo.proof if step.undo is not None else ()
        return self._waits.hold_now(proof, step.step_id)

    def _may_begin(self, step: Step) -> bool:
        return all(a.holds for a in self._waits.answers(step.before))

    def _doubt(self, step: Step) -> None:
        self._log.write(step_state(step.step_id, StepState.IN_DOUBT, error=OUTCOME_UNKNOWN))
        ask = Ask(
            f"'{step.title}' was started when the console ended, and its verification does not hold. Was it done?",
            "choice",
            choices=(
                ("done", "it was done: continue"),
                ("again", "run it (again) now"),
                ("stop", "stop here"),
            ),
        )
        answer = self._waits.ask(Question(ask, step.step_id, "doubt", self._parts.clock.wall()), step.step_id)
        self._log.write(run_state(RunState.RUNNING))
        if answer == "done":
            self._done(step, (BY_YOUR_WORD,))
        elif answer == "again":
            self._log.write(step_state(step.step_id, StepState.CHECKING))
            self._waits.before_act(step, again=True)
            self._act(step)
        else:
            raise StepFailed("You stopped it. Whether it was done is not known.")


def _asking_words(action: Ask, found: tuple[Answer, ...]) -> str:
    """Return the question with what is true now: one that may be skipped says by what it was not."""
    told = [a.evidence for a in found if not a.holds] or [a.evidence for a in found]
    return "".join(f"{one}. " for one in told) + action.question


def _blocks(check: Check) -> str:
    """Return what a check found, and what to do about it: it is shown nowhere else, the run has no checklist for it."""
    tries = "".join(f" Try: {one}" for one in check.try_)
    tries += "".join(f" Or start again: {one.advice} ({one.field}={' or '.join(one.values)})." for one in check.answers)
    return f"{check.code} ('{check.title}') blocks: {check.evidence}.{tries}"


def _gist(plan: Plan, step: Step) -> str:
    """Return what decides of the steps that follow: the one that can't be undone, else those that change a server."""
    rest = plan.steps[plan.steps.index(step) + 1 :]
    moving = [s.title for s in rest if s.moves] or [s.title for s in rest if changes(s.action)] or [rest[-1].title]
    more = f" and {len(moving) - _MOST_TOLD} more" if len(moving) > _MOST_TOLD else ""
    decides = next((s.title for s in rest if s.confirm), "; ".join(moving[:_MOST_TOLD]) + more)
    changing = [s for s in rest if changes(s.action)]
    where = ", ".join(dict.fromkeys(s.host for s in changing if s.host))
    many = f"{len(changing)} steps change {where}, among them: " if len(changing) > 1 else ""
    return f"{many}{decides}"

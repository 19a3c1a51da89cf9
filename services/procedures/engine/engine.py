"""The engine, the only one who executes plans: journals before it acts, proves after, leaves nothing switched on.

One engine drives one run on one thread. It can be killed at any moment: another engine on the same journal goes on by
proof. See run_model.RUN_WAYS and STEP_WAYS for the states, journal/entries.py for what is written when.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from services.errors import BadInput, Refused, StoreError, UserError
from services.i18n import tr
from services.procedures.engine.approving import refuse_unlawful
from services.procedures.engine.control import Control
from services.procedures.engine.endings.undoing import Undoing
from services.procedures.engine.lock import LockHeld
from services.procedures.engine.mended import Mended
from services.procedures.engine.not_known import at_stake, is_last_look, may_be_said
from services.procedures.engine.parts import (
    NeedsPerson,
    Parts,
    StepCancelled,
    StepFailed,
    Suspended,
    WayOut,
    undoes_alone,
)
from services.procedures.engine.parts import sentence as ended
from services.procedures.engine.putting_off import may_wait, next_step
from services.procedures.engine.run_log import RunLog
from services.procedures.engine.steps import Steps
from services.procedures.engine.waits import Waits
from services.procedures.engine.watching import Watching
from services.procedures.journal.entries import answered, approved, asked, run_state, step_state, topology
from services.procedures.journal.entries import lock as lock_line
from services.procedures.journal.projection import ENDED
from services.procedures.journal.run_summary import state_word
from services.procedures.plan.actions import Ask, WaitFor
from services.procedures.plan.checks import standing_blocks
from services.procedures.plan.invariants.plans import only_reads
from services.procedures.plan.looks import AT_THE_END, not_back
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import (
    BY_WORD,
    PUT_OFF,
    RESTS_AT,
    UNKNOWN,
    Question,
    RunState,
    RunView,
    StepState,
)
from services.procedures.plan.sentences import BLOCKED, CANCELLED

_logger = logging.getLogger(__name__)


class Engine:
    """Drives one run from its journal."""

    def __init__(self, parts: Parts, run_id: str, control: Control | None = None) -> None:
        """Read the run; raises BadInput for an unknown one, StoreError for a damaged journal."""
        self._parts = parts
        self.control = control or Control()
        self._log = RunLog(parts.journal, run_id, parts.listener)
        self._watching = Watching(parts.prover, parts.clock, self._log, self._release_now)
        self._waits = Waits(parts, self._log, self.control, self._watching)
        self._steps = Steps(parts, self._log, self.control, self._waits)
        self._mended = Mended(parts, self._log, self._waits, self._steps.perform, self._told_failed)
        self._waits.meanwhile = self._mended.look
        self._out = Undoing(parts, self._log, self._waits, lambda: self._topology("after"))
        self._at_work = ""  # why long work of a run that is over may still run

    @property
    def view(self) -> RunView:
        """Return the run as it is shown now (engine's thread)."""
        return self._log.view

    def run(self) -> RunState:
        """Begin or go on; return the state in which the run rests. Raises StoreError when the journal can't be written.

        LockHeld and LockNotTaken are raised before anything of a new run is changed. A run that is over is only cleared
        of what its last console could not take away any more.
        """
        if self.view.state not in {*ENDED, RunState.UNDOING, RunState.UNDO_FAILED}:
            self._refuse_unsound()
        if self.view.state is RunState.NOT_STARTED:
            self._refuse_blocked()
            self._need_approval()
        return self._with_arms(self._drive)

    def undo(self) -> RunState:
        """Take the run back; BadInput for one that did nothing yet, or is over."""
        view, state = self.view, self.view.state
        if state is RunState.NOT_STARTED or state in ENDED:
            clears = tr("Remove what it left on the hosts: pilothouse resume {run} --yes", run=view.run_id)
            raise BadInput(
                tr("Run {run} cannot be rolled back: it is '{state}'.", run=view.run_id, state=state_word(state)),
                try_=(clears,) if state in ENDED and (view.locked or view.obligations) else (),
            )
        if view.no_return:
            raise Refused(
                tr("Run {run} cannot be rolled back: it has passed its point of no return.", run=view.run_id),
                safe=tr("Nothing was changed. The point of no return: {title}.", title=tr(view.no_return)),
                try_=(tr("Resume it: pilothouse resume {run}", run=view.run_id),),
            )
        return self._with_arms(self._out.undo)

    def release(self, key: str = "") -> RunState:
        """Only switch off what is still on (or the one obligation), and say what is true of the run then.

        Its state stays, but for a failed undo of which all is proven to be back by then: that one is undone.
        """

        def only() -> RunState:
            if key:
                self._out.release(key)
            else:
                self._out.release_all()
            return self._out.settle()

        return self._with_arms(only)

    def leave(self, reason: str) -> RunState:
        """Switch off what is on, and close the run as it stands; one that never began touches no host."""
        if self.view.state is RunState.NOT_STARTED and not self.view.locked:
            return self._left(reason)

        def closing() -> RunState:
            return self._left(reason)

        return self._with_arms(closing)

    # ------------------------------------------------------------------------------------------------------------------

    def _with_arms(self, work: Callable[[], RunState]) -> RunState:
        view, hosts = self.view, self._parts.hosts
        if view.state in ENDED and not view.obligations and not view.locked:
            return view.state
        hosts.arm(view.run_id, view.plan.hosts)
        try:
            self._log.armed(hosts.armed)
            self._take_lock()
            state = self._clear() if view.state in ENDED else work()
            self._tidy(state)
        except Suspended:
            return self.view.state
        except NeedsPerson:
            asked_now = self.view.question
            if self.view.state is RunState.FAILED or (asked_now is not None and asked_now.topic == UNKNOWN):
                self._topology("after")
            return self.view.state
        else:
            return state
        finally:
            hosts.disarm()
            self._log.rests()

    def _refuse_unsound(self) -> None:
        """The laws are looked at again whenever a run goes forward: a newer console may know one more."""
        refuse_unlawful(self.view)

    def _refuse_blocked(self) -> None:
        view = self.view
        blocks = standing_blocks(view.checks, view.overrides)
        if blocks:
            raise BadInput(
                tr(BLOCKED),
                try_=tuple(f"{c.code}: {c.title} - {c.evidence}" for c in blocks),
            )

    def _need_approval(self) -> None:
        """A console that died before the approval left a plan that nobody approved: only a person's yes begins it."""
        policy, run_id = self._parts.policy, self.view.run_id
        if self.view.approved is not None:
            return
        if not policy.unattended or policy.on_failure != "undo":
            raise BadInput(
                tr("Run {run} was never approved.", run=run_id),
                safe=tr("Nothing was done."),
                try_=(
                    tr("Approve the plan as it is: pilothouse resume {run} --yes", run=run_id),
                    tr("Close it: pilothouse undo {run} --yes --leave 'never approved'", run=run_id),
                ),
            )
        self._log.write(approved(policy.by))

    def _take_lock(self) -> None:
        lock, plan = self._parts.lock, self.view.plan
        if lock is None:
            return
        self._log.write(lock_line("take", plan.machines))
        try:
            lock.take(plan, take_over=self._parts.policy.take_over)
        except LockHeld as held:
            self._log.write(lock_line("released", plan.machines, str(held)))
            raise
        self._log.write(lock_line("taken over" if self._parts.policy.take_over else "taken", plan.machines))

    def _clear(self) -> RunState:
        """See to what a run that is over still has on hosts."""
        self._at_work = self._out.end_works()
        self._out.release_all()
        return self.view.state

    def _tidy(self, state: RunState) -> None:
        """The run is over for good: nothing of it stays on the hosts.

        A run that only rests (paused, failed, undo failed, with something still on) keeps its lock: its way is not
        chosen yet, and no other console shall work on what it left half done. So does one whose work may still run.
        """
        if state not in ENDED or self.view.obligations or self._at_work:
            return
        stays: list[str] = []
        if self._parts.cleanup is not None:
            stays += self._parts.cleanup(self.view.plan, frozenset(not_back(self.view.kept)))
        if self._parts.lock is not None:
            left = self._parts.lock.release()
            stays += [f"Not reached: {', '.join(left)}; the lock of this run is still there."] if left else []
            free = tuple(h for h in self.view.plan.machines if h not in left)
            self._log.write(lock_line("released", free, " ".join(stays)))

    # ------------------------------------------------------------------------------------------------------------------

    def _drive(self) -> RunState:
        if self.view.state in {RunState.UNDOING, RunState.UNDO_FAILED}:
            return self._out.undo()
        first = self.view.state is RunState.NOT_STARTED
        self._put_off_at_rest()
        self._log.write(run_state(RunState.RUNNING))
        if first:
            self._topology("before")
        while True:
            step = next_step(self.view)
            if step is None:
                return self._finish()
            way = self._one(step)
            if way == "undo":
                return self._no_way_back() if self.view.no_return else self._out.undo()
            if way == "leave":
                return self._left(self.control.leaving or "left after a failed step")

    def _put_off_at_rest(self) -> None:
        """Take a person's word that the step at which the run rests may wait: one more try takes its whole time, and
        may begin with another question."""
        question = self.view.question
        if question is None or question.topic not in RESTS_AT or question.step_id != self._parts.policy.put_off:
            return
        later, _ = may_wait(self.view, self._log.step(question.step_id).step, self._waits.answers)
        if later:
            self._log.write(answered(question, PUT_OFF, self._parts.policy.by))
            self._mended.put_off(self._log.step(question.step_id).step)

    def _no_way_back(self) -> RunState:
        """Rest where a person wanted to go back from a place that has no way back: it can still go on."""
        sentence = f"It has passed its point of no return ({self.view.no_return}) and can only continue."
        self._log.write(run_state(RunState.FAILED, sentence))
        return RunState.FAILED

    def _one(self, step: Step) -> str:
        """Perform one step and see to what it ends in; return '' to go on, or the way out."""
        try:
            self._between(step)
            self._steps.perform(step)
        except WayOut as chosen:
            return chosen.way
        except StepCancelled:
            self._broken_off(step)
            if self.control.undoing or self.control.leaving:
                return "undo" if self.control.undoing else "leave"
            return self._failed(step, CANCELLED)
        except StepFailed as problem:
            self._told_failed(step, problem)
            return self._failed(step, str(problem), not_known=problem.rests, ended_server=problem.ended)
        return ""

    def _told_failed(self, step: Step, problem: StepFailed) -> None:
        state = StepState.IN_DOUBT if problem.not_known and self._may_be_done(step) else StepState.FAILED
        came_back = problem.came_back or self._log.step(step.step_id).performed
        self._log.write(
            step_state(
                step.step_id, state, error=str(problem), evidence=problem.lines, untouched=problem.untouched,
                came_back=came_back,
            )
        )  # fmt: skip

    def _may_be_done(self, step: Step) -> bool:
        """Return whether a step may have come to its end: it was begun, and is no read that is simply made again."""
        shown = self._log.step(step.step_id)
        begun = shown.state in {StepState.ACTING, StepState.PROVING, StepState.IN_DOUBT}
        return begun and (shown.performed or isinstance(step.action, WaitFor) or not only_reads(step))

    def _broken_off(self, step: Step) -> None:
        """Say what a step is that a person broke off: not begun, begun and stopped, or still in doubt."""
        if self._log.step(step.step_id).state is StepState.CHECKING:
            self._log.write(self._log.not_begun(step.step_id))
        elif self._log.step(step.step_id).state is not StepState.IN_DOUBT:
            self._log.write(step_state(step.step_id, StepState.CANCELLED, error=CANCELLED))

    def _between(self, step: Step) -> None:
        """Before each act: a way out, a pause, a breach, a lost lock."""
        if self.control.closing.is_set():
            raise Suspended
        if self.control.undoing or self.control.leaving:
            raise WayOut("undo" if self.control.undoing else "leave")
        if self.control.pausing:
            self._waits.paused("You paused the run before the next step. Nothing is running.", step.step_id)
        self._watching.look(step.step_id, anew=True)
        broken = self._watching.broken()
        if broken is not None:
            self._breach(step, broken.rule.code, partial(self._watching.sentence_of, broken))
            self._watching.accepted(broken.rule.code)
        lost = self._parts.lock.check() if self._parts.lock is not None else ()
        if lost:
            self._log.write(lock_line("lost", lost))
            sentence = f"Another console took the lock of the cluster on {', '.join(lost)}."
            self._breach(step, "LOCK", lambda: sentence)

    def _breach(self, step: Step, code: str, sentence: Callable[[], str]) -> None:
        """Ask what now; `sentence` says what is true of it at any time."""
        choices = self._ways((("go on", "continue anyway"), _BACK, ("stop", "leave it as it is")))

        def words() -> str:
            return f"{code}: {sentence()} Nothing acts now."

        question = Question(Ask(words(), "choice", choices=choices), step.step_id, "breach", self._parts.clock.wall())
        answer = self._waits.ask(question, step.step_id, words)
        if answer != "go on":
            raise WayOut("undo" if answer == "undo" else "leave")
        self._log.write(run_state(RunState.RUNNING))

    def _failed(self, step: Step, sentence: str, *, not_known: bool = False, ended_server: bool = False) -> str:
        """Ask what now, or do what the policy says; return the way.

        Args:
            not_known: nothing says that it failed, or is wrong: the policy takes back only what is cheap.
            ended_server: a server that has ended is why.
        """
        on = ", ".join(o.obligation.sentence for o in self.view.obligations)
        told = ended(f"{step.title}: {sentence}")
        told += f" Still switched on: {on}." if on else ""
        doubt = self._log.step(step.step_id).state is StepState.IN_DOUBT and not_known
        self._log.write(run_state(RunState.WAITING if doubt else RunState.FAILED, told))
        kept_up = is_last_look(self.view, step) or (not_known and at_stake(self.view, self._parts.clock.wall()))
        if undoes_alone(self._parts.policy, self.view) and not kept_up:
            return "undo"
        later, why_not = may_wait(self.view, step, self._waits.answers)
        again = ("again", "look again" if doubt else "try the step again")
        choices = self._ways((again, *self._said(step, doubt=doubt), *later, _BACK, ("leave", "leave it as it is")))
        ask = Ask(f"{told}{why_not}", "choice", choices=choices)
        question = Question(ask, step.step_id, UNKNOWN if doubt else "failed", self._parts.clock.wall())
        answer = self._ask_failed(question, step, ended_server=ended_server)
        if answer in {"undo", "leave"}:
            return answer
        self._log.write(run_state(RunState.RUNNING))
        if answer == BY_WORD:
            self._steps.done_by_word(step)
        elif answer == PUT_OFF:
            self._mended.put_off(step)
        return ""

    def _said(self, step: Step, *, doubt: bool) -> tuple[tuple[str, str], ...]:
        """Return the choice to go on by a person's word, where a word can stand for what is not known."""
        possible = doubt and may_be_said(self._log.step(step.step_id), frozenset(dict(self.view.kept)))
        return ((BY_WORD, "it is true: continue, you confirmed it"),) if possible else ()

    def _ways(self, choices: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Return the ways out that there still are."""
        return tuple(one for one in choices if one is not _BACK or not self.view.no_return)

    def _ask_failed(self, question: Question, step: Step, *, ended_server: bool) -> str:
        """Ask while the run stays FAILED (it is no ordinary question: the state says what is true).

        A picture takes seconds in which no watch rule is looked at: with something on only where a server has ended,
        and it may have been the last one. What leads on from there is another procedure.
        """
        self._log.write(asked(question))
        if not self._parts.policy.unattended and (ended_server or not self.view.obligations):
            self._topology("after")
        while True:
            if self.control.undoing or self.control.leaving:
                return "undo" if self.control.undoing else "leave"
            given = self._parts.person.answer(self.view.run_id, question)
            if given in {"again", "undo", "leave", *(value for value, _ in question.ask.choices)}:
                self._log.write(answered(question, given, self._parts.policy.by))
                return given
            if self._parts.policy.unattended:
                raise NeedsPerson(question.ask.question)
            if self._parts.clock.sleep(0.5, self.control.closing):
                raise Suspended
            self._watching.look(step.step_id)

    def _finish(self) -> RunState:
        left = self._out.release_all()
        self._topology("after")
        if left:
            words = "; ".join(o.release_failed or o.obligation.sentence for o in left)
            self._log.write(run_state(RunState.FAILED, f"Every step is done, but this is still on: {words}"))
            return RunState.FAILED
        found = (said for name, said in self.view.kept if name.startswith(AT_THE_END))
        self._log.write(run_state(RunState.DONE, " ".join((*self.view.plan.expects, *found))))
        return RunState.DONE

    def _left(self, reason: str) -> RunState:
        self._at_work = self._out.end_works()
        left = self._out.release_all()
        sentence = f" Still switched on: {', '.join(o.obligation.sentence for o in left)}." if left else ""
        sentence += (
            f" {self._at_work} To try again: pilothouse resume {self.view.run_id} --yes" if self._at_work else ""
        )
        if self.view.state is not RunState.NOT_STARTED:
            self._topology("after")
        if self.view.state is RunState.RUNNING:
            self._log.write(run_state(RunState.FAILED, "It is being closed as it is."))
        elif self.view.state is RunState.UNDOING:
            self._log.write(run_state(RunState.UNDO_FAILED, "It is being closed during its undo."))
        self._log.write(run_state(RunState.LEFT, f"Left as it is: {reason}.{sentence}"))
        return RunState.LEFT

    def _release_now(self, key: str, step_id: str) -> None:
        self._out.release(key, step_id, at_work=True)

    def _topology(self, when: str) -> None:
        """Keep how the cluster looks; a picture that can't be taken is no reason to stop."""
        if self._parts.snapshot is None:
            return
        try:
            snapshot = self._parts.snapshot()
        except StoreError:
            raise
        except UserError as problem:
            _logger.info("no topology %s the run: %s", when, problem)
            return
        if snapshot is not None:
            self._log.write(topology("before" if when == "before" else "after", snapshot))


_BACK = ("undo", "roll back the run")

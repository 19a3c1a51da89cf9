"""The ways out of a run: every obligation is released on each of them, steps are taken back in reverse order."""

from __future__ import annotations

from collections.abc import Callable

from services.errors import Unreachable, UserError
from services.procedures.engine.endings.releasing import RELEASE_PAUSE_S, Releasing, perform
from services.procedures.engine.parts import Parts, StepFailed, failure, printed, sentence
from services.procedures.engine.run_log import RunLog
from services.procedures.engine.waits import Waits
from services.procedures.engine.works import Works
from services.procedures.journal.entries import (
    Line,
    obligation_taken,
    output,
    run_state,
    step_state,
    value_kept,
)
from services.procedures.plan.actions import Ask
from services.procedures.plan.condition import Condition
from services.procedures.plan.invariants.plans import changes, only_reads
from services.procedures.plan.looks import LEFT, LOST, NOT_BACK, not_back
from services.procedures.plan.model import Consent, Risk, Step, Undo
from services.procedures.plan.run_model import OpenObligation, Question, RunState, StepState, StepView
from services.procedures.plan.sentences import OUTCOME_UNKNOWN

STAYS_S = 10.0
_DOUBTFUL = frozenset({StepState.ACTING, StepState.PROVING})
_BACK = frozenset({StepState.DONE, StepState.FAILED, StepState.CANCELLED, StepState.IN_DOUBT, StepState.UNDOING,
                   StepState.UNDO_FAILED})  # fmt: skip


class Undoing:
    """Releases and takes back, for one run. One thread."""

    def __init__(self, parts: Parts, log: RunLog, waits: Waits, pictured: Callable[[], None]) -> None:
        """Begin; `pictured` keeps how the cluster looks when all is done that can be."""
        self._pictured = pictured
        self._parts = parts
        self._log = log
        self._waits = waits
        self._works = Works(parts, log)
        self._releasing = Releasing(parts, log, waits, self._works)
        self._accepted: list[Consent] = []

    def release_all(self, step_id: str = "") -> tuple[OpenObligation, ...]:
        """See Releasing."""
        return self._releasing.release_all(step_id)

    def release(self, key: str, step_id: str = "", *, at_work: bool = False) -> bool:
        """See Releasing."""
        return self._releasing.release(key, step_id, at_work=at_work)

    def end_works(self) -> str:
        """End all long work of a run that nobody will go on with; return why some may still run, '' where none does."""
        return self._works.end_all()

    # -- undo ----------------------------------------------------------------------------------------------------------

    def undo(self) -> RunState:
        """Take the run back; it stops at the first step that can't be, and releases obligations all the same.

        No step is taken back before every long work that may still run is ended.
        """
        log = self._log
        if refused := self._refused_first():
            still = ", ".join(o.obligation.sentence for o in log.view.obligations)
            log.write(run_state(RunState.FAILED, f"{refused} Still switched on: {still}." if still else refused))
            return RunState.FAILED
        for view in log.view.steps:
            if view.state in _DOUBTFUL:
                log.write(_broken_off(view.step))
            elif view.state is StepState.CHECKING:
                log.write(log.not_begun(view.step.step_id))
        log.write(run_state(RunState.UNDOING, "The run is being rolled back, the newest step first."))
        failed = self._works.end_unfinished() or self._all_back()
        on = log.view.obligations
        left = self.release_all()
        self._pictured()
        if failed or left:
            log.write(run_state(RunState.UNDO_FAILED, self._half_back(failed, on, left)))
            return RunState.UNDO_FAILED
        return self._undone()

    def _all_back(self) -> str:
        """Take back step by step; return what failed, '' for nothing."""
        failed, last = list[str](), list[Step]()
        for view in reversed(self._log.view.steps):
            if not self._is_to_undo(view) and not self._came_back(view):
                continue
            if self._is_left(view):
                continue
            if view.step.undo is not None and view.step.undo.alone and self._is_silent(view.step):
                last.append(view.step)
            elif told := self._tried(view.step):
                failed.append(told)
                if view.step.undo is None or not view.step.undo.alone:
                    return " ".join(failed)
        failed += filter(None, map(self._tried, last))
        back = [view.step for view in reversed(self._log.view.steps) if last and self._came_back(view)]
        failed += filter(None, map(self._tried, back))
        self._look_again()
        return " ".join(failed)

    def _tried(self, step: Step) -> str:
        """Take one step back; return why it failed, '' where it did not."""
        try:
            self._undo(step)
        except StepFailed as problem:
            failed = step_state(step.step_id, StepState.UNDO_FAILED, error=str(problem), evidence=problem.lines)
            self._log.write(failed)
            return sentence(f"{step.undo.title if step.undo is not None else step.title}: {problem}")
        return ""

    def _is_left(self, view: StepView) -> bool:
        """Return whether nobody accepts what the undo of a step would do, and it is left as it is, and told as that."""
        undo = view.step.undo
        wanted = undo.consent if undo is not None else None
        if (
            undo is None
            or wanted is None
            or not wanted.otherwise
            or view.state in {StepState.UNDOING, StepState.UNDONE}
        ):
            return False
        if self._is_back(view.step) or not self._not_accepted(view.step, undo):
            return False
        self._tell_not_back(view.step, wanted.otherwise)
        return True

    def _came_back(self, view: StepView) -> bool:
        """Return whether a step that was taken back, and is to be looked at again, is not as it was left."""
        undo = view.step.undo
        if undo is None or not undo.again or view.state is not StepState.UNDONE:
            return False
        return any(answer.holds is False for answer in self._waits.answers(undo.proof))

    def _is_silent(self, step: Step) -> bool:
        """Return whether the host of a step does not answer now: what the step itself proved can't be read.

        What its undo proves may be unreadable for another reason: a server that the step stopped tells nothing.
        """
        found = self._waits.answers(step.proof or (step.undo.proof if step.undo is not None else ()))
        return bool(found) and all(a.holds is None for a in found)

    def _look_again(self) -> None:
        """What an earlier try told as lost may be there again: a host that was left for last has come back."""
        for view in self._log.view.steps:
            told = dict(self._log.view.kept).get(f"{NOT_BACK}{view.step.step_id}")
            if told and view.step.undo is not None and view.step.undo.loses:
                self._tell_not_back(view.step, self._not_so(view.step.undo.loses))

    def _refused_first(self) -> str:
        """Ask before anything is taken back what the first step to go needs a person's word for.

        Returns:
            '' where it may begin; else what is told: the run rests as it is, and can still go on.
        """
        log = self._log
        if log.view.state in {RunState.UNDOING, RunState.UNDO_FAILED}:
            return ""
        for view in reversed(log.view.steps):
            step, begun = view.step, view.state in _BACK | _DOUBTFUL and log.acted(view.step.step_id)
            if step.undo is None or not begun or self._is_back(step):
                continue
            first = step.undo.consent is not None and step.undo.consent.first
            told = self._not_accepted(step, step.undo) if first else ""
            if told:
                return f"It was not rolled back, because this was not accepted: {told}. The undo changed nothing."
            return ""
        return ""

    def _half_back(self, failed: str, on: tuple[OpenObligation, ...], left: tuple[OpenObligation, ...]) -> str:
        """Say what of an undo that failed was released all the same, what is still on, and which steps stay as done."""
        still = {o.obligation.key for o in left}
        released = ", ".join(o.obligation.sentence for o in on if o.obligation.key not in still)
        steps = (v.step for v in reversed(self._log.view.steps) if self._is_to_undo(v) and not self._is_back(v.step))
        stays = "; ".join(step.undo.title for step in steps if step.undo is not None)
        told = (
            "It could not be rolled back completely.",
            failed,
            f"Released nevertheless: {released}." if released else "",
            f"Not rolled back: {stays}." if stays else "",
            *(o.release_failed or _still_on(o) for o in left),
        )
        return " ".join(filter(None, told))

    def _undone(self) -> RunState:
        stays, by_others = "; ".join(self._stays()), not_back(self._log.view.kept).values()
        lost = "; ".join(dict.fromkeys(said for name, said in self._log.view.kept if name.startswith(LOST)))
        told = [
            *(sentence(one) for one in by_others),
            f"Given up, as accepted: {lost}." if lost else "",
            f"This remains: {stays}." if stays else "",
        ]
        whole = (
            "Everything that can be rolled back was rolled back."
            if any(told)
            else "All changes of the run were rolled back."
        )
        self._log.write(run_state(RunState.UNDONE, " ".join(filter(None, (whole, *told)))))
        return RunState.UNDONE

    def settle(self) -> RunState:
        """After a release alone: say what is true now. A failed undo of which all is proven to be back is UNDONE."""
        log, view = self._log, self._log.view
        on = ", ".join(o.obligation.sentence for o in view.obligations)
        now = f"Still switched on: {on}." if on else "Nothing of it is still switched on."
        if view.state is RunState.UNDO_FAILED:
            left = [v for v in reversed(view.steps) if self._is_to_undo(v) and not self._is_back(v.step)]
            if not left and not on:
                log.write(run_state(RunState.UNDOING, "Its obligations were released; the rest is being checked."))
                for one in (v.step for v in reversed(view.steps) if self._is_to_undo(v)):
                    log.write(step_state(one.step_id, StepState.UNDOING))
                    log.write(step_state(one.step_id, StepState.UNDONE, said=one.undo.title if one.undo else ""))
                return self._undone()
            words = "; ".join(v.step.undo.title for v in left if v.step.undo is not None)
            log.write(run_state(view.state, f"It could not be rolled back completely. Not rolled back: {words}. {now}"))
        elif view.state is RunState.FAILED:
            said = next((f"{v.step.title}: {v.error} " for v in view.steps if v.state is StepState.FAILED), "")
            log.write(run_state(view.state, f"{said}{now}"))
        return log.view.state

    def _is_to_undo(self, view: StepView) -> bool:
        return view.step.undo is not None and view.state in _BACK and self._log.acted(view.step.step_id)

    def _is_back(self, step: Step) -> bool:
        proof = step.undo.proof if step.undo is not None else ()
        return self._waits.hold_now(proof, step.step_id)

    def _stays(self) -> tuple[str, ...]:
        """Return what steps did, or may have done, that have no undo and ended no obligation: told, not hidden. What a
        person did on a server is looked at now: they may have done it without saying so, or taken it back themselves.
        """
        found = [said for name, said in self._log.view.kept if name.startswith(LEFT)]
        back = [v.step for v in self._log.view.steps if v.state is StepState.UNDONE]
        down, gone = {s.moves for s in back} - {""}, {s.step_id for s in back}
        for view in self._log.view.steps:
            step = view.step
            if isinstance(step.action, Ask) and step.action.deed and view.state in _BACK:
                found += self._done_by_a_person(step)
            if step.undo is not None or step.discharges or step.risk is Risk.READS or not changes(step.action):
                continue
            if step.moves in down:
                continue  # it was up before the run: the undo of its stop brought it back
            if step.goes_with in gone:
                continue
            if view.state is StepState.DONE:
                found.append(step.done or step.title)
            elif view.state in _BACK and self._log.acted(step.step_id):
                found.append(f"perhaps, because it was started: {step.title}")
        return tuple(found)

    def _done_by_a_person(self, step: Step) -> tuple[str, ...]:
        answers = self._waits.answers(step.already)
        if answers and all(answer.holds for answer in answers):
            return ("; ".join(answer.evidence for answer in answers),)
        if any(answer.holds is None for answer in answers):
            return (f"perhaps, because it was requested: {step.title}",)
        return ()

    def _undo(self, step: Step) -> None:
        undo = step.undo
        assert undo is not None
        began = self._log.step(step.step_id).state is StepState.UNDOING
        self._log.write(step_state(step.step_id, StepState.UNDOING))
        evidence: tuple[str, ...] = ()
        if still := self._works.end(step.host):
            raise StepFailed(still)
        self._release_guarded(step)
        is_back = bool(undo.proof) and self._waits.hold_now(undo.proof, step.step_id)
        if not is_back and self._consent(step, undo):
            self._waits.before_undo(step)
            if undo.waits:
                self._waits.until_hold(step, undo.waits, undo.title, undo.waits_s)
            self._take_again(step)
            evidence = self._take_back(step, began=began)
        self._discharge_taken(step)
        self._keep_what_stays(step, undo)
        self._log.write(step_state(step.step_id, StepState.UNDONE, said=undo.title, evidence=evidence))

    def _consent(self, step: Step, undo: Undo) -> bool:
        """An undo that would do more than take the step back waits for a person's word, the evidence told with it.

        False: nobody gave it, and the step is left as it is, told. Raises StepFailed where it can't be left.
        """
        told = self._not_accepted(step, undo)
        if not told or undo.consent is None:
            return True
        if not undo.consent.otherwise:
            raise StepFailed(f"It was not started, because this was not accepted: {told}")
        self._tell_not_back(step, undo.consent.otherwise)
        return False

    def _not_accepted(self, step: Step, undo: Undo) -> str:
        """Ask what an undo needs a person's word for; return what nobody accepted, '' where there is nothing to ask.

        What was accepted once in this undo is: a later step may need the same word.
        """
        wanted = undo.consent
        if wanted is None:
            return ""
        found = self._waits.answers(wanted.unless)
        self._waits.keep(step.step_id, found)
        missing = [a for a in found if not a.holds]
        if not missing or wanted in self._accepted:
            return ""
        words = f"{'; '.join(a.evidence for a in missing)}. {wanted.question}"
        ask = Ask(words, "typed", expect=wanted.expect)
        if self._waits.accepted(Question(ask, step.step_id, "step", self._parts.clock.wall())):
            self._accepted.append(wanted)
            given_up = "; ".join(a.evidence for a in missing if a.holds is False)
            if wanted.first and given_up:
                self._log.write(value_kept(step.step_id, f"{LOST}{step.step_id}", given_up))
            return ""
        return f"{words} (--confirm {wanted.expect})"

    def _tell_not_back(self, step: Step, stays: str) -> None:
        """Keep what a person has to see to; an undo that is tried again may take back what the one before left."""
        name = f"{NOT_BACK}{step.step_id}"
        if stays or dict(self._log.view.kept).get(name):
            self._log.write(value_kept(step.step_id, name, stays))

    def _keep_what_stays(self, step: Step, undo: Undo) -> None:
        """Look at what the undo left, for a while where it may still show; what does not hold is told at the end."""
        if lost := self._not_so(undo.loses):
            self._tell_not_back(step, lost)
        elif left := self._not_so(undo.leaves):
            self._log.write(value_kept(step.step_id, f"{LEFT}{step.step_id}", left))

    def _not_so(self, wanted: tuple[Condition, ...]) -> str:
        """Return the evidence of what does not hold, '' where all does."""
        until = self._parts.clock.monotonic() + STAYS_S
        while True:
            left = [a for a in self._waits.answers(wanted) if not a.holds]
            if not left or any(a.final for a in left) or self._parts.clock.monotonic() >= until:
                return "; ".join(a.evidence for a in left)
            self._parts.clock.sleep(RELEASE_PAUSE_S)

    def _release_guarded(self, step: Step) -> None:
        """A safeguard is taken away last: what it guards is released before, or it stays."""
        guarded = self._releasing.guarded(step.takes) if step.takes is not None else ()
        left = [o.obligation.sentence for o in guarded if not self.release(o.obligation.key, step.step_id)]
        if left:
            raise StepFailed(f"It stays on while this is on: {', '.join(left)}.")

    def _take_again(self, step: Step) -> None:
        """What this undo switches on again is told before it acts; the undo of the step that took it first ends it."""
        again = step.undo.takes if step.undo is not None else None
        if again is not None and not any(o.obligation.key == again.key for o in self._log.view.obligations):
            self._log.write(obligation_taken(step.step_id, again))

    def _take_back(self, step: Step, *, began: bool) -> tuple[str, ...]:
        """Perform the undo's act and wait for its proof; return what showed it."""
        undo = step.undo
        assert undo is not None
        until, looks = self._parts.clock.monotonic() + undo.limit_s, self._waits.looks()
        while True:
            try:
                acted = perform(
                    self._parts, self._log, step.step_id, f"undo:{step.step_id}", step.host, undo.action, undo.limit_s
                )
                self._kept_output(step.step_id, acted.output)
                self._tell_not_back(step, acted.stays)
                break
            except UserError as problem:
                self._kept_output(step.step_id, printed(problem))
                found = self._waits.answers(undo.proof, looks)
                if found and all(a.holds for a in found):
                    self._waits.keep(step.step_id, found)
                    break
                hopeless = next((a for a in found if a.final), None)
                if hopeless is not None:  # a server that is down for good is not asked until the limit
                    words = f"{hopeless.evidence}. {failure(undo.action, problem)}"
                    raise StepFailed(words, hopeless.lines) from problem
                # A broken way is tried until the limit; what the host itself refuses is tried twice.
                away = isinstance(problem, Unreachable)
                if self._parts.clock.monotonic() + RELEASE_PAUSE_S >= until or (began and not away):
                    raise StepFailed(failure(undo.action, problem)) from problem
                began = began or not away
                self._parts.clock.sleep(RELEASE_PAUSE_S)
        return self._waits.until_hold(step, undo.proof, undo.title, undo.limit_s) if undo.proof else ()

    def _kept_output(self, step_id: str, lines: tuple[str, ...]) -> None:
        if lines:
            self._log.write(output(step_id, lines))

    def _discharge_taken(self, step: Step) -> None:
        """An undo that is the release of the step's own obligation discharges it."""
        if step.takes is None:
            return
        found = next((o for o in self._log.view.obligations if o.obligation.key == step.takes.key), None)
        if found is not None:
            self._releasing.off(step.step_id, step.takes.key, found)


def _broken_off(step: Step) -> Line:
    """Say what a step is that was under way: one that only reads leaves no doubt."""
    if only_reads(step):
        return step_state(step.step_id, StepState.CANCELLED, error="It was interrupted; it only reads.")
    return step_state(step.step_id, StepState.IN_DOUBT, error=OUTCOME_UNKNOWN)


def _still_on(one: OpenObligation) -> str:
    return f"Still switched on: {one.obligation.sentence}."

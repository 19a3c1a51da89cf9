"""What a run has switched on is switched off again, on each of its ways out: the newest first, safeguards last."""

from __future__ import annotations

from services.errors import UserError
from services.procedures.engine.held_up import performed
from services.procedures.engine.parts import Parts, printed
from services.procedures.engine.ports import Acted
from services.procedures.engine.run_log import RunLog
from services.procedures.engine.waits import Waits
from services.procedures.engine.works import Works
from services.procedures.journal.entries import note, obligation_discharged, release_failed
from services.procedures.plan.actions import Action
from services.procedures.plan.model import Obligation
from services.procedures.plan.run_model import OpenObligation

RELEASE_TRIES, RELEASE_PAUSE_S = 5, 2.0


def perform(parts: Parts, log: RunLog, step_id: str, act_id: str, host: str, action: Action, limit_s: float) -> Acted:
    """Perform an act of an undo or a release; what holds it up is told while it blocks."""
    kept = log.past.kept
    return performed(
        parts, log, step_id, host, action, lambda: parts.actor.perform(act_id, host, action, kept, limit_s=limit_s)
    )


class Releasing:
    """Releases the obligations of one run. One thread."""

    def __init__(self, parts: Parts, log: RunLog, waits: Waits, works: Works) -> None:
        self._parts = parts
        self._log = log
        self._waits = waits
        self._works = works

    def release_all(self, step_id: str = "") -> tuple[OpenObligation, ...]:
        """Release what is open, the newest first, safeguards last; return what could not be released."""
        newest = tuple(reversed(self._log.view.obligations))
        for one in sorted(newest, key=lambda o: o.obligation.safeguard):
            self.release(one.obligation.key, step_id)
        return self._log.view.obligations

    def release(self, key: str, step_id: str = "", *, at_work: bool = False) -> bool:
        """Release one obligation, five tries; return whether it is proven to be off.

        A safeguard stays while anything that it guards is on, or is not proven to be off. Nothing is let go on a host
        where long work of the run may still be at it.

        Args:
            at_work: the run goes forward: its work on the host is meant to go on.
        """
        found = next((o for o in self._log.view.obligations if o.obligation.key == key), None)
        if found is None:
            return True
        obligation, why = found.obligation, ""
        guarded = self.guarded(obligation)
        if guarded:
            on = ", ".join(o.obligation.sentence for o in guarded)
            self._log.write(release_failed(step_id, key, f"{obligation.sentence}: it stays on while this is on: {on}."))
            return False
        if not at_work and (still := self._works.end(obligation.host)):
            self._log.write(release_failed(step_id, key, f"{obligation.sentence}: it was not released. {still}"))
            return False
        for number in range(RELEASE_TRIES):
            if number and self._parts.clock.sleep(RELEASE_PAUSE_S):
                break
            if self.off(step_id, key, found):
                return True
            if why := self._must_stay(obligation):
                break
            why = self._let_go(step_id, obligation)
            if not why and self.off(step_id, key, found):
                return True
            why = why or "; ".join(a.evidence for a in self._waits.answers(obligation.release_proof) if not a.holds)
        self._log.write(release_failed(step_id, key, f"{obligation.sentence}: it could not be released. {why}"))
        return False

    def _let_go(self, step_id: str, obligation: Obligation) -> str:
        """Perform a release; return why it did not go through, '' where it did."""
        self._log.write(note("release", f"{obligation.sentence}: it is being released.", step_id))
        try:
            act_id, limit_s = f"release:{obligation.key}", obligation.limit_s
            perform(self._parts, self._log, step_id, act_id, obligation.host, obligation.release, limit_s)
        except UserError as problem:
            if lines := printed(problem):
                self._log.write(note("release-output", "\n".join(lines), step_id))
            return str(problem)
        return ""

    def _must_stay(self, obligation: Obligation) -> str:
        """Return why it must stay on: clients are not let back to a node that is split off the others.

        Nor is a start let go where it is not known that all members agree on how a transfer goes (`release_once`).
        """
        wanted, once = obligation.release_when, obligation.release_once
        apart = [a.evidence for a in self._waits.answers(wanted) if a.holds is False] if wanted else []
        apart += [a.evidence for a in self._waits.answers(once) if not a.holds] if once else []
        return "; ".join(apart)

    def guarded(self, safeguard: Obligation) -> tuple[OpenObligation, ...]:
        """Return what is on that a safeguard is there for: everything else of this run on its host, newest first."""
        if not safeguard.safeguard:
            return ()
        others = (o for o in reversed(self._log.view.obligations) if o.obligation.host == safeguard.host)
        return tuple(o for o in others if not o.obligation.safeguard)

    def off(self, step_id: str, key: str, found: OpenObligation) -> bool:
        answers = self._waits.answers(found.obligation.release_proof)
        if not answers or not all(a.holds for a in answers):
            return False
        self._log.write(obligation_discharged(step_id, key, "; ".join(a.evidence for a in answers)))
        return True

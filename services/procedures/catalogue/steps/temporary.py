"""What a run switches on for a while and has to switch off again: one shape for the obligation and both its steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.procedures.plan.actions import Action
from services.procedures.plan.condition import Condition
from services.procedures.plan.model import Obligation, Step, Undo

NOTHING_BACK = "It ends a temporary change of the run; there is nothing to undo."


@dataclass(frozen=True, slots=True)
class Temporary:
    """One such thing on one host.

    Attributes:
        key, sentence, danger, safeguard: as in model.Obligation.
        release_when, release_once: the same; so long its undo does not begin. Nor does, for the second, the step that
            ends it.
        limit_s: how long one try of its release may take, on a way out that is no undo.
        release, released: the act that ends it, and what proves that: for undo, for the obligation and for the end.
        shown: what the step that ends it in its turn proves, where that is more: a server that has ended lets no client
            in any more either.
    """

    key: str
    host: str
    sentence: str
    danger: str
    release: Action
    released: tuple[Condition, ...]
    safeguard: bool = False
    release_when: tuple[Condition, ...] = ()
    release_once: tuple[Condition, ...] = ()
    limit_s: float = 30.0
    shown: tuple[Condition, ...] = ()

    def on(self, step: Step, taken_back: str, limit_s: float = 60.0) -> Step:
        """Return the step that switches it on, as one that takes the obligation on and can be undone.

        Args:
            taken_back: the undo's title; limit_s: how long the undo's proof may take.
        """
        obligation = Obligation(
            self.key,
            self.host,
            self.sentence,
            self.release,
            self.released,
            self.danger,
            self.safeguard,
            self.release_when,
            self.release_once,
            self.limit_s,
        )
        before = (*self.release_when, *self.release_once)
        undo = Undo(taken_back, self.release, self.released, limit_s, before=before)
        return replace(step, undo=undo, takes=obligation)

    def off(self, step_id: str, title: str, done: str, estimate_s: float) -> Step:
        """Return the step that ends it in its turn. What ends it may be done twice."""
        return Step(
            step_id=step_id,
            host=self.host,
            title=title,
            done=done,
            why=NOTHING_BACK,
            action=self.release,
            before=self.release_once,
            proof=self.shown or self.released,
            repeatable=True,
            discharges=(self.key,),
            estimate_s=estimate_s,
        )

"""The looks of one attempt at one step: a memory of their own, and the engine's own count of every 'for N seconds'."""

from __future__ import annotations

from dataclasses import replace

from services.clock import Clock
from services.procedures.engine.ports import Prover
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory, most_gap_s


class Looks:
    """What one wait, or one look, is made with. Never shared by two steps, two attempts, or two waits of one step.

    The engine does not take a prover's word for time: what must be so for N seconds was observed for N seconds of this
    very wait, on the engine's clock, without a gap in which nobody looked. One look alone never shows it.
    """

    def __init__(self, prover: Prover, clock: Clock) -> None:
        """Begin with nothing remembered."""
        self._prover = prover
        self._clock = clock
        self._memory = Memory()
        self._watched = Memory()

    def answers(self, conditions: tuple[Condition, ...], past: Past) -> tuple[Answer, ...]:
        """Look at each condition once."""
        return tuple(self._answer(condition, past) for condition in conditions)

    def _answer(self, condition: Condition, past: Past) -> Answer:
        wanted = condition.declared().lasts_s
        if wanted <= 0:
            return self._prover.look(condition, past, self._memory)
        watched = self._watched.held_s(condition, self._clock, most_gap_s(wanted))
        answer = self._prover.look(condition, past, self._memory)
        if not answer.holds or watched >= wanted:
            return answer
        evidence = f"{answer.evidence}; observed for {watched:.0f} of {wanted:g} s"
        left = wanted - watched
        return replace(
            answer, holds=False, evidence=evidence, done=watched, total=wanted, unit="s", left_s=left, stays=True
        )

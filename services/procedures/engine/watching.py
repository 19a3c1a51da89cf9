"""Watch rules while a run lasts: looked at every few seconds in every wait, told once each time they break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from services.clock import Clock
from services.procedures.engine.looks import Looks
from services.procedures.engine.ports import Prover
from services.procedures.engine.run_log import RunLog
from services.procedures.journal.entries import breach, mended
from services.procedures.plan.condition import Answer
from services.procedures.plan.model import Breach, WatchRule
from services.procedures.plan.watches import active_rules

MENDED_S = 10.0
"""So long must a broken rule have held again before that is told: what flaps is told as broken."""
ACCEPTED_S = 60.0
"""A breach that a person accepted is told again when it still stands after this."""


class Watching:
    """Looks at the rules that are on while a step runs. One thread."""

    def __init__(self, prover: Prover, clock: Clock, log: RunLog, release: Callable[[str, str], None]) -> None:
        """Begin with nothing broken.

        Args:
            release: discharges an obligation (key, step id) at once.
        """
        self._prover = prover
        self._clock = clock
        self._log = log
        self._release = release
        self._due: dict[str, float] = {}
        self._accepted: dict[str, float] = {}
        self._broken: dict[str, Breached] = {}
        self._holds_since: dict[str, float] = {}
        # A console before this one may have told it, and not have seen it hold again.
        self._stands = {one.code for one in log.view.broken if one.over is None}
        self._looks: dict[str, Looks] = {}
        self._foreseen: dict[str, str] = {}

    def look(self, step_id: str, *, anew: bool = False) -> None:
        """Look at every rule that is due; a rule that broke is journalled and, where it says so, releases at once.

        Args:
            anew: before an act: rules that were looked at a moment ago too.
        """
        now, rules = self._clock.monotonic(), active_rules(self._log.view.plan, step_id)
        # A rule remembers its own looks, and only while it is on.
        self._looks = {r.code: self._looks.get(r.code) or Looks(self._prover, self._clock) for r in rules}
        self._foreseen = {code: told for code, told in self._foreseen.items() if code in self._looks}
        for rule in rules:
            if (not anew and now < self._due.get(rule.code, 0.0)) or self._is_over(rule):
                continue
            self._due[rule.code] = now + rule.every_s
            (answer,) = self._looks[rule.code].answers((rule.condition,), self._log.past)
            self._foreseen[rule.code] = answer.evidence if answer.left_s is not None else ""
            if answer.holds is False:
                self._breaks(rule, answer, step_id)
            elif answer.holds and rule.code in self._stands:
                self._holds(rule, answer, step_id)

    def _breaks(self, rule: WatchRule, answer: Answer, step_id: str) -> None:
        """Tell it once each time: where it had held again, and where a person accepted it a while ago."""
        self._holds_since.pop(rule.code, None)
        told = rule.code in self._stands
        waits_for_a_word = told and rule.code in self._broken
        accepted = told and self._clock.monotonic() < self._accepted.get(rule.code, 0.0)
        if waits_for_a_word or accepted:
            return
        self._stands.add(rule.code)
        self._broken[rule.code] = Breached(rule, answer)
        self._log.write(breach(rule.code, rule.sentence, answer.evidence, rule.breach, step_id))
        if rule.breach is Breach.RELEASE and rule.releases:
            self._release(rule.releases, step_id)

    def _holds(self, rule: WatchRule, answer: Answer, step_id: str) -> None:
        """Tell that it holds again, so that its next breach is told too; a person's word is waited for all the same."""
        now = self._clock.monotonic()
        if now < self._holds_since.setdefault(rule.code, now) + MENDED_S:
            return
        self._stands.discard(rule.code)
        del self._holds_since[rule.code]
        if rule.code in self._broken:
            self._broken[rule.code] = replace(self._broken[rule.code], holds=answer)
        self._log.write(mended(rule.code, answer.evidence, step_id))

    def foreseen(self) -> tuple[str, ...]:
        """Return what the newest looks of the rules that are on foretell: an answer with a time that is left."""
        return tuple(told for told in self._foreseen.values() if told)

    def _is_over(self, rule: WatchRule) -> bool:
        """Return whether the run has released what the rule tells the loss of: then it is off by us."""
        on = {one.obligation.key for one in self._log.view.obligations}
        return rule.breach is Breach.PAUSE and bool(rule.releases) and rule.releases not in on

    def broken(self) -> Breached | None:
        """Return a rule that broke and was not answered for yet."""
        return next(iter(self._broken.values()), None)

    def sentence_of(self, told: Breached) -> str:
        """Return what is true now of a breach that is not answered for yet."""
        return self._broken.get(told.rule.code, told).sentence

    def accepted(self, code: str) -> None:
        """Forget a breach that the person accepted; it is told again when it still stands after a while."""
        self._broken.pop(code, None)
        self._accepted[code] = self._clock.monotonic() + ACCEPTED_S


@dataclass(frozen=True, slots=True)
class Breached:
    """A rule that broke, what was read, and what was read when it held again (None: it has not)."""

    rule: WatchRule
    answer: Answer
    holds: Answer | None = None

    @property
    def sentence(self) -> str:
        """Return what is true of it."""
        words = f"{self.rule.sentence} ({self.answer.evidence})"
        return words if self.holds is None else f"Violated before: {words} It holds again now ({self.holds.evidence})."

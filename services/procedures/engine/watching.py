"""Watch rules while a run lasts: looked at every few seconds in every wait, told once each time they break."""

from __future__ import annotations

from collections.abc import Callable

from services.clock import Clock
from services.procedures.engine.looks import Looks
from services.procedures.engine.ports import Prover
from services.procedures.engine.run_log import RunLog
from services.procedures.journal.entries import breach
from services.procedures.plan.condition import Answer
from services.procedures.plan.model import Breach, Plan, WatchRule


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
        self._broken: dict[str, tuple[WatchRule, Answer]] = {}
        self._looks: dict[str, Looks] = {}
        self._foreseen: dict[str, str] = {}

    def look(self, step_id: str, *, anew: bool = False) -> None:
        """Look at every rule that is due; a rule that broke is journalled and, where it says so, releases at once.

        Args:
            anew: before an act: rules that were looked at a moment ago too, but those that a person accepted lately.
        """
        now, rules = self._clock.monotonic(), active_rules(self._log.view.plan, step_id)
        # A rule remembers its own looks, and only while it is on.
        self._looks = {r.code: self._looks.get(r.code) or Looks(self._prover, self._clock) for r in rules}
        self._foreseen = {code: told for code, told in self._foreseen.items() if code in self._looks}
        for rule in rules:
            due = self._accepted if anew else self._due
            if now < due.get(rule.code, 0.0) or self._is_over(rule):
                continue
            self._due[rule.code] = now + rule.every_s
            (answer,) = self._looks[rule.code].answers((rule.condition,), self._log.past)
            self._foreseen[rule.code] = answer.evidence if answer.left_s is not None else ""
            if answer.holds is not False:
                continue
            if rule.code not in self._broken:
                self._broken[rule.code] = (rule, answer)
                self._log.write(breach(rule.code, rule.sentence, answer.evidence, rule.breach, step_id))
                if rule.breach is Breach.RELEASE and rule.releases:
                    self._release(rule.releases, step_id)

    def foreseen(self) -> tuple[str, ...]:
        """Return what the newest looks of the rules that are on foretell: an answer with a time that is left."""
        return tuple(told for told in self._foreseen.values() if told)

    def _is_over(self, rule: WatchRule) -> bool:
        """Return whether the run has released what the rule tells the loss of: then it is off by us."""
        on = {one.obligation.key for one in self._log.view.obligations}
        return rule.breach is Breach.PAUSE and bool(rule.releases) and rule.releases not in on

    def broken(self) -> tuple[WatchRule, Answer] | None:
        """Return a rule that broke and was not answered for yet."""
        return next(iter(self._broken.values()), None)

    def accepted(self, code: str) -> None:
        """Forget a breach that the person accepted; it is told again when it still stands after a while."""
        self._broken.pop(code, None)
        self._due[code] = self._accepted[code] = self._clock.monotonic() + 60.0


def active_rules(plan: Plan, step_id: str) -> tuple[WatchRule, ...]:
    """Return the rules that are on while this step runs ('' bounds are the plan's ends)."""
    order = {step.step_id: place for place, step in enumerate(plan.steps)}
    here = order.get(step_id, -1)
    found = []
    for rule in plan.watches:
        first = order.get(rule.from_step, 0)
        last = order.get(rule.to_step, len(order))
        if first <= here <= last:
            found.append(rule)
    return tuple(found)

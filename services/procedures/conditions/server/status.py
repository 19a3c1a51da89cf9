"""A status value of a server compares so with another."""

from __future__ import annotations

from services.facts.server.values import compared
from services.procedures.looking.dead import told_dead
from services.procedures.plan.condition import NOBODY, Answer, Comparison, Declared, OfHost, condition, names
from services.procedures.plan.looks import Asking
from services.procedures.plan.remembering import most_gap_s


@condition("server.status", "a status value of {host}")
class StatusIs(OfHost):
    """A status variable compares so with a value, `for_s` seconds without a break. Kept under `keep`."""

    status: str
    comparison: Comparison
    value: str
    for_s: float = 0.0
    keep: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        committed = frozenset({self.host}) if self.status == "wsrep_last_committed" else NOBODY
        return Declared(frozenset({self.host}), keeps=names(self.keep), lasts_s=self.for_s, holds_position_of=committed)

    @told_dead
    def look(self, asking: Asking) -> Answer:
        """Look at one status value; with `for_s` it must have held at every look for so long."""
        value = asking.status(self.host).get(self.status)
        if value is None:
            return Answer(holds=None, evidence=f"{self.host} reports no {self.status}")
        evidence = f"{self.status} is {value} on {self.host}"
        holds = compared(value, self.comparison, self.value)
        if not holds or self.for_s <= 0:
            asking.memory.broke(self)
            return Answer(holds, evidence, kept=((self.keep, value),) if self.keep else ())
        held = asking.memory.held_s(self, asking.clock, most_gap_s(self.for_s))
        return Answer(
            held >= self.for_s,
            f"{evidence} for {held:.0f} of {self.for_s:g} s",
            done=min(held, self.for_s),
            total=self.for_s,
            unit="s",
            left_s=max(0.0, self.for_s - held),
            stays=True,
        )

"""How long an SST took by the joiner's log, beside what was forecast."""

from __future__ import annotations

from services.procedures.looking.log import read_log_since
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import AT_THE_END, Asking
from services.procedures.plan.parts.machine.unit import Unit

_SLACK_S = 2.0
GOOD = 0.3
"""A forecast counts as met within 30 % (page sst-tuning, plan 4)."""


@condition("galera.sst-took", "the duration of the SST to {host} in its log")
class SstTook(OfHost):
    """The joiner's log since a step began tells an SST from its request to its joined state; told with the error.

    It holds however large the error is: what is asked for is that it is known. Kept as a sentence of the run's end.

    Attributes:
        since_step: step id whose beginning bounds the log; forecast_s: seconds that were forecast for just that.
        choice: what was chosen, for the sentence.
    """

    since_step: str
    forecast_s: float
    choice: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), since_steps=(self.since_step,), keeps=frozenset({self._name}))

    @property
    def _name(self) -> str:
        return f"{AT_THE_END}the forecast of the SST to {self.host}"

    def look(self, asking: Asking) -> Answer:
        """Read the joiner's own log since the step began."""
        began = asking.past.began.get(self.since_step)
        if began is None:
            return Answer(holds=None, evidence=f"the step {self.since_step} has not begun in this run")
        seen = asking.facts.host(self.host) if asking.facts is not None else None
        unit = (seen[Unit].name if seen is not None else "") or "mariadb.service"
        log = read_log_since(asking, self.host, unit, began - _SLACK_S)
        if log is None:
            return Answer(holds=None, evidence=f"the log of {self.host} could not be read")
        name = asking.variable(self.host, "wsrep_node_name") or (seen.node_name if seen is not None else "")
        found = [t for t in log.newest_start().transfers(began - _SLACK_S) if t.joiner_name == name]
        if not found:
            return Answer(holds=False, evidence=f"the log of {self.host} shows no transfer to it yet")
        last = found[-1]
        if last.failed or last.kind != "SST" or last.since is None or last.ended is None:
            state = "failed" if last.failed else "has not ended" if last.ended is None else "was no SST"
            return Answer(holds=False, evidence=f"the transfer to {self.host} {state}")
        said = self.sentence(last.ended - last.since)
        return Answer(holds=True, evidence=said, kept=((self._name, f"{said}."),))

    def sentence(self, took_s: float) -> str:
        """Return what is told of a duration: 'The SST took 34 s, 31 s were forecast (...): 10 % more'."""
        error = (took_s - self.forecast_s) / self.forecast_s
        more = f"{abs(error) * 100:.0f} % {'more' if error >= 0 else 'less'}"
        judged = "within" if abs(error) <= GOOD else "outside"
        took = f"The SST to {self.host} took {took_s:.0f} s"
        return (
            f"{took}, {self.forecast_s:.0f} s were forecast ({self.choice}): {more}, "
            f"{judged} the {GOOD * 100:.0f} % that expected of a forecast"
        )

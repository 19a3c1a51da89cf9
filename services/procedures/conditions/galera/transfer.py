"""Which transfer brought a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from services.facts.join_words import needed_none, of_transfers
from services.facts.log_part import Log
from services.facts.model import TransferFacts
from services.procedures.looking.log import read_log, read_log_since
from services.procedures.plan.condition import Answer, Declared, OfHost
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World

_SLACK_S = 2.0
"""Clocks are compared over SSH, good to a fraction of the round trip; a start writes nothing in its first instant."""


@dataclass(frozen=True, slots=True)
class TransferWas(OfHost):
    """The joiner's log since this step's run began its start says which transfer brought it, and from whom.

    Attributes:
        kind: 'IST', 'SST' or 'any'; donor: wsrep_node_name, '' for any.
        since_step: step id whose beginning bounds the log.
        accepted: name of a value; where the run kept it a person accepted any transfer from anybody.
    """

    tag: ClassVar[str] = "galera.transfer"
    words: ClassVar[str] = "the transfer to {host} in its log"

    kind: Literal["IST", "SST", "any"]
    donor: str
    since_step: str
    accepted: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), since_steps=(self.since_step,))

    def look(self, asking: Asking, past: Past) -> Answer:
        """Read the joiner's own log since the step began: IST and SST lines, never 'SST succeeded' (said for both).

        Where clients' words were left out of it, a transfer's own lines may be among them: then it is not known.
        """
        began = past.began.get(self.since_step)
        if began is None:
            return Answer(holds=None, evidence=f"the step {self.since_step} has not begun in this run")
        host = self.host
        seen = asking.facts.host(host) if asking.facts is not None else None
        unit = (seen[Unit].name if seen is not None else "") or "mariadb.service"
        log = read_log_since(asking, host, unit, began - _SLACK_S)
        if log is None:
            return Answer(holds=None, evidence=f"the log of {host} could not be read")
        name = asking.variable(host, "wsrep_node_name") or (seen.node_name if seen is not None else "")
        # A transfer of the start before this one looks newer where the host's clock was set back meanwhile.
        own = [t for t in log.newest_start().transfers(began - _SLACK_S) if t.joiner_name == name]
        newest = None if own else _newest_start(asking, host)
        if newest is not None:
            log, began = newest, 0.0
            own = [t for t in log.transfers(began) if t.joiner_name == name]
        said = of_transfers(log.since(began - _SLACK_S), 10)
        if not own:
            return _without_transfer(self, log, began, said)
        last = own[-1]
        hidden = log.left_out(request=last.ended is not None and not last.failed and bool(last.kind))
        evidence = f"{host} came by {last.kind or 'a transfer of unknown kind'} from {last.donor_name}"
        if last.first_seqno is not None and last.kind == "IST":
            evidence += f", write sets {last.first_seqno} to {last.last_seqno}"
        if last.failed:
            return Answer(holds=False, evidence=f"{evidence}, and it failed", lines=said)
        if hidden:
            return _hidden(host, said)
        if last.ended is None:
            return Answer(holds=False, evidence=f"{evidence}; it has not ended", lines=said)
        return _came_by(self, last, past, evidence, said)

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        host = world.hosts[self.host]
        return self.told(host.primary and self.kind in {"any", host.came_by} and self.donor in {"", host.came_from})


def _came_by(condition: TransferWas, last: TransferFacts, past: Past, evidence: str, said: tuple[str, ...]) -> Answer:
    """Hold a transfer that has ended against what was asked for."""
    if not last.kind and condition.kind != "any":
        return Answer(holds=None, evidence=evidence, lines=said)
    if condition.accepted and condition.accepted in past.kept:
        return Answer(holds=True, evidence=f"{evidence}; you accepted that", lines=said)
    kind_ok = condition.kind in {"any", last.kind}
    donor_ok = condition.donor in {"", last.donor_name}
    # An SST that is over stays an SST: waiting would not change it.
    return Answer(kind_ok and donor_ok, evidence, final=not (kind_ok and donor_ok), lines=said)


def _newest_start(asking: Asking, host: str) -> Log | None:
    """Return the log since the server's newest start, whatever any clock says of the time; None where none is told.

    The node is up: what came since then brought it here. A workstation's clock that was put back in the middle of the
    run moves every line of the log to before the step.
    """
    seen = asking.facts.host(host) if asking.facts is not None else None
    log = read_log(asking, host, (seen[Unit].name if seen is not None else "") or "mariadb.service")
    start = log.newest_start() if log is not None else None
    return None if start is log else start


def _hidden(host: str, said: tuple[str, ...]) -> Answer:
    evidence = f"clients' statements stand in the log of {host} where its transfer is told: how it came is not known"
    return Answer(holds=None, evidence=evidence, lines=said)


def _without_transfer(condition: TransferWas, log: Log, began: float, said: tuple[str, ...]) -> Answer:
    needless = needed_none(log.since(began - _SLACK_S))
    if needless and condition.kind != "SST" and not log.left_out(request=True):
        evidence = f"{condition.host} needed no transfer: it had missed nothing"
        return Answer(condition.donor == "" or condition.kind == "any", evidence, lines=said)
    if not log.reaches(began - _SLACK_S):
        evidence = f"the log of {condition.host} does not reach back to this start: how it came is not known"
        return Answer(holds=None, evidence=evidence, lines=said)
    if log.left_out():
        return _hidden(condition.host, said)
    return Answer(holds=False, evidence=f"the log of {condition.host} tells of no transfer to it yet", lines=said)

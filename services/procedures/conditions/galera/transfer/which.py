"""Which transfer brought a node."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from services.facts.logs.part import Log
from services.facts.model import TransferFacts
from services.facts.transfer.join_words import needed_none, of_transfers
from services.procedures.looking.log import read_log, read_log_since
from services.procedures.looking.witnesses import is_synced, witnessed
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.parts.machine.unit import Unit

_SLACK_S = 2.0
"""Clocks are compared over SSH, good to a fraction of the round trip; a start writes nothing in its first instant."""


@condition("galera.transfer", "the transfer to {host} in its log")
class TransferWas(OfHost):
    """The joiner's log since this step's run began its start says which transfer brought it, and from whom.

    Attributes:
        kind: 'IST', 'SST' or 'any'; donor: wsrep_node_name, '' for any.
        since_step: step id whose beginning bounds the log.
        accepted: name of a value; where the run kept it a person accepted any transfer from anybody.
    """

    kind: Literal["IST", "SST", "any"]
    donor: str
    since_step: str
    accepted: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), since_steps=(self.since_step,))

    def look(self, asking: Asking) -> Answer:
        """Read the joiner's own log since the step began: IST and SST lines, never 'SST succeeded' (said for both).

        Its own lines alone make the proof; a client's, and what may be one's, make none and void none. Where its own
        lines may be among them, witnesses are asked that no client writes for.
        """
        began = asking.past.began.get(self.since_step)
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
        last = own[-1] if own else None
        if last is not None and last.failed:
            return Answer(holds=False, evidence=f"{_told(host, last)}, and it failed", lines=said)
        start = log.newest_start()
        ended = last is not None and last.ended is not None and bool(last.kind)
        needless = last is None and self.kind != "SST" and _needless(start)
        unsure = start.left_out() or (last is None and not log.reaches(began - _SLACK_S))
        if start.start_hidden() or (unsure and not ended and not needless):
            return self._by_witnesses(asking, last, name, log, began - _SLACK_S)
        if needless:
            evidence = f"{host} needed no transfer: it had missed nothing"
            return Answer(self.donor == "" or self.kind == "any", evidence, lines=said)
        if last is None:
            return Answer(holds=False, evidence=f"the log of {host} shows no transfer to it yet", lines=said)
        if last.ended is None:
            return Answer(holds=False, evidence=f"{_told(host, last)}; it has not ended", lines=said)
        return _came_by(self, last, asking.past, _told(host, last), said)

    def _by_witnesses(self, asking: Asking, last: TransferFacts | None, name: str, log: Log, since: float) -> Answer:
        """Judge by what no client writes; `last`: what the joiner's own lines say, None where they say nothing."""
        host, said = self.host, of_transfers(log.since(since), 10)
        why = f"text from clients hides the transfer in the log of {host}"
        if not log.left_out() and not log.reaches(since):
            why = f"the log of {host} does not go back to this start"
        synced = is_synced(asking, host)
        if synced and self.kind == "any" and not self.donor:
            return Answer(holds=True, evidence=f"{host} is Synced, by IST or by SST: {why}", lines=said)
        found = witnessed(asking, host, name, since) if synced else None
        donor = (found.donor if found is not None else "") or (last.donor_name if last is not None else "")
        if found is None or (self.donor and not donor):
            evidence = f"{why}, and no other source shows more: how it joined is not known"
            return Answer(holds=None, evidence=evidence, lines=said)
        came = replace(last or TransferFacts(joiner_name=name), kind=found.kind, donor_name=donor)
        return _came_by(self, came, asking.past, f"{host} came by {found.kind}: {found.told}", said)


def _came_by(condition: TransferWas, last: TransferFacts, past: Past, evidence: str, said: tuple[str, ...]) -> Answer:
    """Hold a transfer that has ended against what was asked for."""
    if not last.kind and condition.kind != "any":
        return Answer(holds=None, evidence=evidence, lines=said)
    if condition.accepted and condition.accepted in past.kept:
        return Answer(holds=True, evidence=f"{evidence}; you accepted this", lines=said)
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


def _told(host: str, last: TransferFacts) -> str:
    evidence = f"{host} came by {last.kind or 'a transfer of unknown kind'} from {last.donor_name}"
    spans = last.first_seqno is not None and last.kind == "IST"
    return f"{evidence}, write sets {last.first_seqno} to {last.last_seqno}" if spans else evidence


def _needless(start: Log) -> bool:
    """Return whether the node needed no transfer by its own lines; where words were left out, nobody's tell of one."""
    return needed_none(start.since(0.0)) and not (start.left_out() and start.tells_request())

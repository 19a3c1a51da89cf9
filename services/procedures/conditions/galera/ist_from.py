"""The IST that brought a node began right behind the position that its data had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.facts.join_words import needed_none, of_transfers
from services.procedures.looking.asked import number_of
from services.procedures.looking.log import read_log_since
from services.procedures.plan.condition import Answer, Declared, Number, OfHost
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World

_SLACK_S = 2.0
"""See transfer.py: clocks are compared over SSH."""


@dataclass(frozen=True, slots=True)
class IstFrom(OfHost):
    """The joiner's log since `since_step` tells an IST whose first seqno is `behind` + 1; none where it missed nothing.

    A later first seqno is a hole in the data, an earlier one are write sets that it has already.
    """

    tag: ClassVar[str] = "galera.ist-from"
    words: ClassVar[str] = "the IST to {host} to begin right behind its data"

    behind: Number
    since_step: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), since_steps=(self.since_step,))

    def look(self, asking: Asking, past: Past) -> Answer:
        """Read the joiner's log since its start."""
        host, began, behind = self.host, past.began.get(self.since_step), number_of(self.behind, past)
        if began is None or behind is None:
            return Answer(holds=None, evidence=f"where {host} stood, or when it was started, is not known to this run")
        seen = asking.facts.host(host) if asking.facts is not None else None
        unit = (seen[Unit].name if seen is not None else "") or "mariadb.service"
        log = read_log_since(asking, host, unit, began - _SLACK_S)
        if log is None:
            return Answer(holds=None, evidence=f"the log of {host} could not be read")
        newest = log.newest_start()
        said = of_transfers(newest.since(began - _SLACK_S), 10)
        firsts = [one.first_seqno for one in newest.transfers(began - _SLACK_S) if one.first_seqno is not None]
        if not firsts:
            if needed_none(newest.since(began - _SLACK_S)) and not newest.left_out(request=True):
                return Answer(holds=True, evidence=f"{host} had missed nothing after {behind}", lines=said)
            return Answer(holds=None, evidence=f"the log of {host} tells no first seqno of an IST yet", lines=said)
        told = f"the IST to {host} began at {firsts[-1]}, its data stood at {behind}"
        return Answer(firsts[-1] == behind + 1, told, final=firsts[-1] != behind + 1, lines=said)

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del memory
        host = world.hosts[self.host]
        return self.told(host.primary and host.came_by == "IST" and number_of(self.behind, past) is not None)

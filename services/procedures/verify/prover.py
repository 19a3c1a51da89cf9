"""Proofs on real hosts: every condition looks for itself, over Observer sessions (ports.Prover)."""

from __future__ import annotations

from dataclasses import replace

from services.clock import Clock
from services.errors import UserError
from services.procedures.engine.ports import Hosts
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory
from services.procedures.verify.roads import Roads
from services.visible import visible


class RealProver:
    """See ports.Prover. One thread at a time; looks at several hosts of one condition are made at once, and joined."""

    def __init__(self, hosts: Hosts, clock: Clock, facts: Facts | None = None) -> None:
        """Remember the roads.

        Args:
            facts: what the plan was made from: data folders, units and the size of a donor's data; may be set later.
        """
        self._roads = Roads(hosts, clock, facts)

    @property
    def facts(self) -> Facts | None:
        """Return the facts that estimates are made from."""
        return self._roads.facts

    @facts.setter
    def facts(self, facts: Facts | None) -> None:
        self._roads.facts = facts

    def look(self, condition: Condition, past: Past, memory: Memory | None = None) -> Answer:
        """Return what one look found; what could not be read is an answer too. Without a memory it is a look alone."""
        try:
            found = condition.look(replace(self._roads, past=past, memory=memory or Memory()))
            return replace(found, evidence=visible(found.evidence), lines=tuple(map(visible, found.lines)))
        except UserError as error:
            return Answer(holds=None, evidence=str(error))

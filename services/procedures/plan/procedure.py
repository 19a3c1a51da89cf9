"""What the catalogue gives for each procedure: questions, checks and the plan, all pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan
from services.procedures.plan.part import Part
from services.types import ClusterKind


@dataclass(frozen=True, slots=True)
class About:
    """A procedure's card.

    Attributes:
        name: catalogue name and command line word; title: what the person wants ('Take a node down without SST').
        need: the group of the card: 'A node must go down', 'A node is gone', 'All nodes are down', 'The cluster grows'.
        what, takes, can_break: one sentence each: what it does, how long it takes, what it can break.
        node_field: the input that a right-click on a node fills, '' for none.
        later_checks: codes that only a continued plan's checks have; they may be overridden beforehand.
        kinds: codes of the kinds of cluster that it is for; elsewhere: what is said beside any other ({name}).
        place: among the cards, the smallest first; by name where two are the same.
        needs: the parts of each host's facts that its questions, checks and plans look at; only those are read.
        for_states: node or cluster situation where it is offered first: 'synced', 'member' (of a group that has no such
            state), 'down', 'no-primary', 'spare', 'any'.
    """

    name: str
    title: str
    need: str
    what: str
    takes: str
    can_break: str
    node_field: str = ""
    for_states: tuple[str, ...] = ("any",)
    later_checks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    elsewhere: str = ""
    place: int = 1000
    needs: frozenset[type[Part]] = frozenset()

    def fits(self, kind: ClusterKind) -> bool:
        """Return whether it is for clusters of this kind."""
        return kind.code in self.kinds


class Procedure(Protocol):
    """One procedure. Every method is pure: same facts and inputs, same answer; none reads a clock or a host."""

    @property
    def about(self) -> About:
        """Return the card."""

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions with defaults out of the facts; later defaults may depend on earlier `inputs`."""

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs, () when a plan can be made."""

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist, every check in it, passed ones too."""

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan (without steps when nothing is to do). Only called when `faults` is empty."""

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return checks and the whole plan (so_far's steps first, unchanged) after a Continue step; facts hold `kept`.

        Procedures without a Continue step return ((), so_far).
        """

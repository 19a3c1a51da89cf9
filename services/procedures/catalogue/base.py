"""What every procedure answers in the same way; a procedure overrides what it answers otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod

from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import field_faults, filled
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan
from services.procedures.plan.procedure import About


class Base(ABC):
    """A procedure (`plan.procedure.Procedure`) that asks its questions and has no Continue step.

    Attributes:
        about: its card.
    """

    about: About

    @abstractmethod
    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the questions."""

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the inputs by the kinds of their questions."""
        return field_faults(self.fields(facts, inputs), inputs)

    def values(self, facts: Facts, inputs: Inputs) -> Inputs:
        """Return the inputs with the defaults of the questions that nobody answered."""
        return filled(self.fields(facts, inputs), inputs)

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the plan as it is."""
        del facts, inputs
        return (), so_far

"""A toy procedure: hoist a flag on one node after the other."""

from __future__ import annotations

from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.actions import PutFile, RestoreFile
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan, Step, Undo
from services.procedures.plan.procedure import About
from tests.unit.procedures.toys.conditions.toy.flag import PATH, FlagFlies

ABOUT = About("hoist-flag", "Hoist a flag", "A toy", "Writes a file.", "A second.", "Nothing.")


class HoistFlag:
    """See plan.procedure.Procedure."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Return the question."""
        del facts, inputs
        return (Field("colour", "Colour", "text", "red"),)

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Return what is wrong with the colour."""
        del facts
        return () if inputs["colour"].isalpha() else (Fault("colour", "A colour is one word."),)

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Return the checklist."""
        del inputs
        there = f"{len(member_hosts(facts))} members answer"
        return (Check("TOY-MEMBERS", "Members answer", Verdict.PASS, there, "A flag needs a mast."),)

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan."""
        members, colour = member_hosts(facts), inputs["colour"]
        steps = tuple(_hoisted(host, colour) for host in members)
        about = (ABOUT.name, "Hoist a flag", "Every member shows its flag.", facts.cluster_id, facts.cluster_name)
        return Plan(*about, hosts=members, quorums=(members,), inputs=(("colour", colour),), steps=steps)

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the plan as it is."""
        del facts, inputs
        return (), so_far


def _hoisted(host: str, colour: str) -> Step:
    flies = (FlagFlies(host, colour),)
    return Step(
        f"hoist-{host}",
        host,
        f"Hoist the flag of {host}",
        PutFile(PATH, (f"flag = {colour}\n",)),
        done=f"The flag of {host} flies",
        already=flies,
        proof=(FlagFlies(host, colour, keep=f"flag-{host}"),),
        undo=Undo(f"Lower the flag of {host}", RestoreFile(PATH), (FlagFlies(host, ""),)),
        repeatable=True,
    )


PROCEDURE = HoistFlag()

"""A toy procedure that addresses servers, of which a host may carry several: a note on each host, a setting on each."""

from __future__ import annotations

from services.connections.sql.statement import set_global
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import PutFile, RestoreFile, Sql
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.instances import standing_on
from services.procedures.plan.model import Plan, Step, Undo
from services.procedures.plan.procedure import About
from tests.unit.procedures.toys.conditions.toy.flag import PATH, FlagFlies

ABOUT = About("raise-ceiling", "Raise the ceiling", "A toy", "Sets a variable.", "A second.", "Nothing.")
BEFORE, AFTER = "151", "400"


class RaiseCeiling:
    """See plan.procedure.Procedure."""

    about = ABOUT

    def fields(self, facts: Facts, inputs: Inputs) -> tuple[Field, ...]:
        """Ask nothing."""
        del facts, inputs
        return ()

    def faults(self, facts: Facts, inputs: Inputs) -> tuple[Fault, ...]:
        """Find nothing wrong."""
        del facts, inputs
        return ()

    def preflight(self, facts: Facts, inputs: Inputs) -> tuple[Check, ...]:
        """Check nothing."""
        del facts, inputs
        return ()

    def plan(self, facts: Facts, inputs: Inputs) -> Plan:
        """Return the plan: each server after the other, since each is one of a quorum."""
        del inputs
        keys = facts.members
        on = standing_on(facts, keys)
        first = {dict(on).get(key, key): key for key in reversed(keys)}
        notes = tuple(_noted(key) for key in keys if key in first.values())
        about = (ABOUT.name, "Raise the ceiling", "Every server takes more.", facts.cluster_id, facts.cluster_name)
        steps = (*notes, *(_raised(key) for key in keys))
        return Plan(*about, hosts=keys, quorums=(keys,), inputs=(), steps=steps, on=on)

    def continued(self, facts: Facts, inputs: Inputs, so_far: Plan) -> tuple[tuple[Check, ...], Plan]:
        """Return the plan as it is."""
        del facts, inputs
        return (), so_far


def _noted(key: str) -> Step:
    return Step(
        f"note-{key}",
        key,
        f"Hoist a flag where {key} stands",
        PutFile(PATH, ("flag = red\n",)),
        proof=(FlagFlies(key, "red"),),
        undo=Undo("Lower it", RestoreFile(PATH), (FlagFlies(key, ""),)),
        repeatable=True,
    )


def _raised(key: str) -> Step:
    return Step(
        f"raise-{key}",
        key,
        f"Raise the ceiling of {key}",
        Sql(set_global("max_connections", int(AFTER))),
        proof=(VariableIs(key, "max_connections", AFTER),),
        undo=Undo("Lower it", Sql(set_global("max_connections", int(BEFORE))),
                  (VariableIs(key, "max_connections", BEFORE),)),
        repeatable=True,
        moves=key,
        settles=(key,),
    )  # fmt: skip


PROCEDURE = RaiseCeiling()

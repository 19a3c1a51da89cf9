"""Conditions on the scripted cluster: a Prover (engine/ports.py) that asks the double of each."""

from __future__ import annotations

from collections.abc import Collection

from services.procedures.plan.condition import Answer, Condition, OfHost
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory
from tests.faults.scripted import doubles
from tests.faults.scripted.cluster import Cluster
from tests.faults.scripted.double import Look, doubles_of

DOUBLES = doubles_of(doubles)


class ScriptedProver:
    """Asks the double of a condition (double.py); an unreachable host gives None, as a real one does."""

    def __init__(self, cluster: Cluster, unreadable: Collection[Condition] = ()) -> None:
        """Begin; what is `unreadable` can't be told, though every host answers."""
        self.cluster = cluster
        self._unreadable = unreadable

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """See ports.Prover."""
        if condition in self._unreadable:
            return Answer(None, f"{condition.waits_for()}: it could not be read")
        own = _own(condition)
        if own and not self.cluster.hosts[own].answers():
            return Answer(None, f"{own} does not answer")
        enough = sorted(condition.declared().enough_of)
        if enough and all(not self.cluster.hosts[name].answers() for name in enough):
            return Answer(None, f"none of {', '.join(enough)} answers")
        away = [name for name in sorted(_others(condition)) if not self.cluster.hosts[name].answers()]
        if away:
            return Answer(None, f"no answer from {', '.join(away)}")
        return Look(self.cluster, past, memory, DOUBLES).at(condition)


def _own(condition: Condition) -> str:
    """Return the host that has to answer before all others, '' where another one does as well."""
    host = condition.host if isinstance(condition, OfHost) else ""
    return "" if host in condition.declared().enough_of else host


def _others(condition: Condition) -> frozenset[str]:
    """Return the hosts beside its own that have to answer."""
    declared = condition.declared()
    return declared.touches - declared.enough_of - {_own(condition)}

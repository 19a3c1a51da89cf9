"""A condition of a replica set: judged by what each of its members tells, not known while one of them tells nothing."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.conditions.mongodb.told import told_by_all
from services.procedures.plan.condition import Answer, OfHosts
from services.procedures.plan.looks import Asking


@dataclass(frozen=True, slots=True)
class OfSet(OfHosts):
    """A condition of the members of one set."""

    def look(self, asking: Asking) -> Answer:
        """Ask every member."""
        told = told_by_all(asking, self.hosts)
        return told if isinstance(told, Answer) else self.judged(told)

    @abstractmethod
    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """Return the answer out of what each member told."""

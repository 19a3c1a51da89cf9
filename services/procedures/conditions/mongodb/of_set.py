"""A condition of a replica set: judged by what each of its members tells, not known while one of them tells nothing."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from services.errors import UserError
from services.facts.mongodb.replica_set import ReplicaSet
from services.procedures.conditions.mongodb.told import apart, in_no_set, told_by
from services.procedures.plan.condition import Answer, OfHosts
from services.procedures.plan.looks import Asking, Past


@dataclass(frozen=True, slots=True)
class OfSet(OfHosts):
    """A condition of the members of one set."""

    def look(self, asking: Asking, past: Past) -> Answer:
        """Ask every member. One that says it is in no set is an answer: nothing of a set is true of it."""
        del past
        answers = asking.each(self.hosts, lambda host: told_by(asking, host))
        alone = [host for host, one in answers.items() if in_no_set(one)]
        for host, one in answers.items():
            if isinstance(one, UserError) and host not in alone:
                return Answer(holds=None, evidence=f"{host}: {one.sentence}")
        if alone:
            return Answer(holds=False, evidence=f"{', '.join(alone)} is in no replica set")
        views = {host: one for host, one in answers.items() if isinstance(one, ReplicaSet)}
        other = apart(views)
        return Answer(holds=False, evidence=other) if other else self.judged(views)

    @abstractmethod
    def judged(self, views: dict[str, ReplicaSet]) -> Answer:
        """Return the answer out of what each member told."""

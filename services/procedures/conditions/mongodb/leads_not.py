"""The member in hand does not lead its set, or was replaced already and leads again."""

from __future__ import annotations

from services.errors import UserError
from services.procedures.conditions.mongodb.release import RunsRelease
from services.procedures.conditions.mongodb.told import own, told_by
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.leads-not", "{host} not to be primary")
class LeadsNot(OfHost):
    """The server is no primary by its own word, or runs this version: its highest priority took the lead back then.

    One that does not answer leads where another member sees it do so, and leads not where one sees it away.

    Attributes:
        others: members that are asked then; place: how the set calls this one, 'host:port'.
    """

    version: str
    others: tuple[str, ...] = ()
    place: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        every = frozenset({self.host, *self.others})
        return Declared(every, enough_of=every)

    def look(self, asking: Asking) -> Answer:
        """Ask the server, or the others where it does not answer."""
        try:
            state = own(told_by(asking, self.host)).state
        except UserError as problem:
            return self._seen_by_others(asking, problem)
        if state != "PRIMARY":
            return Answer(holds=True, evidence=f"{self.host} is {state or 'in no known state'}")
        runs = RunsRelease(self.host, self.version).look(asking)
        return Answer(runs.holds, f"{self.host} is PRIMARY; {runs.evidence}")

    def _seen_by_others(self, asking: Asking, problem: UserError) -> Answer:
        views = asking.each(self.others, lambda host: told_by(asking, host))
        for host, view in views.items():
            seen = [m for m in view.members if m.place.name == self.place] if not isinstance(view, UserError) else []
            if seen and seen[0].state:
                leads = seen[0].reached is True and seen[0].state == "PRIMARY"
                return Answer(not leads, f"{self.host} is {seen[0].state} as {host} sees it")
        return Answer(holds=None, evidence=problem.sentence)

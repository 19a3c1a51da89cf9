"""Whether a server has a database of a name."""

from __future__ import annotations

from services.connections.reads import mongo as reads
from services.facts.mongodb.values import documents, line
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking

_MOST = 10_000


@condition("mongodb.no-database", "the database not to exist on {host}")
class NoDatabase(OfHost):
    """The server has no database of this name."""

    database: str

    def look(self, asking: Asking) -> Answer:
        """Ask for the names."""
        body = asking.session(self.host).ask(reads.DATABASES, limit_s=LIMIT_S).body
        listed = body.get("databases")
        names = [line(one.get("name")) for one in documents(listed, _MOST)]
        if not isinstance(listed, list) or len(names) != len(listed) or not all(names):
            return Answer(holds=None, evidence=f"{self.host} does not list all its databases")
        there = self.database in names
        return Answer(not there, f"{self.host} has {'a' if there else 'no'} database {self.database}")

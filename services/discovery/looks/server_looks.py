"""What looks at a server of each kind: one entry a kind that is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from services.clock import Clock
from services.connections.ports import ObserverSession
from services.discovery.looks.probe_sql import probe_sql
from services.errors import UserError
from services.facts.model import NodeFacts
from services.inventory.kinds import MONGODB, MYSQL

Look = Callable[[ObserverSession, Clock, NodeFacts, float], NodeFacts | UserError]
"""Is given the facts so far and a limit in seconds; returns the facts after it, or why the server is not reached."""


def _mongodb(session: ObserverSession, clock: Clock, facts: NodeFacts, limit_s: float) -> NodeFacts | UserError:
    # Late: what reads MongoDB (BSON's codec, its wire) is loaded where one of its servers is asked, and nowhere else.
    from services.discovery.looks.probe_mongodb import probe_mongodb

    return probe_mongodb(session, clock, facts, limit_s)


SERVER_LOOKS: Mapping[str, Look] = {MYSQL.code: probe_sql, MONGODB.code: _mongodb}
"""By the code of a kind."""

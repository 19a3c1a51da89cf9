"""One look at a MongoDB server: what it answers becomes facts; whoever gives no greeting gives a reason."""

from __future__ import annotations

from dataclasses import replace

from services.clock import Clock
from services.connections.ports import ObserverSession
from services.errors import UserError
from services.facts.model import SQL, NodeFacts, Problem, ServerFacts
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.reading import MongoAnswer, read_mongodb
from services.facts.server.dialect import version_of
from services.types import Flavour


def probe_mongodb(session: ObserverSession, clock: Clock, facts: NodeFacts, limit_s: float) -> NodeFacts | UserError:
    """Ask everything once; the error of a server that is not reached, or lets nobody in."""
    wall, started = clock.wall(), clock.monotonic()
    try:
        answer = read_mongodb(session, limit_s=limit_s, at=wall)
    except UserError as error:
        return error
    return facts_from_answer(facts, answer, wall + (clock.monotonic() - started) / 2)


def facts_from_answer(
    previous: NodeFacts, answer: MongoAnswer, at: float, *, round_trip_s: float | None = None
) -> NodeFacts:
    """Return the facts after one reading. Pure.

    Args:
        previous: the facts so far; host, address and machine come from it.
        at: UTC epoch seconds of the answer; round_trip_s: of one command.
    """
    kept = tuple(p for p in previous.problems if p.part in {"machine", "log", "clock"})
    return replace(
        previous,
        at=at,
        sql_at=at,
        server=server_of(answer.facts, at),
        mongo=answer.facts,
        round_trip_s=round_trip_s,
        problems=(*kept, *(Problem(SQL, p.sentence, p.code, p.bare) for p in answer.problems)),
    )


def server_of(facts: MongoFacts, at: float) -> ServerFacts:
    """Return what is told of every server; it started by its own word of how long it is up."""
    server = facts.server
    started = at - server.uptime_s if server.uptime_s is not None else None
    return ServerFacts(
        flavour=Flavour.MONGODB,
        version=server.version,
        version_text=server.version,
        version_key=version_of(server.version)[1],
        hostname=server.host.rpartition(":")[0] or server.host,
        port=server.port or (server.own.port if server.own is not None else 0) or 27017,
        uptime_s=None if server.uptime_s is None else float(server.uptime_s),
        started_at=started,
        datadir=server.data_path,
    )

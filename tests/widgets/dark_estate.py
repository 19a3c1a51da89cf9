"""An estate where nothing answers: two clusters of fifteen written hosts, judged by the program's own discovery."""

from __future__ import annotations

from services.discovery.changes import events_between
from services.discovery.model import EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.errors import NothingListens, TimedOut
from services.events import Event
from services.facts.model import SQL, SSH, NodeFacts, Problem
from services.types import Reach
from tests.widgets import builders as b

HOSTS = 15
WRITTEN = {f"{name}-{n:02d}": f"prod-{name}" for name in ("eu", "us") for n in range(1, HOSTS + 1)}
ASKED_FROM = b.AT - 95.0
HEARD = b.AT - 1_260.0


def silent(host: str, *, at: float = b.AT) -> NodeFacts:
    """Return a host that gives no answer: of prod-eu refused connections, of prod-us silence; eu-02 was heard once."""
    eu, address = host.startswith("eu"), f"10.{1 if host.startswith('eu') else 2}.0.{10 + int(host[-2:])}"
    bare = f"No answer from the database on {address} port 3306 within 10 s."
    if eu:
        bare = f"{address} port 3306 refused the connection: the database does not listen there."
    text = f"{host}: The database connection is down; next attempt in 14 s. Last reason: {bare}"
    problem = Problem(SQL, text, (NothingListens if eu else TimedOut).code, bare)
    heard = HEARD if host == "eu-02" else None
    return NodeFacts(host, at, Reach.NONE, address, sql_at=heard, problems=(problem,), no_way=(SSH,))


def dark_estate(at: float = b.AT) -> EstateSnapshot:
    """Return the estate after a minute and a half of tries."""
    first = updated_estate(None, {h: silent(h, at=ASKED_FROM) for h in WRITTEN}, ASKED_FROM, written=WRITTEN)
    return updated_estate(first, {h: silent(h, at=at) for h in WRITTEN}, at, written=WRITTEN)


def dark_events() -> tuple[Event, ...]:
    """Return what the journal tells of it."""
    facts = {h: silent(h, at=ASKED_FROM) for h in WRITTEN}
    return events_between(None, updated_estate(None, facts, ASKED_FROM, written=WRITTEN))

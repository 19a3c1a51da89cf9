"""A replica or a secondary that falls behind: what it has to apply waits for a lock, for a bounded time."""

from __future__ import annotations

from tests.lab.estate.errors import LabError
from tests.lab.estate.host import container
from tests.lab.estate.servers import database, group, replication
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until

LONGEST_S = 600
_MARK = "lab-lag"
_SLEEPERS = "SELECT id FROM information_schema.processlist WHERE info LIKE 'DO SLEEP(%'"


def lag(spec: EstateSpec, name: str, seconds: int) -> None:
    """Lock the probe table on `name` for so many seconds and write a row to it where writes go.

    That row and all that comes after it wait on `name`: it falls behind in earnest, and is not merely told to.
    """
    if spec.host(name).role not in ("replica", "group"):
        raise LabError(f"{name} applies nothing of others, so it can't fall behind")
    if not 0 < seconds <= LONGEST_S:
        raise LabError(f"a lag lasts between 1 and {LONGEST_S} seconds")
    unlag(spec, name)
    writer = _writer(spec, name)
    hold = f"/* {_MARK} */ LOCK TABLES {replication.PROBE} READ; DO SLEEP({seconds})"
    client = spec.host(name).engine.client
    container.sh(spec, name, f"setsid {client} -e '{hold}' </dev/null >/dev/null 2>&1 &", limit_s=15)

    def reason() -> str | None:
        return None if database.sql(spec, name, _SLEEPERS) else "nobody holds the lock yet"

    wait_until(f"the lock on {name}", reason, limit_s=10, every_s=0.1)
    number = f"(SELECT COALESCE(MAX(id), 0) + 1 FROM {replication.PROBE} AS known)"
    database.sql(spec, writer, f"INSERT INTO {replication.PROBE} VALUES ({number}, 'waited for')")


def _writer(spec: EstateSpec, name: str) -> str:
    if spec.host(name).role == "replica":
        return replication.source(spec)
    others = [n for n in group.primaries(spec) if n != name]
    if not others:
        raise LabError(f"{name} is the only primary: it applies nothing of others")
    return others[0]


def unlag(spec: EstateSpec, name: str) -> None:
    """Take the lock away before its time; nothing to do when there is none."""
    for (number,) in database.sql(spec, name, _SLEEPERS, limit_s=10):
        database.sql(spec, name, f"KILL {number}")


def lagged(spec: EstateSpec, name: str) -> bool:
    return container.sh(spec, name, f"pgrep -f '{_MARK[:-1]}[{_MARK[-1]}]'", limit_s=10).ok

"""What can be broken about a member of a group: thrown out by the others, or out by itself with an error."""

from __future__ import annotations

from tests.lab.estate.errors import LabError
from tests.lab.estate.host import network
from tests.lab.estate.servers import database, group, replication
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until


def expel(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> None:
    """Part a member from the others until they have thrown it out, then heal: it learns of it and goes into ERROR.

    It would try to come back by itself three times; that is off until `rejoin` or `undo`.
    """
    _must_be_member(spec, name)
    database.sql(spec, name, "SET GLOBAL group_replication_autorejoin_tries = 0")
    cut = network.isolation(spec)[1]
    network.isolate(spec, (name,), cut)
    other = next(n for n in group.members(spec) if n != name)

    def reason() -> str | None:
        return f"{other} still lists {name}" if name in group.view(spec, other) else None

    try:
        wait_until(f"{name} to be expelled", reason, limit_s=limit_s)
    finally:
        network.isolate(spec, (), cut)
    group.wait_state(spec, name, "ERROR", limit_s=limit_s)


def error(spec: EstateSpec, name: str, *, limit_s: float = 30.0) -> None:
    """Put a row on a secondary that a primary then inserts too: its applier fails, and it leaves the group in ERROR.

    Its own write is kept out of its binary log: an errant row, not an errant GTID.
    """
    _must_be_member(spec, name)
    others = [n for n in group.primaries(spec) if n != name]
    if not others:
        raise LabError(f"{name} is the only primary: its own rows can't conflict")
    group.catch_up(spec, limit_s=limit_s)
    number = int(database.sql(spec, name, f"SELECT COALESCE(MAX(id), 0) + 1 FROM {replication.PROBE}")[0][0])
    insert = f"INSERT INTO {replication.PROBE} VALUES ({number}, "
    errant = f"SET GLOBAL super_read_only = OFF; SET sql_log_bin = 0; {insert}'{replication.ERRANT}')"
    database.sql(spec, name, errant)
    database.sql(spec, others[0], f"{insert}'written on the primary')")
    group.wait_state(spec, name, "ERROR", limit_s=limit_s)


def rejoin(spec: EstateSpec, name: str) -> None:
    """Undo both, and bring back a member that was stopped or thrown out for another reason."""
    _must_be_member(spec, name)
    group.rejoin(spec, name)


def _must_be_member(spec: EstateSpec, name: str) -> None:
    if spec.host(name).role != "group":
        raise LabError(
            f"{name} is in no group; the members of {spec.name} are {', '.join(group.members(spec)) or 'none'}"
        )

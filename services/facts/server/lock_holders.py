"""Which session holds FLUSH TABLES WITH READ LOCK: read where this server tells it, and which place that is is asked.

MariaDB: information_schema.METADATA_LOCK_INFO, where its plugin is loaded (MariaDB KB "Metadata Lock Info Plugin":
MDL_BACKUP_FTWRL1 and 2 are those of that statement). MySQL, PXC, and MariaDB from 10.5.2 on:
performance_schema.metadata_locks, while the instrument wait/lock/metadata/sql/mdl is on (MySQL manual and MariaDB KB
"The metadata_locks Table": a lock that lasts until it is given back has the duration EXPLICIT; MySQL takes GLOBAL and
COMMIT as SHARED, sql/lock.cc, Global_read_lock; MariaDB takes BACKUP as BACKUP_FTWRL1 and 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.connections.ports import ObserverSession, SqlValue, text
from services.connections.reads import statements
from services.connections.reads.read import SqlRead
from services.errors import UserError
from services.facts.reading import count

LIMIT_S = 3.0
_READ_LOCK = "MDL_BACKUP_FTWRL"


def read_lockers(session: ObserverSession) -> frozenset[int] | None:
    """Return the sessions that hold the read lock of all tables; None where this server does not tell."""
    places = {text(row[0]).lower() for row in rows_of(session, statements.LOCK_PLACES) or () if row}
    if "metadata_lock_info" in places:
        found = rows_of(session, statements.LOCKS_BY_PLUGIN)
        return None if found is None else _sessions(row[0] for row in found if text(row[1]).startswith(_READ_LOCK))
    if "metadata_locks" not in places or not _told(session):
        return None
    found = rows_of(session, statements.LOCKS_BY_SCHEMA)
    return None if found is None else _sessions(row[0] for row in found if _is_read_lock(text(row[1]), text(row[2])))


def rows_of(session: ObserverSession, read: SqlRead) -> Sequence[tuple[SqlValue, ...]] | None:
    """Return rows, None where the server has no such table or grants no look at it."""
    try:
        return session.query(read, limit_s=LIMIT_S).rows
    except UserError:
        return None


def _told(session: ObserverSession) -> bool:
    """Return whether the performance schema notes metadata locks; off, its table is there and empty."""
    return any(text(row[0]).upper() == "YES" for row in rows_of(session, statements.LOCK_INSTRUMENT) or () if row)


def _is_read_lock(what: str, how: str) -> bool:
    kind, way = what.upper(), how.upper()
    return (kind == "GLOBAL" and way == "SHARED") or (kind == "BACKUP" and way.startswith("BACKUP_FTWRL"))


def _sessions(numbers: Iterable[SqlValue]) -> frozenset[int]:
    found = (count(text(number)) for number in numbers)
    return frozenset(number for number in found if number is not None)

"""A file that somebody sent, opened to be read: nothing in it is trusted, and no question takes long.

After SQLite's "Defense Against The Dark Arts" (https://sqlite.org/security.html): opened read-only, its schema not
trusted, its cells looked at, limits on what a value may be, a time limit by a progress handler, and an authorizer that
lets a question read the ten tables and nothing else. Which tables these are is compared word for word: a view in the
place of a table, a trigger, a virtual table, a generated column or a foreign index makes the file none of ours.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import time
from pathlib import Path

from services.history.columns.dictionary import UNIQUE
from services.history.migrations import NEWEST, STEPS
from services.history.reading_uri import reading_uri
from services.history.recordings.bounds import MOST_BLOB, QUESTION_S

BUSY_S = 5.0
_STEPS_A_LOOK = 20_000
"""Instructions of SQLite's machine between two looks at the clock: about a millisecond."""
_FUNCTIONS = frozenset({"min", "max", "count", "coalesce", "typeof", "length"})
_PRAGMAS = frozenset({"user_version", "application_id", "quick_check"})
Parts = frozenset[tuple[str, str, str]]
"""(type, name, the statement that made it) of each table and index."""


class GuardedConnection(sqlite3.Connection):
    """A connection each of whose questions has QUESTION_S; then it is interrupted (sqlite3.OperationalError)."""

    _until = float("inf")

    def cursor(self, factory: type[sqlite3.Cursor] = sqlite3.Cursor) -> sqlite3.Cursor:  # type: ignore[override]
        """Return a cursor; the time of its question begins now."""
        self._until = time.monotonic() + QUESTION_S
        return super().cursor(factory)

    def execute(self, sql: str, parameters: tuple[float | None, ...] = ()) -> sqlite3.Cursor:  # type: ignore[override]
        """Ask; the time of the question begins now."""
        self._until = time.monotonic() + QUESTION_S
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError as problem:  # SQLite's message quotes the file
            raise sqlite3.DatabaseError("malformed") from problem

    def is_over(self) -> bool:
        """Return whether the question under way has had its time."""
        return time.monotonic() > self._until


def connect_guarded(path: Path, cache_kb: int) -> sqlite3.Connection:
    """Open a file to read it; raise sqlite3.Error when it is no database."""
    connection = sqlite3.connect(
        reading_uri(path), uri=True, timeout=BUSY_S, check_same_thread=False, isolation_level=None,
        factory=GuardedConnection,
    )  # fmt: skip
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BLOB)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for pragma in (f"cache_size=-{cache_kb:d}", "trusted_schema=OFF", "cell_size_check=ON", "query_only=ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.set_progress_handler(connection.is_over, _STEPS_A_LOOK)
        connection.set_authorizer(_allowed)
    except BaseException:
        connection.close()
        raise
    return connection


def foreign_part(connection: sqlite3.Connection, version: int) -> str:
    """Return the name of what a file of this version does not have (or lacks), "" where it is as it should be."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchmany(200)
    known, optional = _parts(version)
    found = set()
    for kind, name, sql in rows:
        if kind == "index" and sql is None and str(name).startswith("sqlite_autoindex_"):
            continue
        if (kind, name, sql) not in known:
            return str(name)[:100]
        found.add((kind, name, sql))
    missing = known - optional - found
    return min(name for _, name, _ in missing) if missing else ""


@functools.cache
def _parts(version: int) -> tuple[Parts, Parts]:
    """Return what the migrations make of an empty file, and the part of it that a finished recording does without."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        for number, statements in STEPS:
            if number <= version:
                for statement in statements:
                    model.execute(statement)
        known = frozenset(model.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall())
        for name in UNIQUE:
            model.execute(f"DROP INDEX IF EXISTS {name}")
        kept = frozenset(model.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall())
    return known, known - kept


def _allowed(action: int, first: str | None, second: str | None, _database: str | None, _within: str | None) -> int:
    tables = {name for kind, name, _ in _parts(NEWEST)[0] if kind == "table"} | {"sqlite_master"}
    fine = (
        action == sqlite3.SQLITE_SELECT
        or (action == sqlite3.SQLITE_READ and first in tables)
        or (action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS)
    )
    return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

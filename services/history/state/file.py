"""Opening the state: which engine, its version, the backup before a migration, and errors as sentences.

The default is an SQLite file; any SQLAlchemy URL is accepted (a team's shared PostgreSQL or MariaDB). SQLite documents
used: "URI Filenames", "Write-Ahead Logging", "PRAGMA synchronous", "Online Backup API", "Result and Error Codes".
"""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, insert, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from services.errors import StoreError
from services.history.migrations_state import NEWEST, STEPS
from services.history.reading_uri import reading_uri
from services.history.state import schema
from services.i18n import tr
from services.workstation.files import private_file, private_folder
from services.workstation.home import expanded

BUSY_S = 5.0
_MOMENT_S = 0.05
_PASSES = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA})
_NO_ROOM = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL})
_WRITE = {"state_write": True}
_DURABLE = {"state_write": True, "state_durable": True}


def open_engine(url_or_path: str | Path) -> tuple[Engine, str]:
    """Return a ready engine on the newest version, and the store's name for sentences (without a password).

    Raises StoreError: not reachable, locked, damaged, full, or of a newer version; then the file was not touched.
    """
    url = _url(url_or_path)
    if url is not None and url.get_backend_name() == "sqlite" and url.database:
        url_or_path, url = url.database, None
    file: Path | None = None
    if url is None:
        file = expanded(url_or_path)
        engine, name = _file_engine(file), str(file)
    else:
        name = url.render_as_string(hide_password=True)
        try:
            engine = create_engine(url, pool_pre_ping=True)
        except (ArgumentError, NoSuchModuleError, ImportError) as problem:
            raise StoreError(
                tr("The state store {name} cannot be opened: {problem}.", name=name, problem=problem)
            ) from problem
    try:
        with speaking(name):
            _migrate(engine, name, file)
    except BaseException:
        engine.dispose()
        raise
    return engine, name


@contextlib.contextmanager
def speaking(name: str) -> Iterator[None]:
    """Turn what SQLAlchemy raises into a StoreError that names the store and what to try."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as problem:
        raise _spoken(str(getattr(problem, "orig", None) or problem), name) from problem


@contextlib.contextmanager
def writing(engine: Engine, name: str, *, durable: bool = False) -> Iterator[Connection]:
    """Give a connection inside a transaction that holds the write lock from its beginning.

    Args:
        durable: the commit returns after the file is synced (a file only: a server keeps its own settings).
    """
    with speaking(name), engine.connect() as plain:
        connection = plain.execution_options(**(_DURABLE if durable else _WRITE))
        with connection.begin():
            yield connection


def _url(url_or_path: str | Path) -> URL | None:
    """Return the URL of a server's database, None for a file (a path, or sqlite:///path)."""
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        return None
    try:
        url = make_url(url_or_path)
    except ArgumentError as problem:
        # The text is not quoted: it may hold a password.
        raise StoreError(
            tr("The state store's address is not a database URL."),
            try_=(tr("Write driver://user@host/name, or a file's path."),),
        ) from problem
    return url


def _file_engine(file: Path) -> Engine:
    try:
        private_folder(file.parent)
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, tr("it is a folder"))
        if file.exists():
            _refuse_newer(file)
        private_file(file)
    except OSError as problem:
        raise StoreError(
            tr("The state file {file} cannot be written: {problem}.", file=file, problem=problem.strerror or problem),
            try_=(tr("Use another data folder: --data DIR."),),
        ) from problem
    engine = create_engine("sqlite://", creator=lambda: _connect(file), poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # The driver's own rule (begin at the first change) would let two writers read first and then deadlock.
        options = connection.get_execution_options()
        wants_lock = options.get("state_write", False)
        plain = connection.connection.dbapi_connection
        if wants_lock and isinstance(plain, _ReadingAlone):
            raise plain.why
        if options.get("state_durable", False):
            # In WAL mode NORMAL syncs at checkpoints only, FULL at each commit ("PRAGMA synchronous"). No connection
            # is used twice (NullPool), so the next one is as fast as before.
            connection.exec_driver_sql("PRAGMA synchronous=FULL")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if wants_lock else "BEGIN")

    return engine


class _ReadingAlone(sqlite3.Connection):
    """A connection to a file that can't be written; `why`: what SQLite said."""

    why: sqlite3.OperationalError


def _connect(file: Path) -> sqlite3.Connection:
    """Connect; to read alone where there is no room for what SQLite keeps beside the file."""
    try:
        return _connect_to_write(file)
    except sqlite3.OperationalError as problem:
        if getattr(problem, "sqlite_errorcode", 0) & 0xFF not in _NO_ROOM or not file.stat().st_size:
            raise
        reading = sqlite3.connect(
            reading_uri(file), uri=True, timeout=BUSY_S, check_same_thread=False, isolation_level=None,
            factory=_ReadingAlone,
        )  # fmt: skip
        reading.why = problem
        return reading


def _connect_to_write(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=BUSY_S, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _refuse_newer(file: Path) -> None:
    """Look at the version without a write: no WAL, no -shm, no changed time stamp on a file that is not for us."""
    if file.stat().st_size == 0:
        return
    with speaking(str(file)):
        tables, version = _looked_at(file)
    if tables and "state_version" not in tables:
        raise StoreError(
            tr("{file} is a database, but not Pilothouse's state.", file=file),
            safe=tr("The file was not changed."),
            try_=(tr("Use another data folder: --data DIR."),),
        )
    _refuse_version(version, str(file))


def _looked_at(file: Path) -> tuple[frozenset[str], int]:
    """Return the file's tables and version, 0 for none.

    Another program that opens or closes the file at this very moment makes or removes its WAL: what is unreadable then
    can be read the next moment. A file that is damaged stays so.
    """
    for _ in range(2):
        try:
            return _look(file)
        except sqlite3.Error as problem:
            if getattr(problem, "sqlite_errorcode", 0) & 0xFF not in _PASSES:
                raise
            time.sleep(_MOMENT_S)
    return _look(file)


def _look(file: Path) -> tuple[frozenset[str], int]:
    with contextlib.closing(sqlite3.connect(reading_uri(file), uri=True, timeout=BUSY_S)) as connection:
        tables = frozenset(row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'"))
        if "state_version" not in tables:
            return tables, 0
        row = connection.execute("SELECT version FROM state_version").fetchone()
        return tables, int(row[0]) if row else 0


def _refuse_version(version: int, name: str) -> None:
    if version > NEWEST:
        raise StoreError(
            tr(
                "{name} was written by a newer Pilothouse (state version {version}, this program supports up "
                "to {newest}).",
                name=name,
                version=version,
                newest=NEWEST,
            ),
            safe=tr("It was not changed."),
            try_=("Update Pilothouse, or use another data folder.",),
        )


def _migrate(engine: Engine, name: str, file: Path | None) -> None:
    with engine.connect() as connection:
        known = engine.dialect.has_table(connection, "state_version")
        version = (connection.scalar(select(schema.version.c.version)) or 0) if known else 0
    _refuse_version(version, name)
    if version == NEWEST:
        return
    if version and file is not None:
        _backup(file, version)
    with writing(engine, name) as connection:
        schema.version.create(connection, checkfirst=True)
        # Another console may have migrated while this one waited for the lock.
        now = connection.scalar(select(schema.version.c.version))
        for number, upgrade in STEPS:
            if number > (now or 0):
                upgrade(connection)
        if now is None:
            connection.execute(insert(schema.version).values(version=NEWEST))
        else:
            connection.execute(update(schema.version).values(version=NEWEST))


def _backup(file: Path, version: int) -> None:
    """Copy the file beside itself before a migration's first write; a copy that is not whole never gets the name."""
    kept = file.with_name(f"{file.name}.v{version}.bak")
    part = kept.with_name(kept.name + ".part")
    part.unlink(missing_ok=True)
    private_file(part)
    with contextlib.closing(sqlite3.connect(file)) as source, contextlib.closing(sqlite3.connect(part)) as copy:
        source.backup(copy)
    part.replace(kept)


def _spoken(text: str, name: str) -> StoreError:
    low = text.lower()
    if "malformed" in low or "not a database" in low:
        return StoreError(
            tr("The state file {name} is damaged ({text}).", name=name, text=text),
            safe=tr("The file was not changed."),
            try_=(
                tr("Recover what is left with: sqlite3 {name} .recover", name=name),
                tr("Or move the file away: a new one is created, without settings and node history."),
            ),
        )
    if "locked" in low or "busy" in low:
        return StoreError(
            tr("The state store {name} is locked by another program; waited {limit:g} s.", name=name, limit=BUSY_S),
            safe=tr("Nothing was written."),
            try_=(tr("Close the program that holds it."),),
        )
    if "full" in low or "disk i/o" in low or "no space" in low:
        return StoreError(
            tr(
                "The state store {name} could not be written ({text}): the disk is full or failing.",
                name=name,
                text=text,
            ),
            safe=tr("Data stored earlier is intact."),
            try_=(tr("Free space on the disk."),),
        )
    if "readonly" in low or "read-only" in low or "unable to open" in low:
        return StoreError(
            tr("The state store {name} cannot be written ({text}).", name=name, text=text),
            safe=tr("Nothing was written."),
            try_=(tr("Check the file's owner and permissions, or use another data folder: --data DIR."),),
        )
    return StoreError(
        tr("The state store {name} cannot be used: {text}.", name=name, text=text),
        try_=(tr("Check its address and privileges."),),
    )

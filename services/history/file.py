"""Opening a history file: version, owner, damage, migrations with a backup, and the pragmas. Nothing about samples.

SQLite documentation used: "URI filenames" (mode, immutable), "Write-Ahead Logging", "PRAGMA auto_vacuum",
"PRAGMA application_id", "PRAGMA user_version".
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from services.errors import StoreError
from services.history.migrations import NEWEST, STEPS
from services.history.recordings.guarded import BUSY_S, connect_guarded, foreign_part
from services.i18n import tr
from services.workstation.files import private_file, private_folder

Connect = Callable[[], sqlite3.Connection]
"""Opens a connection with its pragmas set. SQLite's own module, not SQLAlchemy: decision 0011."""

APPLICATION_ID = 0x504C5448
WAL_LIMIT = 4 * 2**20
CACHE_KB = 1_000
"""Page cache of a connection ("PRAGMA cache_size"): opened blocks are remembered by BlockCache, the system caches the
file; a larger one only fills for hours with pages that nobody reads twice."""


_MAGIC = b"SQLite format 3\x00"
_LOOKED_THROUGH = 64 * 2**20
"""Bytes up to which a file is looked through when it is opened ("PRAGMA quick_check"): less than a second."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A history file ready for use: how to connect to it, and what was found on the way."""

    path: Path
    connect: Connect
    read_only: bool
    owner: Owner | None
    set_aside: Path | None = None


class Owner:
    """The one writer of a file: a lock on PATH.lock that the system drops when the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        lock = path.with_name(path.name + ".lock")
        private_file(lock)
        self._file = lock.open("a+")
        try:
            lock_descriptor(self._file.fileno())
        except OSError as problem:
            self._file.close()
            raise StoreError(
                tr("Another Pilothouse is writing {name}.", name=path.name),
                safe=tr("This program has not changed the file."),
                try_=(tr("Close the other program, or use another data folder: --data DIR"),),
            ) from problem

    def release(self) -> None:
        """Give the lock back; the lock file stays (removing it would race with the next owner)."""
        self._file.close()


def lock_descriptor(descriptor: int) -> None:
    """Lock an open file for this process alone; raise OSError at once where another has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def open_file(path: Path, *, read_only: bool, now: float) -> Opened:
    """Open or make the file; raise StoreError with what is safe and what to try.

    A file to write that turns out damaged is renamed and kept, and a new one is begun (`set_aside` names it); a damaged
    file to read raises. A file of a newer version is refused either way and not touched.
    """
    if read_only:
        if not path.is_file():
            raise StoreError(tr("There is no file {path}.", path=path), try_=(tr("Check the name."),))
        connect = _connector(path, read_only=True)
        _check(connect, path, sent=True)
        return Opened(path, connect, read_only=True, owner=None)
    owner: Owner | None = None
    try:
        private_folder(path.parent)
        owner = Owner(path)
        private_file(path)
    except OSError as problem:
        if owner is not None:
            owner.release()
        raise StoreError(
            tr("The history file {path} cannot be written: {problem}.", path=path, problem=problem.strerror),
            try_=(tr("Use another data folder."),),
        ) from problem
    set_aside = None
    try:
        if path.exists() and path.stat().st_size:
            try:
                _check(_connector(path, read_only=True), path, sent=False)  # looked at before anything may write to it
            except DamagedError:
                set_aside = _set_aside(path, now)
                private_file(path)
        connect = _connector(path, read_only=False)
        _migrate(connect, path)
    except sqlite3.OperationalError as problem:
        owner.release()
        raise StoreError(
            tr("The history file {path} cannot be opened: {problem}.", path=path, problem=problem),
            try_=(tr("Free some space on its disk, or use another data folder."),),
        ) from problem
    except BaseException:
        owner.release()
        raise
    return Opened(path, connect, read_only=False, owner=owner, set_aside=set_aside)


class DamagedError(StoreError):
    """The file is not a history file any more (or never was)."""


def _connector(path: Path, *, read_only: bool) -> Connect:
    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=rwc", uri=True, timeout=BUSY_S, check_same_thread=False,
            isolation_level=None,
        )  # fmt: skip
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA cache_size=-{CACHE_KB}")
        cursor.execute("PRAGMA trusted_schema=OFF")
        cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute(f"PRAGMA journal_size_limit={WAL_LIMIT}")
        cursor.close()
        return connection

    return (lambda: connect_guarded(path, CACHE_KB)) if read_only else connect


def _check(connect: Connect, path: Path, *, sent: bool) -> None:
    """Refuse what is no history file; one that somebody may have `sent` is looked through besides."""
    try:
        with contextlib.closing(connect()) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            foreign = foreign_part(connection, version) if tables and sent and version <= NEWEST else ""
            ours = application == APPLICATION_ID and not foreign
            if tables and (ours or not sent) and path.stat().st_size < _LOOKED_THROUGH:
                (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if said != "ok" and sent:
                    raise sqlite3.DatabaseError(f"malformed: {said}")
    except (sqlite3.Error, OSError) as problem:
        text = str(problem)
        if sent and not _begins_as_a_database(path):
            raise DamagedError(
                tr("{name} is not a recording.", name=path.name),
                safe=tr("The file was not changed."),
                try_=(tr("Open a file made by `pilothouse record`."),),
            ) from problem
        if "malformed" in text or "not a database" in text:
            raise DamagedError(
                tr("{name} is damaged or not a history file ({text}).", name=path.name, text=text),
                safe=tr("The file was not changed."),
                try_=(tr("Open another file, or recover this one with `sqlite3 FILE .recover`."),),
            ) from problem
        raise StoreError(
            tr("{name} cannot be opened: {text}.", name=path.name, text=text), safe=tr("The file was not changed.")
        ) from problem
    if sent and not tables:
        raise DamagedError(
            tr("{name} contains no recording: it is empty.", name=path.name),
            safe=tr("The file was not changed."),
            try_=(tr("Open a file made by `pilothouse record`."),),
        )
    if version > NEWEST:
        raise StoreError(
            tr(
                "{name} was written by a newer Pilothouse (file version {version}, this program supports up "
                "to {newest}).",
                name=path.name,
                version=version,
                newest=NEWEST,
            ),
            safe=tr("The file was not changed."),
            try_=(tr("Update Pilothouse, or use another data folder."),),
        )
    if tables and not ours:
        raise DamagedError(
            tr("{name} is a database, but not a history file.", name=path.name)
            if application != APPLICATION_ID
            else tr('{name} does not have the structure of a history file: "{part}".', name=path.name, part=foreign),
            safe=tr("The file was not changed."),
            try_=(tr("Open a file made by `pilothouse record`."),),
        )


def _begins_as_a_database(path: Path) -> bool:
    """Return whether there is anything to save. Source: sqlite.org/fileformat.html, 1.3.1, magic header string."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC
    return True  # it can't be read: that is what is told


def _migrate(connect: Connect, path: Path) -> None:
    """Bring the file to the newest version; a file with data is copied aside before its first change."""
    with exclusive(connect) as cursor:
        (version,) = cursor.execute("PRAGMA user_version").fetchone()
        if version == NEWEST:
            return
        if version:
            _backup(cursor.connection, path, version)
        run_steps(cursor, version, STEPS)


def run_steps(cursor: sqlite3.Cursor, version: int, steps: tuple[tuple[int, tuple[str, ...]], ...]) -> None:
    """Run the steps after `version` in one transaction."""
    cursor.execute("BEGIN IMMEDIATE")
    for number, statements in steps:
        if number > version:
            for statement in statements:
                cursor.execute(statement)
            cursor.execute(f"PRAGMA user_version={number:d}")
    cursor.execute(f"PRAGMA application_id={APPLICATION_ID}")
    cursor.execute("COMMIT")


def _backup(connection: sqlite3.Connection, path: Path, version: int) -> None:
    kept = path.with_name(f"{path.name}.v{version}.bak")
    private_file(kept)
    with contextlib.closing(sqlite3.connect(kept)) as copy:
        connection.backup(copy)


def _set_aside(path: Path, now: float) -> Path:
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    kept = path.with_name(f"{path.name}.damaged-{stamp}")
    os.replace(path, kept)  # noqa: PTH105 - replaces atomically where Path.rename would fail on Windows
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{suffix}", f"{kept}{suffix}")  # noqa: PTH105 - as above
    return kept


@contextlib.contextmanager
def exclusive(connect: Connect) -> Iterator[sqlite3.Cursor]:
    """Give a cursor on a connection of its own for the length of a with block."""
    with contextlib.closing(connect()) as connection:
        yield connection.cursor()

"""The write-ahead journal of procedure runs as rows: every line is on the disk before `append` returns.

What a line means is not known here (services/procedures does); data is JSON text. Lines are never changed or deleted.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, desc, func, insert, select
from sqlalchemy.exc import IntegrityError

from services.boundary import bounded
from services.clock import Clock
from services.errors import StoreError
from services.history.file import lock_descriptor
from services.history.state import schema
from services.history.state.file import speaking, writing
from services.history.store_errors import store_told
from services.i18n import tr

_TRIES, _PAUSE_S = 5, 0.02
_SAFELY = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class ProcedureLine:
    """One line: its run, its number in the run (1, 2, 3 ...), UTC epoch seconds, kind, step and JSON text."""

    run_id: int
    seq: int
    at: float
    kind: str
    step_id: str
    data: str


def _line(row: Any) -> ProcedureLine:
    """Return a row's line. SQLite keeps what it is given, whatever a column is: a cell of another type is damage, and
    the line is then one whose reader says so (it holds nothing)."""
    sound = (
        isinstance(row.at, int | float)
        and math.isfinite(row.at)
        and all(isinstance(cell, str) for cell in (row.kind, row.step_id, row.data))
    )
    if not sound:
        return ProcedureLine(int(row.run_id), int(row.seq), 0.0, str(row.kind), str(row.step_id), "")
    return ProcedureLine(row.run_id, row.seq, float(row.at), row.kind, row.step_id, row.data)


@bounded(store_told)
class ProcedureLog:
    """The lines of all runs. Thread-safe: every call is a transaction of its own. All methods raise StoreError only."""

    def __init__(self, engine: Engine, name: str, clock: Clock) -> None:
        """Use `StateStore.procedures`."""
        self._engine = engine
        self.name = name
        self._clock = clock

    def new_run(self, procedure: str, cluster_id: str, title: str) -> int:
        """Reserve a run and return its number."""
        values = {"begun_at": self._clock.wall(), "procedure": procedure, "cluster_id": cluster_id, "title": title}
        with writing(self._engine, self.name, durable=True) as connection:
            made = connection.execute(insert(schema.procedure_run).values(**values))
            assert made.inserted_primary_key is not None  # one row was inserted: it has its key
            return int(made.inserted_primary_key[0])

    def moment(self) -> float:
        """Return the time that a line written now gets, UTC epoch seconds: who seals a line has to know it before."""
        return self._clock.wall()

    def append(
        self, run_id: int, after: int | None, kind: str, step_id: str, data: str, at: float | None = None
    ) -> ProcedureLine:
        """Write the next line of a run.

        Args:
            after: the number of the last line that the writer knows; None: whatever it is.
            at: its time (`moment`); None: now.

        Raises StoreError, too, when the run has another last line: somebody else writes it. Then nothing was written.
        """
        entries, at = schema.procedure_entry, self.moment() if at is None else at
        last = select(func.max(entries.c.seq)).where(entries.c.run_id == run_id)
        try:
            with writing(self._engine, self.name, durable=True) as connection:
                found = int(connection.scalar(last) or 0)
                _refuse(connection, run_id, found, after)
                values = {"run_id": run_id, "seq": found + 1, "at": at, "kind": kind, "step_id": step_id, "data": data}
                connection.execute(insert(entries).values(**values))
        except StoreError as problem:
            # On a server's database two writers may read the same last line; the key lets only one of them in.
            if isinstance(problem.__cause__, IntegrityError):
                raise _other_writer(run_id) from problem
            raise
        return ProcedureLine(run_id, found + 1, at, kind, step_id, data)

    def has(self, run_id: int) -> bool:
        """Tell whether this number was ever reserved."""
        with speaking(self.name), self._engine.connect() as connection:
            return _reserved(connection, run_id)

    def lines(self, run_id: int | None = None, kinds: tuple[str, ...] = ()) -> tuple[ProcedureLine, ...]:
        """Return the lines of one run (of all), of some kinds (of all), in order of run and number."""
        entries = schema.procedure_entry
        wanted = select(entries).order_by(entries.c.run_id, entries.c.seq)
        if run_id is not None:
            wanted = wanted.where(entries.c.run_id == run_id)
        if kinds:
            wanted = wanted.where(entries.c.kind.in_(kinds))
        with speaking(self.name), self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        return tuple(_line(r) for r in rows)

    def marks(self) -> dict[int, int]:
        """Return the number of the last line of each run: cheap, it is read from the key alone."""
        entries = schema.procedure_entry
        wanted = select(entries.c.run_id, func.max(entries.c.seq)).group_by(entries.c.run_id)
        with speaking(self.name), self._engine.connect() as connection:
            return {int(run_id): int(last) for run_id, last in connection.execute(wanted)}

    def hold(self, run_id: int) -> Hold | None:
        """Show every other process of this workstation that this one writes the run, until the hold is let go.

        The system drops it when the process ends, however it ends. None: another process holds it, or the store is a
        server's database, which other workstations share and which has no file to lock.
        """
        path = self._lock_of(run_id)
        if path is None:
            return None
        for _ in range(_TRIES):
            with contextlib.suppress(OSError):
                return Hold(path)
            time.sleep(_PAUSE_S)  # somebody may just be looking (`is_held`)
        return None

    def is_held(self, run_id: int) -> bool:
        """Tell whether anybody holds the run: who holds it himself must know that himself."""
        path = self._lock_of(run_id)
        if path is None or not path.exists():
            return False
        try:
            Hold(path).drop()
        except (BlockingIOError, PermissionError):
            return True
        except OSError:
            return False  # a file system without locks
        return False

    @property
    def is_local(self) -> bool:
        """Whether the store is a file of this workstation, whose locks tell who writes a run."""
        return self._engine.dialect.name == "sqlite"

    def runs(self) -> tuple[int, ...]:
        """Return the numbers of the runs that have a line, newest first."""
        entries = schema.procedure_entry
        wanted = select(entries.c.run_id).where(entries.c.seq == 1).order_by(desc(entries.c.run_id))
        with speaking(self.name), self._engine.connect() as connection:
            return tuple(int(row.run_id) for row in connection.execute(wanted))

    def runs_on(self, cluster_id: str) -> tuple[int, ...]:
        """Return the numbers of the runs on a cluster, newest first."""
        runs = schema.procedure_run
        wanted = select(runs.c.id).where(runs.c.cluster_id == cluster_id).order_by(desc(runs.c.id))
        with speaking(self.name), self._engine.connect() as connection:
            return tuple(int(row.id) for row in connection.execute(wanted))

    def _lock_of(self, run_id: int) -> Path | None:
        return Path(f"{self.name}.run-{run_id}.lock") if self._engine.dialect.name == "sqlite" else None


class Hold:
    """A run that this process writes: a lock that goes with the process, and with this object."""

    def __init__(self, path: Path) -> None:
        """Lock this file; raise OSError where it is locked."""
        self._path, self._file = path, -1
        self._file = os.open(path, os.O_CREAT | os.O_RDWR | _SAFELY, 0o600)
        try:
            lock_descriptor(self._file)
        except OSError:
            self.drop()
            raise

    def let_go(self) -> None:
        """Let others write it. Where the file can't be removed it stays behind, and holds nothing."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                self._path.unlink()
        self.drop()

    def drop(self) -> None:
        """Give the lock back and leave its file: somebody may be about to lock it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.drop()


def _refuse(connection: Connection, run_id: int, found: int, after: int | None) -> None:
    """Raise StoreError unless the writer may put a line behind line `found`."""
    if not found and not _reserved(connection, run_id):
        raise StoreError(tr("Run {run_id} was never started in this store.", run_id=run_id))
    if after is not None and found != after:
        raise _other_writer(run_id)


def _reserved(connection: Connection, run_id: int) -> bool:
    runs = schema.procedure_run
    return connection.execute(select(runs.c.id).where(runs.c.id == run_id)).first() is not None


def _other_writer(run_id: int) -> StoreError:
    return StoreError(
        tr("Run {run_id} is being written by another console.", run_id=run_id),
        safe=tr("This console wrote nothing and stopped this run here."),
        try_=(tr("Check the other console, or read the run again before you continue here."),),
    )

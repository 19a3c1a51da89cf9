"""What the console remembers between runs: settings, nodes it has seen, runs of procedures, and how it ended."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import platformdirs
from sqlalchemy import Engine, Row, Select, and_, desc, insert, select, update

from services.boundary import bounded
from services.clock import Clock, SystemClock
from services.errors import StoreError
from services.history.state import schema
from services.history.state.change_marks import ChangeMarks
from services.history.state.file import open_engine, speaking, writing
from services.history.state.host_keys import HostKeys, host_keys
from services.history.state.positions import PositionMemory, PositionSeen, read_positions, write_positions
from services.history.state.procedure_journal import ProcedureLog
from services.history.state.rows import (
    NodeMemory,
    NodeSighting,
    UncleanEnd,
    memory_of,
    process_lives,
)
from services.history.state.split_log import SplitLog
from services.history.store_errors import as_store_error
from services.i18n import tr

ALIVE_FOR_S = 60.0
"""A run that has said so little time ago is taken for living, when its process is not known to be dead."""
EVERY_S = 10.0
"""A node that only moves on (same identity, higher seqno) is written this often at most: SSDs are not worn by polls."""


def default_path() -> Path:
    """Return where the state lives unless told otherwise: the platform's user data folder."""
    return Path(platformdirs.user_data_dir("pilothouse", appauthor=False)) / "state.sqlite3"


def _told(own: StateStore | type[StateStore], problem: BaseException) -> StoreError:
    return as_store_error(problem, own.name if isinstance(own, StateStore) else tr("The state store"))


@bounded(_told)
class StateStore:
    """The state store. Thread-safe: every call is a transaction of its own. All methods raise StoreError only."""

    def __init__(self, engine: Engine, name: str, clock: Clock) -> None:
        """Use `open`."""
        self._engine = engine
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._run: int | None = None
        self._written: dict[tuple[str, str, str, str], float] = {}
        self._waiting: dict[tuple[str, str, str, str], NodeSighting] = {}
        self._reader = "watch"
        self._keys = HostKeys()

    @classmethod
    def open(cls, url_or_path: str | Path | None = None, *, clock: Clock | None = None) -> Self:
        """Open or make the store: a path, an SQLAlchemy URL, or None for the default file."""
        engine, name = open_engine(url_or_path or default_path())
        return cls(engine, name, clock or SystemClock())

    @property
    def name(self) -> str:
        """Return the path or the URL without its password."""
        return self._name

    def close(self) -> None:
        """Write what waits and close; idempotent."""
        try:
            self._flush()
        finally:
            self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def procedures(self) -> ProcedureLog:
        """Return the journal of procedure runs that this store keeps; usable until the store is closed."""
        return ProcedureLog(self._engine, self._name, self._clock)

    def splits(self) -> SplitLog:
        """Return what is kept of two Primary Components seen at once; usable until the store is closed."""
        return SplitLog(self._engine, self._name, self._clock)

    def change_marks(self, about: str) -> ChangeMarks:
        """Return what is kept of stretches marked by hand, of one inventory or recording, until the store is closed."""
        return ChangeMarks(self._engine, self._name, self._clock, about)

    # -- settings ----------------------------------------------------------------------------------------------------

    def get_setting(self, name: str, default: str = "") -> str:
        """Return a setting's text."""
        found = self._first(select(schema.setting.c.value).where(schema.setting.c.name == name))
        return default if found is None else str(found[0])

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting."""
        values = {"value": value, "changed_at": self._clock.wall()}
        with writing(self._engine, self._name) as connection:
            changed = connection.execute(update(schema.setting).where(schema.setting.c.name == name).values(**values))
            if changed.rowcount == 0:
                connection.execute(insert(schema.setting).values(name=name, **values))

    # -- runs of the console -----------------------------------------------------------------------------------------

    def record_console_start(self, version: str = "") -> int:
        """Note that a console starts; runs found dead are marked as ended uncleanly. Returns the run's number."""
        now = self._clock.wall()
        runs = schema.console_run
        with writing(self._engine, self._name) as connection:
            dead = [row for row in connection.execute(select(runs).where(runs.c.ended_at.is_(None))) if self._dead(row)]
            values = {"started_at": now, "alive_at": now, "clean": False, "machine": socket.gethostname()}
            made = connection.execute(insert(runs).values(pid=os.getpid(), version=version, **values))
            assert made.inserted_primary_key is not None  # one row was inserted: it has its key
            number = int(made.inserted_primary_key[0])
            for row in dead:
                ended = {"ended_at": row.alive_at, "clean": False, "told_by": number}
                connection.execute(update(runs).where(runs.c.id == row.id).values(**ended))
        self._run = number
        return number

    def record_console_alive(self) -> None:
        """Note that this run still lives; call it every few seconds: an unclean end is dated by it."""
        self._touch(alive_at=self._clock.wall())

    def record_console_end(self) -> None:
        """Note that this run ended as it should."""
        now = self._clock.wall()
        self._touch(alive_at=now, ended_at=now, clean=True)
        self._run = None

    def last_unclean_end(self) -> UncleanEnd | None:
        """Return the newest unclean end that this run found, or before a start the newest that nobody has told of."""
        runs = schema.console_run
        if self._run is not None:
            found = self._first(select(runs).where(runs.c.told_by == self._run).order_by(desc(runs.c.started_at)))
        else:
            still_open = select(runs).where(runs.c.ended_at.is_(None)).order_by(desc(runs.c.started_at))
            found = next((row for row in self._all(still_open) if self._dead(row)), None)
        if found is None:
            return None
        return UncleanEnd(found.started_at, found.alive_at, found.machine, found.pid, found.version)

    def _dead(self, row: Row[Any]) -> bool:
        """Tell whether an open run has ended: its process is gone, or it has not been heard of for a while."""
        if row.machine == socket.gethostname():
            if row.pid == os.getpid():
                return bool(row.id != self._run)
            if not process_lives(row.pid):
                return True
        return bool(self._clock.wall() - row.alive_at > ALIVE_FOR_S)

    def _touch(self, **values: object) -> None:
        if self._run is None:
            raise StoreError(tr("No run of the console was started in this store."))
        with writing(self._engine, self._name) as connection:
            connection.execute(update(schema.console_run).where(schema.console_run.c.id == self._run).values(**values))

    def of_inventory(self, mark: str, hosts: Mapping[str, str]) -> None:
        """Tell whose hosts are spoken of from now on (name -> address): see host_keys.py."""
        self._keys = host_keys(mark, hosts, self.get_setting, self.set_setting)

    # -- nodes -------------------------------------------------------------------------------------------------------

    def remember_nodes(self, sightings: tuple[NodeSighting, ...], read_by: str = "watch") -> None:
        """Keep what identities and positions nodes had (see `state_rows.sightings`).

        A new identity is written at once; a known one at most every EVERY_S seconds, and when the store closes. The
        last of a node that gives no answer since is written too: a crash is judged by that position.

        Args:
            read_by: who saw them, for the memory of positions; one store's sightings have one reader.
        """
        due: list[NodeSighting] = []
        with self._lock:
            self._reader = read_by
            for sighting in (replace(one, host=self._keys.key(one.host)) for one in sightings):
                identity = sighting.identity
                written, waits = self._written.get(identity), self._waiting.get(identity)
                if sighting.at == written:
                    continue
                silent = waits is not None and waits.at == sighting.at
                if silent or written is None or sighting.at - written >= EVERY_S or sighting.at < written:
                    due.append(sighting)
                    self._waiting.pop(identity, None)
                else:
                    self._waiting[identity] = sighting
        self._write_nodes(due)

    def node_history(self, host: str) -> tuple[NodeMemory, ...]:
        """Return every identity a host was seen with, the newest first."""
        self._flush()
        nodes = schema.node_seen
        key = self._keys.key(host)
        rows = self._all(select(nodes).where(nodes.c.host == key).order_by(desc(nodes.c.last_seen)))
        return tuple(replace(memory_of(row), host=host) for row in rows)

    def hosts_of(self, cluster_uuid: str) -> tuple[str, ...]:
        """Return every host that was ever seen in a cluster."""
        self._flush()
        nodes = schema.node_seen
        rows = self._all(select(nodes.c.host).where(nodes.c.cluster_uuid == cluster_uuid).distinct())
        return tuple(sorted(self._keys.name(str(row.host)) for row in rows))

    def remember_positions(self, seen: Iterable[PositionSeen]) -> None:
        """Keep positions of nodes: the newest and the highest of each host, cluster and source."""
        keyed = (replace(one, host=self._keys.key(one.host)) for one in seen)
        write_positions(self._engine, self._name, keyed)

    def positions(self, host: str) -> tuple[PositionMemory, ...]:
        """Return every position remembered of a host, the newest first."""
        self._flush()
        found = read_positions(self._engine, self._name, self._keys.key(host))
        return tuple(replace(one, host=host) for one in found)

    def _flush(self) -> None:
        with self._lock:
            waiting, self._waiting = list(self._waiting.values()), {}
        self._write_nodes(waiting)

    def _write_nodes(self, sightings: list[NodeSighting]) -> None:
        if not sightings:
            return
        nodes = schema.node_seen
        with writing(self._engine, self._name) as connection:
            for s in sightings:
                same = and_(
                    nodes.c.host == s.host,
                    nodes.c.cluster_uuid == s.cluster_uuid,
                    nodes.c.node_uuid == s.node_uuid,
                    nodes.c.server_uuid == s.server_uuid,
                )
                moved = {} if s.seqno is None else {"seqno": s.seqno, "seqno_at": s.at}
                if connection.execute(update(nodes).where(same).values(last_seen=s.at, **moved)).rowcount == 0:
                    host, cluster, node, server = s.identity
                    identity = {"host": host, "cluster_uuid": cluster, "node_uuid": node, "server_uuid": server}
                    times = {"first_seen": s.at, "last_seen": s.at}
                    connection.execute(insert(nodes).values(**identity, **times, **moved))
        by = self._reader
        positions = (
            PositionSeen(s.host, s.cluster_uuid, "running", s.seqno, s.at, by) for s in sightings if s.seqno is not None
        )
        write_positions(self._engine, self._name, positions)
        with self._lock:
            self._written.update({s.identity: s.at for s in sightings})

    def _first(self, statement: Select[Any]) -> Row[Any] | None:
        with speaking(self._name), self._engine.connect() as connection:
            return connection.execute(statement).first()

    def _all(self, statement: Select[Any]) -> list[Row[Any]]:
        with speaking(self._name), self._engine.connect() as connection:
            return list(connection.execute(statement))

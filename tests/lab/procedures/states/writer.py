"""An application that never stops writing: which rows were acknowledged, and whether every node has them afterwards.

The server acknowledges an INSERT when its commit returned; a row whose answer was lost counts for nothing and its id
is never used again. Bounded in time and count, so that a forgotten writer ends by itself.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import pymysql

from tests.lab.estate import vault
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts

TABLE = "sbtest.acknowledged"
_MAKE = f"CREATE TABLE IF NOT EXISTS {TABLE} (id BIGINT PRIMARY KEY, node VARCHAR(16), text VARCHAR(200)) ENGINE=InnoDB"
_TEXT = "x" * 180
LONGEST_S = 600.0
MOST_ROWS = 60_000


class Writer:
    """One thread that inserts about `rate` rows a second through whichever of `hosts` takes them."""

    def __init__(
        self,
        estate: Estate,
        hosts: Sequence[str],
        *,
        rate: float = 40.0,
        seconds: float = LONGEST_S,
        beside: bool = False,
    ) -> None:
        """Make one; `beside`: a second one that writes at the same time, ids far from those of the first."""
        self._estate = estate
        self._hosts = tuple(hosts)
        self._pause = 1.0 / rate
        self._beyond = 10 * MOST_ROWS if beside else 1
        self._ends = time.monotonic() + min(seconds, LONGEST_S)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self.acknowledged: dict[int, str] = {}  # id -> the node that acknowledged it
        self.refused = 0

    def __enter__(self) -> Self:
        self._estate.sql(self._hosts[0], _MAKE)
        self._first = self._beyond + int(
            self._estate.sql(self._hosts[0], f"SELECT COALESCE(MAX(id), 0) FROM {TABLE}")[0][0]
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop writing; idempotent."""
        self._stop.set()
        self._thread.join(timeout=30)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        row, place = self._first, 0
        talk: pymysql.Connection[pymysql.cursors.Cursor] | None = None
        while not self._stop.is_set() and time.monotonic() < self._ends and row < self._first + MOST_ROWS:
            host = self._hosts[place % len(self._hosts)]
            try:
                talk = talk or self._connect(host)
                with talk.cursor() as cursor:
                    cursor.execute(f"INSERT INTO {TABLE} VALUES (%s, %s, %s)", (row, host, _TEXT))
                self.acknowledged[row] = host
                self._stop.wait(self._pause)
            except (pymysql.err.Error, OSError):
                self.refused += 1
                _close(talk)
                talk, place = None, place + 1
                self._stop.wait(0.1)
            row += 1
        _close(talk)

    def _connect(self, host: str) -> pymysql.Connection[pymysql.cursors.Cursor]:
        return pymysql.connect(
            host=self._estate.addresses[host],
            user="sysbench",
            password=vault.load()["sysbench"],
            ssl_disabled=True,  # a server killed before its handshake would leave a socket to the garbage collector
            autocommit=True,
            connect_timeout=2,
            read_timeout=4,
            write_timeout=4,
        )

    def assert_nothing_lost(self, nodes: Sequence[str] | None = None, *, at_least: int = 20) -> None:
        """Stop, and prove that every acknowledged row is on every node and that all nodes hold the same."""
        self.stop()
        assert len(self.acknowledged) >= at_least, (len(self.acknowledged), self.refused)
        names = tuple(nodes or self._hosts)
        self._estate.wait_synced(names)
        while_asserts(lambda: _assert_same(self._estate, names), limit_s=20)
        self.assert_all_there(names)

    def assert_all_there(self, names: Sequence[str]) -> None:
        """Prove that every acknowledged row is on these nodes; what else they hold is another's to compare."""
        for name in names:
            there = {int(row[0]) for row in self._estate.sql(name, f"SELECT id FROM {TABLE}")}
            lost = sorted(set(self.acknowledged) - there)
            assert not lost, f"{len(lost)} acknowledged rows are not on {name}, first: {lost[:5]}"


def _assert_same(estate: Estate, names: Sequence[str]) -> None:
    told = {name: _state(estate, name) for name in names}
    assert len(set(told.values())) == 1, told


def _state(estate: Estate, name: str) -> tuple[tuple[str, ...], ...]:
    """Count and checksum of every table of the schema that applications write."""
    tables = [row[0] for row in estate.sql(name, "SHOW TABLES FROM sbtest")]
    found = []
    for table in tables:
        # wsrep_sync_wait=1: a read waits until the node has applied what the cluster has (MariaDB KB, wsrep_sync_wait)
        count, checked = estate.sql(
            name, f"SET SESSION wsrep_sync_wait = 1; SELECT COUNT(*) FROM sbtest.{table}; CHECKSUM TABLE sbtest.{table}"
        )
        found.append((table, count[0], checked[-1]))
    return tuple(found)


def _close(talk: pymysql.Connection[pymysql.cursors.Cursor] | None) -> None:
    if talk is not None:
        with contextlib.suppress(pymysql.err.Error, OSError):
            talk.close()

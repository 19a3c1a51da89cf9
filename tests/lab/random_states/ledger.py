"""Every row that a server has acknowledged, and which node did: what nobody may lose without a word."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import pymysql

from tests.lab.estate import vault
from tests.lab.estate.estate import Estate

TABLE = "sbtest.ledger"
MAKE = f"CREATE TABLE IF NOT EXISTS {TABLE} (id BIGINT PRIMARY KEY, node VARCHAR(16), burst INT) ENGINE=InnoDB"
SIDE = "shop.orders"
"""What a filter leaves out: where one is set each row stands here too, every second one only here."""
MAKE_SIDE = f"CREATE DATABASE IF NOT EXISTS shop; CREATE OR REPLACE TABLE {SIDE} (id BIGINT PRIMARY KEY)"
BURST_ROWS = 30
_ANSWER_S = 6


def only_beside(row: int) -> bool:
    """Return whether a row is one that, where a filter is set, stands in the schema that it leaves out alone."""
    return row % 2 == 1


class Talk(Protocol):
    """A session on one node."""

    def insert(self, row: int, burst: int) -> None:
        """Insert one row and return when it was acknowledged; raises OSError or pymysql.err.Error when it was not."""

    def close(self) -> None:
        """End it; raises nothing."""


@dataclass
class Ledger:
    """What was acknowledged, by row id; an id whose answer was lost counts for nothing and is never used again."""

    acknowledged: dict[int, str] = field(default_factory=dict)
    bursts: int = 0
    _next: int = 1

    def burst(self, host: str, open_talk: Callable[[str], Talk], rows: int = BURST_ROWS) -> frozenset[int]:
        """Write some rows through one node until it refuses one; return the ids that were acknowledged."""
        self.bursts += 1
        taken: set[int] = set()
        try:
            talk = open_talk(host)
        except (OSError, pymysql.err.Error):
            return frozenset()
        try:
            for _ in range(rows):
                row, self._next = self._next, self._next + 1
                talk.insert(row, self.bursts)
                self.acknowledged[row] = host
                taken.add(row)
        except (OSError, pymysql.err.Error):
            pass  # refused, or its answer was lost: the application knows nothing of this row
        finally:
            talk.close()
        return frozenset(taken)


class SqlTalk:
    """A session of the application's own account."""

    def __init__(self, estate: Estate, host: str, *, side: bool = False) -> None:
        self._host = host
        self._side = side
        self._connection = pymysql.connect(
            host=estate.addresses[host],
            user="sysbench",
            password=vault.load()["sysbench"],
            ssl_disabled=True,
            autocommit=not side,
            connect_timeout=2,
            read_timeout=_ANSWER_S,
            write_timeout=_ANSWER_S,
        )

    def insert(self, row: int, burst: int) -> None:
        with self._connection.cursor() as cursor:
            if self._side:
                cursor.execute(f"INSERT INTO {SIDE} VALUES (%s)", (row,))
            if not (self._side and only_beside(row)):
                cursor.execute(f"INSERT INTO {TABLE} VALUES (%s, %s, %s)", (row, self._host, burst))
        if self._side:
            self._connection.commit()

    def close(self) -> None:
        with contextlib.suppress(OSError, pymysql.err.Error):
            self._connection.close()

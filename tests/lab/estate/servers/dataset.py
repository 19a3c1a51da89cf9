"""Gigabytes of data as applications have it, made on a MariaDB server itself, bounded in bytes and seconds.

Schema `big`: four tables like sysbench's, blobs (half of each can't be compressed), parents with children by foreign
keys, a table without a primary key, and DDL on the way. The same seed and size make the same rows, so that two servers,
or a server and a second making, can be compared by CHECKSUM TABLE. One round is some transactions of a few MB, which
a cluster takes beside other writers (MariaDB KB: "wsrep_max_ws_size", "Sequence Storage Engine", "ENCODE").
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.lab.estate.errors import LabError, LabTimeoutError
from tests.lab.estate.host import container
from tests.lab.estate.servers import database, galera
from tests.lab.estate.spec import EstateSpec

SCHEMA = "big"
MOST_BYTES = 20 * 10**9
LONGEST_S = 3600.0
ROUND_BYTES = 32 * 10**6
LEAST_ROUNDS = 4
"""So that the DDL stands between rows, however small the whole is."""
LIKE_SYSBENCH = tuple(f"sbtest{n}" for n in range(1, 5))
_ROOM = 2.6
"""Bytes of disk for each byte of the schema's files: them, the binary log, a large DDL's copy, and some air."""
_PAGES = 1.4
"""Bytes of files for each byte of rows, at least: pages are not full, and there are indexes."""
_BLOB = 65_536
_PAYLOAD = {"sbtest": 188, "picture": _BLOB, "account": 76, "entry": 106, "happened": 108}
"""Bytes of a row's columns, at least."""
_SHARE = {"sbtest": 0.10, "picture": 0.45, "account": 0.02, "entry": 0.08, "happened": 0.05}
"""Of the whole; sbtest: of each of the four."""

_LIKE_SYSBENCH = "id INT NOT NULL PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k (k)"
_TABLES = {
    **dict.fromkeys(LIKE_SYSBENCH, _LIKE_SYSBENCH),
    "picture": "id INT NOT NULL PRIMARY KEY, name VARCHAR(64) NOT NULL, data MEDIUMBLOB NOT NULL",
    "account": "id INT NOT NULL PRIMARY KEY, name VARCHAR(120) NOT NULL, UNIQUE KEY (name)",
    "entry": """id INT NOT NULL PRIMARY KEY, account INT NOT NULL, amount DECIMAL(12,2) NOT NULL, at DATETIME NOT NULL,
        note VARCHAR(120) NOT NULL,
        CONSTRAINT entry_account FOREIGN KEY (account) REFERENCES account (id) ON DELETE CASCADE""",
    "happened": "at DATETIME NOT NULL, kind CHAR(8) NOT NULL, text VARCHAR(120) NOT NULL",
}
DDL = (
    "ALTER TABLE sbtest1 ADD COLUMN added INT NOT NULL DEFAULT 7",
    "CREATE INDEX by_time ON entry (at)",
    """CREATE TABLE happened_new LIKE happened;
    ALTER TABLE happened_new ADD COLUMN seen TINYINT NOT NULL DEFAULT 0;
    RENAME TABLE happened TO happened_old, happened_new TO happened;
    DROP TABLE happened_old""",
)
"""After a quarter, a half and three quarters of the rounds. The last one lets go of all rows before it."""
TABLES = tuple(_TABLES)
SAY = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DataSet:
    """What to make: so many bytes of files at least, within so many seconds; the same seed makes the same rows."""

    size: int = 2 * 10**9
    seconds: float = 1800.0
    seed: int = 1

    @property
    def rounds(self) -> int:
        """How many rounds; each makes the same number of rows."""
        return max(LEAST_ROUNDS, math.ceil(self.payload / ROUND_BYTES))

    @property
    def payload(self) -> float:
        """Bytes of the rows' columns."""
        return self.size / _PAGES

    def rows(self, kind: str) -> int:
        """Rows of one table in a round."""
        share = self.payload * (1.0 + _SHARE["happened"]) / self.rounds * _SHARE[kind]
        return max(2, math.ceil(share / _PAYLOAD[kind]))


@dataclass(frozen=True, slots=True)
class Made:
    """What became of it: rounds done of those wanted, seconds, bytes of the schema's files, rows by table."""

    rounds: int
    wanted: int
    seconds: float
    files: int
    rows: dict[str, int]

    @property
    def whole(self) -> bool:
        """Whether all was made before the time was over."""
        return self.rounds == self.wanted


def make(spec: EstateSpec, host: str, wanted: DataSet, say: SAY = lambda _: None) -> Made:
    """Make the data on `host`; replication carries it on. What the schema held before is dropped first.

    It ends by itself: after `wanted.seconds` no further round begins. LabError where a disk has no room for it.
    """
    if not 0 < wanted.size <= MOST_BYTES or not 0 < wanted.seconds <= LONGEST_S:
        raise LabError(f"a data set has 1 to {MOST_BYTES} bytes and takes 1 to {LONGEST_S:.0f} seconds")
    drop(spec, host)
    _need_room(spec, [host, *(name for name in galera.members(spec) if name != host)], wanted)
    began = time.monotonic()
    tables = (f"CREATE TABLE {name} ({columns}) ENGINE=InnoDB" for name, columns in _TABLES.items())
    database.sql(spec, host, ";\n".join((f"CREATE DATABASE {SCHEMA}", f"USE {SCHEMA}", *tables)))
    done = 0
    for number in range(wanted.rounds):
        left = wanted.seconds - (time.monotonic() - began)
        if left <= 0:
            break
        try:
            database.sql(spec, host, ";\n".join(_round(wanted, number)), limit_s=max(left, 1.0) + 30.0)
        except LabTimeoutError:
            break
        done += 1
        if done % 10 == 0:
            say(f"{done} of {wanted.rounds} rounds, {time.monotonic() - began:.0f} s")
    return Made(done, wanted.rounds, time.monotonic() - began, files(spec, host), counts(spec, host))


def drop(spec: EstateSpec, host: str) -> None:
    """Drop the schema with all that is in it."""
    database.sql(spec, host, f"DROP DATABASE IF EXISTS {SCHEMA}", limit_s=120)


def files(spec: EstateSpec, host: str) -> int:
    """Bytes of the schema's files on a host; 0 where there is none."""
    said = container.sh(spec, host, f"du -sb {database.DATADIR}/{SCHEMA}", limit_s=60).out.split()
    return int(said[0]) if said else 0


def counts(spec: EstateSpec, host: str) -> dict[str, int]:
    """Rows of each table of the schema that is there."""
    there = [row[0] for row in database.sql(spec, host, f"SHOW TABLES FROM {SCHEMA}")]
    asked = ((table, f"SELECT COUNT(*) FROM {SCHEMA}.{table}") for table in there)
    return {table: int(database.sql(spec, host, question, limit_s=300)[0][0]) for table, question in asked}


def sums(spec: EstateSpec, host: str, tables: Sequence[str] = TABLES) -> dict[str, tuple[int, str]]:
    """Rows and CHECKSUM TABLE of these tables: what two hosts of the same data have alike."""
    found = {}
    for table in tables:
        asked = f"SELECT COUNT(*) FROM {SCHEMA}.{table}; CHECKSUM TABLE {SCHEMA}.{table}"
        count, checked = database.sql(spec, host, asked, limit_s=600)
        found[table] = (int(count[0]), checked[-1])
    return found


def _need_room(spec: EstateSpec, hosts: Sequence[str], wanted: DataSet) -> None:
    need = int(wanted.size * _ROOM)
    for name in hosts:
        free = int(container.sh(spec, name, f"df -PB1 {database.DATADIR} | tail -1", limit_s=20).out.split()[3])
        if free < need:
            raise LabError(f"{name} has {free // 10**6} MB free, {need // 10**6} MB are needed: take a smaller size")


# -- the rows of a round -----------------------------------------------------------------------------------------------


def _round(wanted: DataSet, number: int) -> Iterator[str]:
    """Yield the statements of one round: rows for every table, and what DDL is due after it."""
    yield f"USE {SCHEMA}"
    for table in LIKE_SYSBENCH:
        yield _insert(wanted, number, table, "sbtest")
    for table in ("picture", "account", "entry", "happened"):
        yield _insert(wanted, number, table, table)
    for place, statement in enumerate(DDL, 1):
        if number + 1 == wanted.rounds * place // (len(DDL) + 1):
            yield statement


def _insert(wanted: DataSet, number: int, table: str, kind: str) -> str:
    rows = wanted.rows(kind)
    first = number * rows + 1
    columns, values = _COLUMNS[kind]
    key = f"CONCAT('{wanted.seed}:{table}:', seq)"
    accounts = wanted.rows("account") * (number + 1)
    said = values.format(key=key, accounts=accounts, half=_BLOB // 2, texts=_BLOB // 64)
    return f"INSERT INTO {table} ({columns}) SELECT {said} FROM seq_{first}_to_{first + rows - 1}"


_COLUMNS = {
    "sbtest": (
        "id, k, c, pad",
        (
            "seq, CONV(LEFT(MD5({key}), 7), 16, 10), CONCAT(SHA2({key}, 224), SHA2(CONCAT('c', {key}), 256)), "
            "SHA2(CONCAT('p', {key}), 224)"
        ),
    ),
    "picture": (
        "id, name, data",
        "seq, CONCAT('picture ', {key}), CONCAT(ENCODE(REPEAT('x', {half}), {key}), REPEAT(MD5({key}), {texts}))",
    ),
    "account": ("id, name", "seq, CONCAT(MD5({key}), ' ', {key}, ' ', MD5(CONCAT('n', {key})))"),
    "entry": (
        "id, account, amount, at, note",
        (
            "seq, 1 + CONV(LEFT(MD5({key}), 7), 16, 10) MOD {accounts}, seq MOD 100000 / 100, "
            "'2024-01-01' + INTERVAL seq SECOND, CONCAT(SHA2({key}, 256), MD5({key}))"
        ),
    ),
    "happened": (
        "at, kind, text",
        "'2024-01-01' + INTERVAL seq SECOND, LEFT(MD5({key}), 8), CONCAT(SHA2({key}, 256), MD5({key}))",
    ),
}
"""Columns, and what makes them out of a row's number; `key` is of the seed, the table and that number."""

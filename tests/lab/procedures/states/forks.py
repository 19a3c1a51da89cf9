"""Crashes that leave more than one truth, made for real: forks under one state UUID, rows that only one node has.

Every statement that came back is an acknowledged row; who acknowledged which is the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.states.obstacles import GRASTATE, assert_alone
from tests.lab.procedures.whole import members

LEDGER = "sbtest.ledger"
ROWS = 40
"""More than the newest marks of a binary log that are laid beside the other one (32): older ones are searched."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The acknowledged rows: `shared` by all, and those that only one side acknowledged, by a host of that side."""

    shared: frozenset[int]
    only: dict[str, frozenset[int]]

    def assert_on(self, estate: Estate, host: str, *sides: str) -> None:
        """Assert that a host has the shared rows and those of these sides, and no other's."""
        wanted = self.shared.union(*(self.only[side] for side in sides))
        there = {int(row[0]) for row in estate.sql(host, f"SELECT id FROM {LEDGER}")}
        assert there == wanted, (host, len(wanted - there), len(there - wanted))


def acknowledge(estate: Estate, host: str, first: int, rows: int = ROWS) -> frozenset[int]:
    """Write rows one commit each through a host; return the ids that it acknowledged."""
    ids = range(first, first + rows)
    statements = ";".join(f"INSERT INTO {LEDGER} VALUES ({one}, '{host}')" for one in ids)
    estate.sql(host, statements)
    return frozenset(ids)


def make_ledger(estate: Estate) -> frozenset[int]:
    """Make the table with its first rows, on every member."""
    estate.sql("s1", f"CREATE OR REPLACE TABLE {LEDGER} (id BIGINT PRIMARY KEY, node VARCHAR(16)) ENGINE=InnoDB")
    return acknowledge(estate, "s1", 1, 5)


def kill_all(estate: Estate) -> None:
    """SIGKILL every server at once."""
    with ThreadPoolExecutor(3) as pool:
        tuple(pool.map(estate.kill9, members(estate)))


@contextmanager
def two_forks(
    estate: Estate,
    *,
    rows: int = ROWS,
    fewer: int | None = None,
    losers: tuple[str, ...] = ("s3",),
    meanwhile: Callable[[], None] = lambda: None,
) -> Iterator[Ledger]:
    """s3 was bootstrapped by hand beside s1 and s2, both sides took writes, then all servers died.

    Afterwards the losers have no data any more, so that their next start is a full transfer.

    Args:
        fewer: rows that s3 took, as many as the others where it is None.
        meanwhile: called while both sides are Primary and have written.
    """
    shared = make_ledger(estate)
    try:
        estate.partition(["s3"])
        estate.wait_synced(("s1", "s2"), size=2, limit_s=60)
        while_asserts(lambda: assert_alone(estate, "s3"), limit_s=60)
        estate.sql("s3", "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'")
        estate.wait_synced(("s3",), size=1, limit_s=40)
        only = {"s1": acknowledge(estate, "s1", 1_000, rows), "s3": acknowledge(estate, "s3", 5_000, fewer or rows)}
        meanwhile()
        kill_all(estate)
        estate.heal()
        yield Ledger(shared, only)
    finally:
        estate.heal()
        for name in losers:
            forget(estate, name)


def assert_extracted(estate: Estate, host: str, wanted: frozenset[int]) -> None:
    """Assert that the file of what a host lost holds these rows of the ledger, each once, and no others."""
    told = estate.host(host).sh("grep -h '^###   @1=' /var/lib/pilothouse/forks/*.sql").out.split("\n")
    found = sorted(int(line.rpartition("=")[2]) for line in told if line)
    assert found == sorted(wanted), (host, len(found), len(wanted))


@contextmanager
def rows_on_one_only(estate: Estate, *, rows: int = ROWS) -> Iterator[Ledger]:
    """s1 and s2 were stopped one after the other, s3 went on alone and was killed."""
    shared = make_ledger(estate)
    estate.stop("s1")
    estate.stop("s2")
    ledger = Ledger(shared, {"s3": acknowledge(estate, "s3", 5_000, rows)})
    estate.kill9("s3")
    try:
        yield ledger
    finally:
        forget(estate, "s3")


def forget(estate: Estate, host: str) -> None:
    """Give a node's data up: what it has nobody else may have."""
    estate.stop(host)
    estate.host(host).sh("find /var/lib/mysql -mindepth 1 -delete", check=False)


@contextmanager
def state_files(estate: Estate, **texts: str) -> Iterator[None]:
    """These members' state files hold this text instead; put back afterwards."""
    kept = {name: estate.host(name).sh(f"cat {GRASTATE}", check=False).out for name in texts}
    for name, text in texts.items():
        estate.host(name).sh(f"cat > {GRASTATE}", stdin=text)
    try:
        yield
    finally:
        for name, text in kept.items():
            estate.host(name).sh(f"cat > {GRASTATE}", stdin=text)

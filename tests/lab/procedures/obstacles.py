"""What stands in a procedure's way, made for real on the hosts and taken back: one for each blocking preflight."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from services.procedures.facts_model import LockSeen
from services.procedures.lock import LOCK_FOLDER, lock_path, lock_text
from tests.lab.estate import galera
from tests.lab.estate.estate import Estate

Obstacle = Callable[[Estate], AbstractContextManager[object]]
GRASTATE = "/var/lib/mysql/grastate.dat"
OTHER_UUID = "6f1e7d3c-1111-11f0-9c0e-3b2f8d5a7c11"
ZERO_UUID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Procedures that must be refused with `code` while `obstacle` stands.

    Attributes:
        procedures: (name, inputs) of each.
        final: no override helps.
        inventory: (text, what stands for it) in the inventory.
    """

    code: str
    obstacle: Obstacle
    procedures: tuple[tuple[str, dict[str, object]], ...]
    final: bool = False
    inventory: tuple[str, str] = ("", "")

    def __str__(self) -> str:
        return "-".join((self.code, *(name for name, _ in self.procedures)))


@contextmanager
def nothing(estate: Estate) -> Iterator[None]:
    """No obstacle: the inputs or the product itself are the reason."""
    yield


def setting(host: str, variable: str, value: str, back: str) -> Obstacle:
    """A global variable of one node."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        estate.sql(host, f"SET GLOBAL {variable} = {value}")
        try:
            yield
        finally:
            estate.sql(host, f"SET GLOBAL {variable} = {back}")

    return made


def option_file(host: str, text: str) -> Obstacle:
    """One more option file, which no server has read yet."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        path = "/etc/mysql/mariadb.conf.d/98-obstacle.cnf"
        estate.host(host).sh(f"cat > {path}", stdin=text)
        try:
            yield
        finally:
            estate.host(host).sh(f"rm -f {path}")

    return made


def shell(host: str, do: str, back: str) -> Obstacle:
    """Something done by a shell command, and its way back."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        estate.host(host).sh(do)
        try:
            yield
        finally:
            estate.host(host).sh(back)

    return made


@contextmanager
def ddl_running(estate: Estate) -> Iterator[None]:
    """A DDL that lasts some seconds."""
    estate.sql("s1", "DROP TABLE IF EXISTS sbtest.slowly")
    statement = "CREATE TABLE sbtest.slowly (id BIGINT PRIMARY KEY) AS SELECT SLEEP(8) AS id"
    working = threading.Thread(target=lambda: estate.sql("s1", statement))
    working.start()
    try:
        yield
    finally:
        working.join(timeout=40)
        estate.sql("s1", "DROP TABLE IF EXISTS sbtest.slowly")


@contextmanager
def locked(estate: Estate) -> Iterator[None]:
    """Another console's lock on one host."""
    cluster = estate.sql("s1", "SHOW STATUS LIKE 'wsrep_cluster_state_uuid'")[0][1]
    text = lock_text(LockSeen("ann@elsewhere", "9", 1_700_000_000.0, "rolling-restart", cluster))
    estate.host("s1").sh(f"mkdir -p {LOCK_FOLDER}; cat > {lock_path(cluster)}", stdin=text)
    try:
        yield
    finally:
        estate.host("s1").sh(f"rm -f {lock_path(cluster)}")


@contextmanager
def node_down(estate: Estate) -> Iterator[None]:
    """One member has left cleanly; it comes back by IST."""
    estate.stop("s3")
    try:
        yield
    finally:
        estate.start("s3")
        estate.wait_synced(size=3)


@contextmanager
def large_data(estate: Estate) -> Iterator[None]:
    """The donor's data folder is nearly as large as the joiner's whole disk."""
    estate.fill("s1", leave_mb=48)
    try:
        yield
    finally:
        estate.unfill("s1")


@contextmanager
def skewed(estate: Estate) -> Iterator[None]:
    """The joiner's clock is a minute off."""
    estate.skew("new", 60, restart=False)
    try:
        yield
    finally:
        estate.skew("new", 0, restart=False)


def grastate(uuid: str, seqno: int = 100) -> str:
    """The text of a state file."""
    return f"# GALERA saved state\nversion: 2.1\nuuid:    {uuid}\nseqno:   {seqno}\nsafe_to_bootstrap: 0\n"


@contextmanager
def foreign_data(estate: Estate) -> Iterator[None]:
    """The joiner's data folder is another cluster's."""
    estate.host("new").sh(f"cat > {GRASTATE}", stdin=grastate(OTHER_UUID))
    try:
        yield
    finally:
        estate.host("new").sh(f"rm -f {GRASTATE}")


def states_replaced(**uuids: str) -> Obstacle:
    """All servers are down; these members' state files name another UUID. Theirs come back after it."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        for name in reversed(galera.members(estate.spec)):
            estate.stop(name)
        kept = {name: estate.host(name).sh(f"cat {GRASTATE}").out for name in uuids}
        for name, uuid in uuids.items():
            estate.host(name).sh(f"cat > {GRASTATE}", stdin=grastate(uuid))
        try:
            yield
        finally:
            for name, text in kept.items():
                estate.host(name).sh(f"cat > {GRASTATE}", stdin=text)
            galera.recover(estate.spec)

    return made

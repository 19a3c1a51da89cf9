"""What stands in a procedure's way, made for real on the hosts and taken back: one for each blocking preflight."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from services.procedures.engine.lock import LOCK_FOLDER, lock_path, lock_text
from services.procedures.plan.host_facts import LockSeen
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import Ran

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


def assert_refused(ran: Ran, code: str) -> dict[str, Any]:
    """Assert that a run with --json was refused, by this check too, and why; return the check."""
    assert ran.code == 1, ran
    blocked = {check["code"]: check for check in ran.document()["checks"] if check["verdict"] == "block"}
    assert code in blocked, json.dumps(list(blocked.values()), indent=1)
    check: dict[str, Any] = blocked[code]
    assert check["evidence"]
    assert check["why"]
    return check


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


def no_way(host: str, other: str) -> Obstacle:
    """No packet of `host` finds its way to `other`."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        address = estate.host(other).address
        with shell(host, f"ip route add unreachable {address}/32", f"ip route del unreachable {address}/32")(estate):
            yield

    return made


def together(*obstacles: Obstacle) -> Obstacle:
    """Several at once, made in this order."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        with ExitStack() as stack:
            for obstacle in obstacles:
                stack.enter_context(obstacle(estate))
            yield

    return made


@contextmanager
def ddl_running(estate: Estate) -> Iterator[None]:
    """A DDL that lasts until it is killed: a copy whose rows never come, so that no other node has heard of it."""
    estate.sql("s1", "DROP TABLE IF EXISTS sbtest.slowly")
    running = "SELECT id FROM information_schema.processlist WHERE info LIKE 'CREATE TABLE sbtest.slowly%'"

    def work() -> None:
        with contextlib.suppress(LabError):  # it is killed
            estate.sql("s1", "CREATE TABLE sbtest.slowly (id BIGINT PRIMARY KEY) AS SELECT SLEEP(900) AS id",
                       limit_s=900)  # fmt: skip

    def begun() -> None:
        assert estate.sql("s1", running), "the DDL has not begun"

    working = threading.Thread(target=work)
    working.start()
    try:
        while_asserts(begun, limit_s=30)
        yield
    finally:
        for (number,) in estate.sql("s1", running):
            estate.sql("s1", f"KILL QUERY {number}")
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
def one_outside(estate: Estate) -> Iterator[None]:
    """s3 runs and has lost the others, which go on without it."""
    estate.partition(["s3"])
    try:
        estate.wait_synced(("s1", "s2"), size=2, limit_s=40)
        while_asserts(lambda: assert_alone(estate, "s3"), limit_s=40)
        yield
    finally:
        estate.heal()
        estate.wait_synced(size=3)


@contextmanager
def older_protocol(estate: Estate) -> Iterator[None]:
    """s3 has lost the others, and its provider may speak an older protocol only (in force from its next start on)."""
    (told,) = re.findall(r"repl\.proto_max = (\d+)", estate.sql("s3", "SELECT @@GLOBAL.wsrep_provider_options")[0][0])
    estate.sql("s3", f"SET GLOBAL wsrep_provider_options = 'repl.proto_max={int(told) - 1}'")
    try:
        with one_outside(estate):
            yield
    finally:
        estate.sql("s3", f"SET GLOBAL wsrep_provider_options = 'repl.proto_max={told}'")


def assert_alone(estate: Estate, host: str) -> None:
    """Assert that a server runs and is in no Primary Component."""
    said = estate.sql(host, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_status'")[0][1]
    assert said == "non-Primary", f"{host} is {said}"


@contextmanager
def locked_out(estate: Estate) -> Iterator[None]:
    """s3 is a full member, and only the console's reading account can't log in there."""
    alone = "SET SESSION wsrep_on = OFF; SET SESSION sql_log_bin = OFF; ALTER USER observer@'%' ACCOUNT"
    estate.sql("s3", f"{alone} LOCK")
    try:
        yield
    finally:
        estate.sql("s3", f"{alone} UNLOCK")


@contextmanager
def account_without_rights(estate: Estate) -> Iterator[None]:
    """The account that the donor s1 would log in with for a transfer may do nothing."""
    password = secrets.token_hex(12)
    estate.sql("s1", f"CREATE USER transfer@localhost IDENTIFIED BY '{password}'")
    try:
        with option_file("s1", f"[mysqld]\nwsrep_sst_auth = transfer:{password}\n")(estate):
            yield
    finally:
        estate.sql("s1", "DROP USER transfer@localhost")


@contextmanager
def account_with_another_password(estate: Estate) -> Iterator[None]:
    """That account has every right, and the donor's files have another password for it."""
    rights = "RELOAD, PROCESS, LOCK TABLES, BINLOG MONITOR"
    estate.sql("s1", f"CREATE USER transfer@localhost IDENTIFIED BY '{secrets.token_hex(12)}'")
    estate.sql("s1", f"GRANT {rights} ON *.* TO transfer@localhost")
    try:
        with option_file("s1", f"[mysqld]\nwsrep_sst_auth = transfer:{secrets.token_hex(12)}\n")(estate):
            yield
    finally:
        estate.sql("s1", "DROP USER transfer@localhost")


def disk_nearly_full(host: str) -> Obstacle:
    """The data folder is nearly as large as its whole disk, and as that of any other host."""

    @contextmanager
    def made(estate: Estate) -> Iterator[None]:
        estate.fill(host, leave_mb=48)
        try:
            yield
        finally:
            estate.unfill(host)

    return made


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

"""Asynchronous replication of an estate: one source, replicas by GTID, and what can be broken about it."""

from __future__ import annotations

from tests.lab.estate import accounts, database, vault
from tests.lab.estate.errors import LabError
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until

_PROBE = "sbtest.lab_probe"


def source(spec: EstateSpec) -> str:
    return next(h.name for h in spec.hosts if h.role == "source")


def replicas(spec: EstateSpec) -> tuple[str, ...]:
    return tuple(h.name for h in spec.hosts if h.role == "replica")


def form(spec: EstateSpec, *, limit_s: float = 120.0) -> None:
    """Start all servers, make the accounts on the source, point the replicas at it; until both threads run."""
    for host in spec.hosts:
        database.begin_start(spec, host.name)
    for host in spec.hosts:
        database.wait_active(spec, host.name, limit_s=limit_s)
    accounts.create(spec, source(spec))
    database.sql(spec, source(spec), f"CREATE TABLE {_PROBE} (id INT PRIMARY KEY, note VARCHAR(40)) ENGINE=InnoDB")
    for name in replicas(spec):
        point(spec, name)
    wait_replicating(spec, limit_s=limit_s)


def point(spec: EstateSpec, name: str) -> None:
    """Make `name` a read-only replica of the estate's source by GTID, over verified TLS (11.8 insists on it)."""
    password = vault.load()["replication"]
    database.sql(
        spec,
        name,
        f"SET GLOBAL read_only = ON; STOP SLAVE; CHANGE MASTER TO MASTER_HOST='{spec.address(source(spec))}', "
        f"MASTER_USER='replication', MASTER_PASSWORD='{password}', MASTER_USE_GTID=slave_pos, "
        "MASTER_SSL=1, MASTER_SSL_CA='/etc/mysql/tls/ca.pem', MASTER_SSL_VERIFY_SERVER_CERT=1, "
        "MASTER_CONNECT_RETRY=2; START SLAVE;",
    )


def replica_status(spec: EstateSpec, name: str) -> dict[str, str]:
    """SHOW SLAVE STATUS of `name` as column -> value; empty when it is no replica."""
    return database.record(spec, name, "SHOW SLAVE STATUS")


def wait_replicating(spec: EstateSpec, *, limit_s: float = 60.0) -> float:
    """Wait until both threads of every replica run; seconds taken."""

    def reason() -> str | None:
        for name in replicas(spec):
            said = replica_status(spec, name)
            threads = (said.get("Slave_IO_Running"), said.get("Slave_SQL_Running"))
            if threads != ("Yes", "Yes"):
                return (
                    f"{name}: IO {threads[0]}, SQL {threads[1]}, {said.get('Last_Error') or said.get('Last_IO_Error')}"
                )
        return None

    return wait_until("replication", reason, limit_s=limit_s)


def delay(spec: EstateSpec, name: str, seconds: int) -> None:
    """Hold the replica back by `seconds` (MASTER_DELAY); 0 ends that."""
    _must_be_replica(spec, name)
    database.sql(spec, name, f"STOP SLAVE; CHANGE MASTER TO MASTER_DELAY={seconds}; START SLAVE;")


def break_sql(spec: EstateSpec, name: str, *, limit_s: float = 20.0) -> None:
    """Put a row on the replica that the source then inserts too: its SQL thread stops with error 1062.

    The replica's own write is kept out of its binary log: an errant row, not an errant GTID.
    """
    _must_be_replica(spec, name)
    number = int(database.sql(spec, source(spec), f"SELECT COALESCE(MAX(id), 0) + 1 FROM {_PROBE}")[0][0])
    database.sql(spec, name, f"SET sql_log_bin = 0; INSERT INTO {_PROBE} VALUES ({number}, 'written on the replica')")
    database.sql(spec, source(spec), f"INSERT INTO {_PROBE} VALUES ({number}, 'written on the source')")

    def reason() -> str | None:
        said = replica_status(spec, name)
        return None if said.get("Last_SQL_Errno") == "1062" else f"SQL thread: {said.get('Slave_SQL_Running')}"

    delayed = int(replica_status(spec, name).get("SQL_Delay", "0"))
    wait_until(f"the SQL thread of {name} to fail", reason, limit_s=limit_s + delayed)


def break_io(spec: EstateSpec, name: str) -> None:
    """Let the replica log in with a wrong password: its IO thread keeps trying and says error 1045."""
    _must_be_replica(spec, name)
    database.sql(spec, name, "STOP SLAVE; CHANGE MASTER TO MASTER_PASSWORD='not the password'; START SLAVE;")


def repair(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> None:
    """Undo delay, break-sql and break-io: both threads run, no delay, the conflicting rows are the source's again."""
    _must_be_replica(spec, name)
    database.sql(
        spec,
        name,
        f"STOP SLAVE; SET sql_log_bin = 0; DELETE FROM {_PROBE} WHERE note = 'written on the replica'; "
        "CHANGE MASTER TO MASTER_DELAY=0;",
    )
    point(spec, name)
    catch_up(spec, name, limit_s=limit_s)


def catch_up(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> float:
    """Wait until the replica has applied what the source has written by now; seconds taken.

    Seconds_Behind_Master is no measure for it: it is 0 also before the IO thread has fetched anything.
    """
    wanted = database.sql(spec, source(spec), "SELECT @@gtid_binlog_pos")[0][0]

    def reason() -> str | None:
        if database.sql(spec, name, f"SELECT MASTER_GTID_WAIT('{wanted}', 0.2)")[0][0] == "0":
            return None
        said = replica_status(spec, name)
        return f"{name} has not reached {wanted}: {said.get('Last_Error')}{said.get('Last_IO_Error')}"

    return wait_until(f"{name} to catch up", reason, limit_s=limit_s)


def _must_be_replica(spec: EstateSpec, name: str) -> None:
    if spec.host(name).role != "replica":
        raise LabError(f"{name} is no replica; the replicas of {spec.name} are {', '.join(replicas(spec)) or 'none'}")

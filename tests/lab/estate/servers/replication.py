"""Asynchronous replication of an estate: one source, replicas by GTID, and what can be broken about it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.lab.estate import vault
from tests.lab.estate.errors import LabError
from tests.lab.estate.servers import accounts, config_mysql, database
from tests.lab.estate.servers.engine import MYSQL
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until

PROBE = "sbtest.lab_probe"
MAKE_PROBE = f"CREATE TABLE {PROBE} (id INT PRIMARY KEY, note VARCHAR(40)) ENGINE=InnoDB"
ERRANT = "written on the replica"
_GTID = ("gtid_binlog_pos", "MASTER_GTID_WAIT")


def source(spec: EstateSpec) -> str:
    return next(h.name for h in spec.hosts if h.role == "source")


def replicas(spec: EstateSpec) -> tuple[str, ...]:
    return tuple(h.name for h in spec.hosts if h.role == "replica")


def form(spec: EstateSpec, *, limit_s: float = 120.0) -> None:
    """Start its servers, make the accounts on the source, point the replicas at it; until both threads run."""
    names = (source(spec), *replicas(spec))
    for name in names:
        database.begin_start(spec, name)
    for name in names:
        database.wait_active(spec, name, limit_s=limit_s)
    accounts.create(spec, source(spec))
    database.sql(spec, source(spec), MAKE_PROBE)
    for name in replicas(spec):
        point(spec, name)
    wait_replicating(spec, limit_s=limit_s)


def _change(spec: EstateSpec, name: str, options: Mapping[str, int | str], also: str = "") -> str:
    """CHANGE MASTER or CHANGE REPLICATION SOURCE with these options (MySQL 8.4 took the old words away)."""
    prefix, verb = ("SOURCE", "REPLICATION SOURCE") if _is_mysql(spec, name) else ("MASTER", "MASTER")
    given = (f"{prefix}_{key}={value if isinstance(value, int) else repr(value)}" for key, value in options.items())
    return f"CHANGE {verb} TO {', '.join(given)}{also}; "


def _is_mysql(spec: EstateSpec, name: str) -> bool:
    return spec.host(name).engine is MYSQL


def _read_only(spec: EstateSpec, name: str, *, on: bool) -> str:
    """Make a replica read-only, as in life: on MySQL for root too, so the lab's own write there needs it off."""
    if _is_mysql(spec, name):
        return f"SET PERSIST super_read_only = {'ON' if on else 'OFF'}; "
    return "SET GLOBAL read_only = ON; "


def point(spec: EstateSpec, name: str) -> None:
    """Make `name` a read-only replica of the estate's source by GTID, over verified TLS (11.8 insists on it)."""
    options: dict[str, int | str] = {
        "HOST": spec.address(source(spec)),
        "USER": "replication",
        "PASSWORD": vault.load()["replication"],
        "SSL": 1,
        "CONNECT_RETRY": 2,
    }
    if _is_mysql(spec, name):
        # its certificate names no host
        how = _change(spec, name, {**options, "AUTO_POSITION": 1, "SSL_CA": config_mysql.CA})
    else:
        verified: dict[str, int | str] = {"SSL_CA": "/etc/mysql/tls/ca.pem", "SSL_VERIFY_SERVER_CERT": 1}
        how = _change(spec, name, {**options, **verified}, ", MASTER_USE_GTID=slave_pos")
    database.sql(spec, name, f"{_read_only(spec, name, on=True)}STOP REPLICA; {how}START REPLICA")


def replica_status(spec: EstateSpec, name: str) -> dict[str, str]:
    """SHOW REPLICA STATUS of `name` as column -> value, MySQL's new names as the old; empty when it is no replica."""
    said = database.record(spec, name, "SHOW REPLICA STATUS")
    return {key.replace("Replica_", "Slave_").replace("Source", "Master"): value for key, value in said.items()}


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
    database.sql(spec, name, f"STOP REPLICA; {_change(spec, name, {'DELAY': seconds})}START REPLICA")


def break_sql(spec: EstateSpec, name: str, *, limit_s: float = 20.0) -> None:
    """Put a row on the replica that the source then inserts too: its SQL thread stops with error 1062.

    The replica's own write is kept out of its binary log: an errant row, not an errant GTID.
    """
    _must_be_replica(spec, name)
    number = int(database.sql(spec, source(spec), f"SELECT COALESCE(MAX(id), 0) + 1 FROM {PROBE}")[0][0])
    database.sql(
        spec,
        name,
        f"{_read_only(spec, name, on=False)}SET sql_log_bin = 0; INSERT INTO {PROBE} VALUES ({number}, '{ERRANT}'); "
        f"{_read_only(spec, name, on=True)}",
    )
    database.sql(spec, source(spec), f"INSERT INTO {PROBE} VALUES ({number}, 'written on the source')")

    def reason() -> str | None:
        said = replica_status(spec, name)
        return None if said.get("Last_SQL_Errno") == "1062" else f"SQL thread: {said.get('Slave_SQL_Running')}"

    delayed = int(replica_status(spec, name).get("SQL_Delay", "0"))
    wait_until(f"the SQL thread of {name} to fail", reason, limit_s=limit_s + delayed)


def break_io(spec: EstateSpec, name: str) -> None:
    """Let the replica log in with a wrong password: its IO thread keeps trying and says error 1045."""
    _must_be_replica(spec, name)
    database.sql(spec, name, f"STOP REPLICA; {_change(spec, name, {'PASSWORD': 'not the password'})}START REPLICA")


def repair(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> None:
    """Undo delay, break-sql and break-io: both threads run, no delay, the conflicting rows are the source's again."""
    _must_be_replica(spec, name)
    database.sql(
        spec,
        name,
        f"STOP REPLICA; {_read_only(spec, name, on=False)}SET sql_log_bin = 0; "
        f"DELETE FROM {PROBE} WHERE note = '{ERRANT}'; {_change(spec, name, {'DELAY': 0})}",
    )
    point(spec, name)
    catch_up(spec, name, limit_s=limit_s)


def catch_up(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> float:
    """Wait until the replica has applied what the source has written by now; seconds taken.

    Seconds_Behind_Master is no measure for it: it is 0 also before the IO thread has fetched anything.
    """
    position, wait = ("gtid_executed", "WAIT_FOR_EXECUTED_GTID_SET") if _is_mysql(spec, name) else _GTID
    wanted = "".join(database.sql(spec, source(spec), f"SELECT @@GLOBAL.{position}")[0]).replace("\\n", "")

    def reason() -> str | None:
        if database.sql(spec, name, f"SELECT {wait}('{wanted}', 0.2)")[0][0] == "0":
            return None
        said = replica_status(spec, name)
        return f"{name} has not reached {wanted}: {said.get('Last_Error')}{said.get('Last_IO_Error')}"

    return wait_until(f"{name} to catch up", reason, limit_s=limit_s)


def _must_be_replica(spec: EstateSpec, name: str) -> None:
    if spec.host(name).role != "replica":
        raise LabError(f"{name} is no replica; the replicas of {spec.name} are {', '.join(replicas(spec)) or 'none'}")

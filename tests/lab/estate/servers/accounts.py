"""The database accounts of an estate: what each may do, and why not more."""

from __future__ import annotations

from tests.lab.estate import vault
from tests.lab.estate.servers import database
from tests.lab.estate.servers.engine import MYSQL
from tests.lab.estate.spec import EstateSpec

# PROCESS: other sessions, SHOW ENGINE INNODB STATUS, information_schema.INNODB_METRICS. BINLOG MONITOR: SHOW BINARY
# LOGS and SHOW MASTER STATUS. SLAVE MONITOR: SHOW REPLICA STATUS. The tables are those where the server keeps the
# members of the cluster and the applied GTIDs; performance_schema is off by package default but may be read where it
# is on. It may change nothing and sees no user data and no password hash (MariaDB KB: GRANT, "Global Privileges").
_OBSERVER_GLOBAL = "PROCESS, BINLOG MONITOR, SLAVE MONITOR"
_OBSERVER_TABLES: tuple[str, ...] = ("performance_schema.*", "mysql.gtid_slave_pos")
_OBSERVER_TABLES_GALERA: tuple[str, ...] = ("mysql.wsrep_cluster", "mysql.wsrep_cluster_members")


# REPLICATION CLIENT: SHOW REPLICA STATUS, SHOW BINARY LOG STATUS. REPLICATION SLAVE is for SHOW REPLICAS alone.
# performance_schema: the members and statistics of a group, its channels and appliers (MySQL manual, "Performance
# Schema Replication Tables"); its tables need SELECT.
_OBSERVER_MYSQL = "PROCESS, REPLICATION CLIENT, REPLICATION SLAVE"
# Recovery may clone a whole server (BACKUP_ADMIN on the donor), and the plugin keeps its own connections (CONNECTION_
# ADMIN, GROUP_REPLICATION_STREAM): MySQL manual, "User Credentials For Distributed Recovery".
_RECOVERY = "REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM"


def statements(spec: EstateSpec) -> str:
    """SQL for the schema and the accounts, in the words of the estate's server."""
    return _mysql(spec) if spec.hosts[0].engine is MYSQL else _mariadb(spec)


def _mysql(spec: EstateSpec) -> str:
    known = vault.load()
    return "\n".join(
        (
            "CREATE DATABASE sbtest;",
            f"CREATE USER {spec.observer}@'%' IDENTIFIED BY '{known['observer']}';",
            f"GRANT {_OBSERVER_MYSQL} ON *.* TO {spec.observer}@'%';",
            f"GRANT SELECT ON performance_schema.* TO {spec.observer}@'%';",
            f"CREATE USER pilot@'%' IDENTIFIED BY '{known['pilot']}';",
            "GRANT ALL PRIVILEGES ON *.* TO pilot@'%' WITH GRANT OPTION;",
            f"CREATE USER sysbench@'%' IDENTIFIED BY '{known['sysbench']}';",
            "GRANT ALL PRIVILEGES ON sbtest.* TO sysbench@'%';",
            f"CREATE USER replication@'%' IDENTIFIED BY '{known['replication']}';",
            f"GRANT {_RECOVERY} ON *.* TO replication@'%';",
        )
    )


def _mariadb(spec: EstateSpec) -> str:
    """SQL for schema sbtest and the accounts observer, pilot, sysbench and (asynchronous estates) replication."""
    known = vault.load()
    galera = any(h.role == "galera" for h in spec.hosts)
    tables = _OBSERVER_TABLES + (_OBSERVER_TABLES_GALERA if galera else ())
    lines = [
        "CREATE DATABASE sbtest;",
        f"CREATE USER observer@'%' IDENTIFIED BY '{known['observer']}';",
        f"GRANT {_OBSERVER_GLOBAL} ON *.* TO observer@'%';",
        *(f"GRANT SELECT ON {table} TO observer@'%';" for table in tables),
        f"CREATE USER pilot@'%' IDENTIFIED BY '{known['pilot']}';",
        "GRANT ALL PRIVILEGES ON *.* TO pilot@'%' WITH GRANT OPTION;",
        f"CREATE USER sysbench@'%' IDENTIFIED BY '{known['sysbench']}';",
        "GRANT ALL PRIVILEGES ON sbtest.* TO sysbench@'%';",
    ]
    if not galera:
        lines.append(f"CREATE USER replication@'%' IDENTIFIED BY '{known['replication']}';")
        lines.append("GRANT REPLICATION SLAVE ON *.* TO replication@'%';")
    return "\n".join(lines)


def create(spec: EstateSpec, name: str) -> None:
    """Make them on `name`; replication carries them to the other hosts."""
    database.sql(spec, name, statements(spec))

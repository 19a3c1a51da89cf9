"""Backups as a DBA's nightly job makes them: a full one and incrementals after it, on the node's own disk."""

from __future__ import annotations

from tests.lab.estate.estate import Estate
from tests.lab.procedures.whole import members

FOLDER = "/var/backups/lab"
TABLE = "sbtest.restored"
_MAKE = f"CREATE TABLE IF NOT EXISTS {TABLE} (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(200))"
_MORE = f"INSERT INTO {TABLE} (text) SELECT REPEAT('x', 100) FROM sbtest.seq_1_to_200"
_BACKUP = "mariadb-backup --backup --galera-info --target-dir={folder}/{name}{base} > /tmp/{name}.log 2>&1"


def make_chain(estate: Estate, host: str, incrementals: int = 2) -> tuple[str, ...]:
    """Make a full backup and incrementals of a running node, rows and a new table between them; return the folders.

    Another node is written on, as is usual: a backup of one that only applies says no GTID of its last change itself.
    The observing account may read the tables that are compared: so it is told to be set up.
    """
    writer = next(one for one in members(estate) if one != host)
    estate.sql(writer, _MAKE)
    estate.sql(writer, "GRANT SELECT ON sbtest.* TO observer@'%'")
    estate.host(host).sh(f"rm -rf {FOLDER}; mkdir -p {FOLDER}")
    names = ("full", *(f"inc{number}" for number in range(1, incrementals + 1)))
    for before, name in zip((None, *names), names, strict=False):
        estate.sql(writer, _MORE)
        if before is not None:  # a table that only this incremental has whole
            estate.sql(writer, f"CREATE TABLE IF NOT EXISTS {TABLE}_{name} (id INT PRIMARY KEY)")
            estate.sql(writer, f"REPLACE INTO {TABLE}_{name} VALUES (1), (2)")
        estate.sql(host, f"SET SESSION wsrep_sync_wait = 1; SELECT COUNT(*) FROM {TABLE}")
        base = f" --incremental-basedir={FOLDER}/{before}" if before is not None else ""
        made = estate.host(host).sh(_BACKUP.format(folder=FOLDER, name=name, base=base), check=False)
        assert made.ok, estate.host(host).sh(f"tail -5 /tmp/{name}.log").out
    estate.sql(writer, _MORE)
    return tuple(f"{FOLDER}/{name}" for name in names)


def tables(incrementals: int = 2) -> str:
    """The tables of a chain, as the procedure's input takes them."""
    return ",".join((TABLE, *(f"{TABLE}_inc{number}" for number in range(1, incrementals + 1))))


def forget(estate: Estate, host: str) -> None:
    """Remove the backups, what a run kept of the old data, and its copies."""
    estate.host(host).sh(
        f"rm -rf {FOLDER} {FOLDER}-* /var/lib/mysql/.pilothouse-before* /var/lib/mysql/#sql-pilothouse-* "
        "/var/lib/pilothouse/restore",
        check=False,
    )

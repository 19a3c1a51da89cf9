"""Asynchronous replication as a server knows it, out of SHOW ALL SLAVES STATUS / SHOW REPLICA STATUS and its kin.

Old and new words are made one: "Source" reads as "master", "Replica" as "slave" (MySQL 8.0.22 renamed the columns,
MariaDB has both). A NULL stays None: Seconds_Behind is NULL when a thread does not run, which is not 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.connections.ports import Rows, SqlValue
from services.facts.model import ReplicaSeen, ReplicationChannel, ReplicationFacts
from services.facts.reading import amount, count, first, flag, host_port, words

MOST_CHANNELS = 256
MOST_REPLICAS = 1024

GROUP_CHANNELS = ("group_replication_applier", "group_replication_recovery")
"""Group Replication's own channels: they belong to the group, not to an asynchronous source."""


def parse_replication(
    channels: Rows | None,
    replicas: Rows | None = None,
    processes: Rows | None = None,
    variables: Mapping[str, str] | None = None,
) -> ReplicationFacts | None:
    """Return both directions of replication; None when the server has neither and was not asked for channels.

    Args:
        channels: SHOW ALL SLAVES STATUS / SHOW REPLICA STATUS / SHOW SLAVE STATUS.
        replicas: SHOW SLAVE HOSTS / SHOW REPLICAS (needs a right a read-only account may lack).
        processes: SHOW PROCESSLIST: its Binlog Dump threads tell the replicas' addresses when `replicas` is refused.
    """
    if channels is None and replicas is None and processes is None:
        return None
    settings = variables or {}
    return ReplicationFacts(
        channels=parse_channels(channels),
        replicas=parse_replicas(replicas) or dumping(processes),
        gtid_binlog_pos=words(settings.get("gtid_binlog_pos", ""), 4000),
        gtid_executed=words(first(settings, "gtid_executed", "gtid_current_pos"), 100_000),
        gtid_strict=flag(settings.get("gtid_strict_mode", "")),
    )


def parse_channels(rows: Rows | None) -> tuple[ReplicationChannel, ...]:
    """Return one channel a row; rows without a source and the group's own channels are left out."""
    if rows is None:
        return ()
    found = []
    for row in rows.rows[:MOST_CHANNELS]:
        values = _plain(rows.columns, row)
        name = words(values.get("connection_name") or values.get("channel_name"))
        if name in GROUP_CHANNELS or not words(values.get("master_host")):
            continue
        found.append(_channel(name, values))
    return tuple(found)


def _plain(columns: tuple[str, ...], row: tuple[SqlValue, ...]) -> dict[str, SqlValue]:
    """Return a row by one vocabulary; a wrong number of columns loses only what is beyond the shorter side."""
    return {
        str(column).lower().replace("replica_", "slave_").replace("source", "master"): value
        for column, value in zip(columns, row, strict=False)
    }


def _channel(name: str, values: Mapping[str, SqlValue]) -> ReplicationChannel:
    delay = count(values.get("sql_delay"))
    return ReplicationChannel(
        name=name,
        source_host=words(values.get("master_host"), 255),
        source_port=count(values.get("master_port")) or 3306,
        source_uuid=words(values.get("master_uuid")).lower(),
        source_server_id=count(values.get("master_server_id")) or None,
        io_running=words(values.get("slave_io_running")),
        sql_running=words(values.get("slave_sql_running")),
        seconds_behind=amount(values.get("seconds_behind_master")),
        io_error=words(values.get("last_io_error")),
        io_errno=count(values.get("last_io_errno")) or 0,
        sql_error=words(values.get("last_sql_error")) or words(values.get("last_error")),
        sql_errno=count(values.get("last_sql_errno")) or count(values.get("last_errno")) or 0,
        gtid_mode=_gtid_mode(values),
        gtid_received=words(values.get("gtid_io_pos") or values.get("retrieved_gtid_set"), 100_000),
        gtid_executed=words(values.get("gtid_slave_pos") or values.get("executed_gtid_set"), 100_000),
        source_log_file=words(values.get("master_log_file")),
        read_log_pos=count(values.get("read_master_log_pos")),
        exec_log_pos=count(values.get("exec_master_log_pos")),
        relay_log_file=words(values.get("relay_log_file")),
        relay_log_space=count(values.get("relay_log_space")),
        delay_s=delay if delay is not None and delay < 10**9 else 0,
        remaining_delay_s=amount(values.get("sql_remaining_delay")),
        sql_state=words(values.get("slave_sql_running_state") or values.get("slave_sql_state")),
        io_state=words(values.get("slave_io_state")),
    )


def _gtid_mode(values: Mapping[str, SqlValue]) -> str:
    """Return how the channel finds its place: MariaDB's own word, or AUTO / No for MySQL's Auto_Position."""
    if "using_gtid" in values:
        return words(values["using_gtid"])
    automatic = flag(values.get("auto_position"))
    return "" if automatic is None else ("AUTO" if automatic else "No")


def parse_replicas(rows: Rows | None) -> tuple[ReplicaSeen, ...]:
    """Return SHOW SLAVE HOSTS / SHOW REPLICAS. Host is what the replica reports of itself and may be ''."""
    if rows is None:
        return ()
    found = []
    for row in rows.rows[:MOST_REPLICAS]:
        values = _plain(rows.columns, row)
        found.append(
            ReplicaSeen(
                server_id=count(values.get("server_id")),
                host=words(values.get("host"), 255),
                port=count(values.get("port")) or 3306,
                server_uuid=words(values.get("slave_uuid")).lower(),
            )
        )
    return tuple(found)


def dumping(rows: Rows | None) -> tuple[ReplicaSeen, ...]:
    """Return the hosts that fetch binary logs right now, out of SHOW PROCESSLIST; their port there is the client's."""
    if rows is None:
        return ()
    hosts: dict[str, None] = {}
    for row in rows.rows[:20_000]:
        values = _plain(rows.columns, row)
        if words(values.get("command")).lower().startswith("binlog dump"):
            host, _ = host_port(words(values.get("host"), 255))
            if host:
                hosts[host] = None
    return tuple(ReplicaSeen(host=host) for host in list(hosts)[:MOST_REPLICAS])

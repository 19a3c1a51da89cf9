"""Asynchronous replication as a server knows it, out of SHOW ALL SLAVES STATUS / SHOW REPLICA STATUS and its kin.

Old and new words are made one: "Source" reads as "master", "Replica" as "slave" (MySQL 8.0.22 renamed the columns,
MariaDB has both). A NULL stays None: Seconds_Behind is NULL when a thread does not run, which is not 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from services.connections.ports import Rows, SqlValue, text
from services.facts.model import Problem, ReplicaSeen, ReplicationChannel, ReplicationFacts
from services.facts.reading import absent, amount, client_host, count, first, flag, may_be_cut, port_of, words
from services.facts.replication import gtid
from services.facts.server.dialect import in_a_group
from services.i18n import tr_n

MOST_CHANNELS = 256
MOST_REPLICAS = 1024
MOST_WORKERS = 4096
MOST_DELAY_S = 2**31
"""CHANGE REPLICATION SOURCE TO takes less (MySQL manual, SOURCE_DELAY)."""
MOST_PROCESSES = 20_000
MOST_BEHIND_S = 10**9
"""Longer than any server has replicated (MySQL 3.23.15, 2000): a difference that wrapped round, or of an event without
a time, is no lag."""

GROUP_CHANNELS = ("group_replication_applier", "group_replication_recovery")
"""Group Replication's own channels: they belong to the group, not to an asynchronous source.

Only where a group is configured: elsewhere such a name is one like others (MariaDB takes any for a connection).
"""


def parse_replication(
    channels: Rows | None,
    replicas: Rows | None = None,
    processes: Rows | None = None,
    variables: Mapping[str, str] | None = None,
    appliers: Rows | None = None,
) -> ReplicationFacts | None:
    """Return both directions of replication; None when the server has neither and was not asked for channels.

    Args:
        channels: SHOW ALL SLAVES STATUS / SHOW REPLICA STATUS / SHOW SLAVE STATUS.
        replicas: SHOW SLAVE HOSTS / SHOW REPLICAS (needs a right a read-only account may lack).
        processes: SHOW PROCESSLIST: its Binlog Dump threads tell the replicas' addresses when `replicas` is refused.
        appliers: replication_applier_status_by_worker (MySQL 5.7 and newer), where an applier has stopped.
    """
    if channels is None and replicas is None and processes is None:
        return None
    settings = variables or {}
    kept = _Kept()
    executed = kept(_gtids(first(settings, "gtid_executed", "gtid_current_pos")))
    found = _with_reasons(parse_channels(channels, grouped=in_a_group(settings)), appliers)
    return ReplicationFacts(
        channels=tuple(
            replace(c, gtid_executed=kept(c.gtid_executed), gtid_received=kept(c.gtid_received)) for c in found
        ),
        replicas=parse_replicas(replicas) or dumping(processes),
        gtid_binlog_pos=kept(_gtids(settings.get("gtid_binlog_pos", ""))),
        gtid_executed=executed,
        gtid_strict=flag(settings.get("gtid_strict_mode", "")),
    )


class _Kept:
    """Keeps the GTID sets of one server as long as all of them that differ have room; else TOO_LARGE."""

    def __init__(self) -> None:
        self._room = gtid.MOST_OF_A_SERVER
        self._have: dict[str, str] = {}

    def __call__(self, one: str) -> str:
        if one not in self._have:
            fits = len(one) <= self._room
            self._room -= len(one) if fits else 0
            self._have[one] = one if fits else gtid.TOO_LARGE
        return self._have[one]


def replication_problems(facts: ReplicationFacts | None) -> tuple[Problem, ...]:
    """Return why the GTIDs of a server tell nothing: some of its sets are too large to be computed with, or cut."""
    if facts is None:
        return ()
    sets = [one for c in facts.channels for one in (c.gtid_received, c.gtid_executed)]
    sets += [facts.gtid_executed, facts.gtid_binlog_pos]
    large = sets.count(gtid.TOO_LARGE)
    return (*_cut(sets.count(gtid.CUT)), *_too_large(large))


def _cut(cut: int) -> tuple[Problem, ...]:
    if not cut:
        return ()
    sentence = tr_n(
        "{n} of its GTID sets is as long as values that servers truncate: how many transactions are missing "
        "is not known",
        "{n} of its GTID sets are as long as values that servers truncate: how many transactions are missing "
        "is not known",
        cut,
        n=cut,
    )
    return (Problem("gtid", sentence, "gtid-cut"),)


def _too_large(large: int) -> tuple[Problem, ...]:
    if not large:
        return ()
    sentence = tr_n(
        "{n} of its GTID sets is too large to compare: how many transactions are missing is not known",
        "{n} of its GTID sets are too large to compare: how many transactions are missing is not known",
        large,
        n=large,
    )
    return (Problem("gtid", sentence, "gtid-too-large"),)


def parse_channels(rows: Rows | None, *, grouped: bool = False) -> tuple[ReplicationChannel, ...]:
    """Return one channel a row; rows without a source are left out, and in a group (`grouped`) its own channels."""
    if rows is None:
        return ()
    found = []
    for row in rows.rows[:MOST_CHANNELS]:
        values = _plain(rows.columns, row)
        name = words(values.get("connection_name") or values.get("channel_name"))
        if (grouped and name in GROUP_CHANNELS) or not words(values.get("master_host")):
            continue
        found.append(_channel(name, values))
    return tuple(found)


def applier_stopped(channels: Rows | None, *, grouped: bool = False) -> bool:
    """Return whether an SQL thread stopped on an error: with several workers its own words only name the table."""
    return any(c.sql_errno and c.sql_running.lower() != "yes" for c in parse_channels(channels, grouped=grouped))


def _with_reasons(channels: tuple[ReplicationChannel, ...], appliers: Rows | None) -> tuple[ReplicationChannel, ...]:
    """Return the channels whose SQL thread stopped with the error of the worker that failed.

    The coordinator says only that a worker failed (MySQL manual, "The replication_applier_status_by_worker Table").
    """
    failed: dict[str, tuple[int, str]] = {}
    for row in appliers.dicts()[:MOST_WORKERS] if appliers is not None else ():
        number, message = count(row.get("LAST_ERROR_NUMBER")), words(row.get("LAST_ERROR_MESSAGE"), 1000)
        if number and message:
            failed.setdefault(words(row.get("CHANNEL_NAME")), (number, message))
    return tuple(
        replace(c, sql_errno=failed[c.name][0], sql_error=failed[c.name][1])
        if c.name in failed and c.sql_errno and c.sql_running.lower() != "yes"
        else c
        for c in channels
    )


def _plain(columns: tuple[str, ...], row: tuple[SqlValue, ...]) -> dict[str, SqlValue]:
    """Return a row by one vocabulary; a wrong number of columns loses only what is beyond the shorter side."""
    return {
        str(column).lower().replace("replica_", "slave_").replace("source", "master"): value
        for column, value in zip(columns, row, strict=False)
    }


def _channel(name: str, values: Mapping[str, SqlValue]) -> ReplicationChannel:
    return ReplicationChannel(
        name=name,
        source_host=words(values.get("master_host"), 255),
        source_port=port_of(values.get("master_port")),
        source_uuid=words(values.get("master_uuid")).lower(),
        source_server_id=count(values.get("master_server_id")) or None,
        io_running=words(values.get("slave_io_running")),
        sql_running=words(values.get("slave_sql_running")),
        seconds_behind=_span(values.get("seconds_behind_master")),
        io_error=words(values.get("last_io_error")),
        io_errno=count(values.get("last_io_errno")) or 0,
        sql_error=words(values.get("last_sql_error")) or words(values.get("last_error")),
        sql_errno=count(values.get("last_sql_errno")) or count(values.get("last_errno")) or 0,
        gtid_mode=_gtid_mode(values),
        gtid_received=_gtids(values.get("gtid_io_pos") or values.get("retrieved_gtid_set")),
        gtid_executed=_gtids(values.get("gtid_slave_pos") or values.get("executed_gtid_set")),
        source_log_file=words(values.get("master_log_file")),
        read_log_pos=count(values.get("read_master_log_pos")),
        exec_log_pos=count(values.get("exec_master_log_pos")),
        relay_log_file=words(values.get("relay_log_file")),
        relay_log_space=count(values.get("relay_log_space")),
        delay_s=_delay(values.get("sql_delay")),
        remaining_delay_s=_span(values.get("sql_remaining_delay")),
        sql_state=words(values.get("slave_sql_running_state") or values.get("slave_sql_state")),
        io_state=words(values.get("slave_io_state")),
    )


def _delay(value: SqlValue) -> int | None:
    """Return by how many seconds a replica is held back on purpose, None for what is no such number.

    The column came with MySQL 5.6 and MariaDB 10.2.3, the option with it: NULL and no column are no delay.
    """
    found = count(value)
    return 0 if absent(value) else found if found is not None and found < MOST_DELAY_S else None


def _span(value: SqlValue) -> float | None:
    """Return a span in seconds; None for NULL and for a number that none can have."""
    found = amount(value)
    return found if found is not None and found < MOST_BEHIND_S else None


def received_gap(channel: ReplicationChannel) -> int | None:
    """Return how many transactions a channel has received and not executed, None where that is not all there is to say.

    While the IO thread does not run, what is not received is not known: 0 says nothing then.
    """
    inside = gtid.gap(channel.gtid_received, channel.gtid_executed)
    return inside if channel.io_running.lower() == "yes" else inside or None


def _gtids(value: SqlValue) -> str:
    """Return a set as one line; TOO_LARGE for one that is longer than a set may be, CUT for one that was cut perhaps:
    a part of a set is another set.
    """
    line = text(value)
    if may_be_cut(line):
        return gtid.CUT
    if not gtid.fits(line):
        return gtid.TOO_LARGE
    line = line.replace("\n", " ").strip()  # MySQL prints a source a line
    return line if line.isascii() and line.isprintable() else words(line)


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
                port=port_of(values.get("port")),
                server_uuid=words(values.get("slave_uuid")).lower(),
            )
        )
    return tuple(found)


def tells_of_all(processes: Rows | None, status: Mapping[str, str]) -> bool:
    """Return whether a process list holds the sessions of others too, so that who is missing there is not there.

    Without PROCESS the server shows the account its own sessions and refuses nothing (MySQL manual and MariaDB KB,
    "SHOW PROCESSLIST"): then another user's row, or no more connected threads than rows, shows that it is whole.
    """
    if processes is None:
        return False
    users = {words(_plain(processes.columns, row).get("user")) for row in processes.rows[:MOST_PROCESSES]}
    connected = count(status.get("Threads_connected"))
    return len(users) > 1 or (connected is not None and connected <= len(processes.rows))


def dumping(rows: Rows | None) -> tuple[ReplicaSeen, ...]:
    """Return the hosts that fetch binary logs right now, out of SHOW PROCESSLIST; their port there is the client's."""
    if rows is None:
        return ()
    hosts: dict[str, None] = {}
    for row in rows.rows[:MOST_PROCESSES]:
        values = _plain(rows.columns, row)
        if words(values.get("command")).lower().startswith("binlog dump"):
            host = client_host(words(values.get("host"), 255))
            if host:
                hosts[host] = None
    return tuple(ReplicaSeen(host=host) for host in list(hosts)[:MOST_REPLICAS])

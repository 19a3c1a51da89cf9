"""Identity and settings of a database server, out of its variables and status."""

from __future__ import annotations

from collections.abc import Mapping

from services.facts.logs.json_log import log_file
from services.facts.model import ServerFacts
from services.facts.reading import amount, count, first, flag, may_be_cut, port_of, words
from services.facts.server.dialect import identify, is_aurora, service_of

_LONGEST_PATH = 4096
_STRICTEST = "NO_LOCK_NO_ADMIN"
_STRICTER = frozenset({"NO_LOCK", _STRICTEST})
SHOWN = (
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "innodb_redo_log_capacity",
    "innodb_log_file_size",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_doublewrite",
    "max_connections",
    "binlog_format",
    "binlog_row_image",
    "log_slave_updates",
    "log_replica_updates",
    "gtid_mode",
    "gtid_strict_mode",
    "gtid_domain_id",
    "rpl_semi_sync_master_enabled",
    "rpl_semi_sync_source_enabled",
    "slave_parallel_threads",
    "replica_parallel_workers",
    "wsrep_slave_threads",
    "wsrep_applier_threads",
    "wsrep_sst_method",
    "wsrep_sst_donor",
    "wsrep_provider_options",
    "pxc_strict_mode",
    "character_set_server",
    "time_zone",
)
"""Settings that matter in the inspector, in reading order; those a server does not have are left out."""


def parse_server(variables: Mapping[str, str], status: Mapping[str, str], at: float) -> ServerFacts:
    """Return who the server is. Missing variables leave their fields empty.

    Args:
        at: UTC epoch seconds of the answer: start time is `at` minus Uptime.
    """
    identity = identify(variables)
    uptime = amount(status.get("Uptime", ""))
    uptime = None if uptime is None or uptime > at else uptime
    return ServerFacts(
        flavour=identity.flavour,
        version=identity.version,
        version_text=words(variables.get("version", "")),
        version_key=identity.version_key,
        comment=words(variables.get("version_comment", "")),
        hostname=words(variables.get("hostname", "")),
        port=port_of(variables.get("port", "")),
        server_id=count(variables.get("server_id", "")),
        server_uuid=words(variables.get("server_uuid", "")).lower(),
        server_uid=words(variables.get("server_uid", "")),
        report_host=words(variables.get("report_host", "")),
        uptime_s=uptime,
        started_at=None if uptime is None else at - uptime,
        read_only=read_only_of(variables.get("read_only", "")),
        super_read_only=_super_read_only(variables),
        read_only_word=_not_known(variables.get("read_only", "")),
        engine_read_only=flag(variables.get("innodb_read_only", "")),
        shares_volume=is_aurora(variables),
        service=service_of(variables),
        session_read_only=flag(first(variables, "transaction_read_only", "tx_read_only")),
        forced_recovery=count(variables.get("innodb_force_recovery", "")),
        offline=flag(variables.get("offline_mode", "")),
        datadir=_path(variables, "datadir"),
        socket=_path(variables, "socket"),
        log_error=log_file(_path(variables, "log_error"), variables.get("log_error_services", "")),
        log_bin=flag(variables.get("log_bin", "")),
        variables=tuple((name, _shown(variables[name])) for name in SHOWN if name in variables),
    )


def read_only_of(value: str) -> bool | None:
    """Return whether a server takes no writes of clients by its read_only; None for a value that is not known.

    MariaDB 12.0.1 and newer have more than a switch there: OFF, ON, NO_LOCK, NO_LOCK_NO_ADMIN (MDEV-36425), the last
    two stricter than ON.
    """
    return True if value.strip().upper() in _STRICTER else flag(value)


def is_sealed(variables: Mapping[str, str]) -> bool:
    """Return whether it is known that nobody but replication writes on a server, its administrators included."""
    return _super_read_only(variables) is True


def _super_read_only(variables: Mapping[str, str]) -> bool | None:
    """Return whether administrators may not write either: MySQL's own switch, or MariaDB's strictest read_only."""
    if variables.get("read_only", "").strip().upper() == _STRICTEST:
        return True
    return flag(variables.get("super_read_only", ""))


def _not_known(value: str) -> str:
    return words(value, 40) if read_only_of(value) is None else ""


def _path(variables: Mapping[str, str], name: str) -> str:
    """Return a path as the server wrote it, '' for one that is longer than paths are (PATH_MAX)."""
    value = variables.get(name, "")
    return value if len(value) <= _LONGEST_PATH and not may_be_cut(value) else ""


def _shown(value: str) -> str:
    return f"{words(value, 4000)}…" if may_be_cut(value) else words(value, 4000)

"""Which settings of a server may be shown: those known to be harmless. Every other one's value is masked. Pure.

A list of secrets is never whole: `file_key_management_filekey`, `authentication_ldap_simple_bind_root_pwd`, the token
of a key vault, and whatever the next plug-in brings. So this is the list of what holds none: families of options by the
beginning of their names, and single ones. Sources: MySQL manual, "Server Option, System Variable, and Status Variable
Reference"; MariaDB KB, "Full List of MariaDB Options, System and Status Variables"; Percona XtraDB Cluster manual,
"XtraBackup SST Configuration".
"""

from __future__ import annotations

import re

_TELLING = re.compile(
    r"(?:^|_)(?:auth|password|passwd|passw|pass|pwd|passphrase|secrets?|token|credentials?|filekey)(?:$|_)"
    r"|key_pass|encrypt_key$|bindpw|api_?key"
)
"""Words that make a name a secret's, whatever family it belongs to."""
_FAMILIES = (
    "aria_", "auto_increment_", "back_log", "big_tables", "binlog_", "bulk_insert_", "cert", "character_set",
    "collation", "completion_type", "concurrent_insert", "connect_timeout", "deadlock_", "default_",
    "delay_key_write", "delayed_", "disabled_storage_engines", "div_precision_increment", "encrypt_", "enforce_",
    "eq_range_", "event_scheduler", "expire_logs_days", "explicit_defaults_", "extra_max_", "extra_port", "flush",
    "foreign_key_checks", "ft_", "general_log", "group_replication_", "gtid_", "have_", "histogram_",
    "host_cache_size", "idle_", "ignore_", "in_transaction", "innodb_", "interactive_timeout", "join_", "keep_files_",
    "key_buffer_size", "key_cache_", "large_", "lc_", "local_infile", "lock_wait_timeout", "log_", "long_query_time",
    "low_priority_", "lower_case_", "master_info_", "master_verify_", "max_", "metadata_", "min_", "mrr_", "myisam_",
    "mysqlx_", "net_", "old_alter_", "old_mode", "open_files_limit", "optimizer_", "parser_", "performance_schema",
    "plugin_dir", "plugin_load", "preload_", "profiling", "progress_report", "pxc_", "query_", "range_", "read_",
    "relay_", "replica_", "replicate_", "report_host", "report_port", "require_secure_", "rowid_", "rpl_",
    "secure_file_priv", "server_", "session_track_", "show_", "skip_", "slave_", "slow_", "socket", "sort_",
    "source_verify_", "sql_", "ssl_", "stored_", "strict_", "sync_", "system_time", "system_versioning", "table_",
    "thread_", "threadpool_", "time_", "tls_", "tmp", "transaction_", "tx_", "updatable_views", "use_stat_tables",
    "userstat", "version", "wait_timeout", "windowing_", "wsrep_",
)  # fmt: skip
_SINGLE = frozenset({
    "alter_algorithm", "autocommit", "automatic_sp_privileges", "basedir", "bind_address", "core_file", "core_dump",
    "datadir", "file_key_management_filename", "file_key_management_encryption_algorithm", "gdb", "hostname",
    "init_file", "license", "memlock", "name", "new", "pid_file", "port", "protocol_version",
    "proxy_protocol_networks", "read_only", "super_read_only", "user", "wsrep", "low_priority_updates", "nice",
    "open_files", "syslog", "symbolic_links", "external_locking", "unix_socket", "feedback", "federated", "archive",
    "blackhole", "partition", "debug", "console", "loose", "mysqld", "malloc_lib", "numa_interleave", "flush_caches",
    "ledir", "defaults_file", "chroot",
})  # fmt: skip
_OF_SST = frozenset({
    "streamfmt", "transferfmt", "encrypt", "encrypt_algo", "encrypt_format", "tca", "tcert", "tkey", "tmode",
    "tcapath", "sockopt", "ncsockopt", "progress", "rebuild", "time", "rlimit", "incremental", "use_extra", "cpat",
    "compressor", "decompressor", "inno_backup_opts", "inno_apply_opts", "inno_move_opts", "sst_initial_timeout",
    "sst_idle_timeout", "ssl_ca", "ssl_cert", "ssl_key", "ssl_capath", "backup_threads", "parallel", "compress",
    "compress_threads", "tmpdir", "throttle", "rsync_extra_opts", "backup_locks", "use_memory", "sst_special_dirs",
    "wsrep_sst_method", "compress_chunk_size", "open_files_limit", "databases_exclude", "target_dir", "galera_info",
    "stream", "kill_long_queries_timeout",
})  # fmt: skip
_NEVER = frozenset({"wsrep_notify_cmd", "ssl_passphrase", "init_connect", "init_slave", "init_replica"})
"""Lines of programs and statements: a password may stand anywhere in them."""


def normal(option: str) -> str:
    """Return an option's name with underscores and without a `loose-` prefix."""
    name = option.strip().lstrip("-").replace("-", "_").lower()
    return name.removeprefix("loose_")


def is_secret(option: str) -> bool:
    """Return whether an option's value is, or may be, a secret: it is never kept nor shown."""
    name = normal(option)
    if _TELLING.search(name) is not None or name in _NEVER:
        return True
    return not (name in _SINGLE or name in _OF_SST or name.startswith(_FAMILIES))

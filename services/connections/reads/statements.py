"""Every statement that the Observer road may send. What is not here can't be sent, whoever asks.

Products differ in their words (services/facts/server/dialect.py says which of them are whose).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from services.connections.reads.kinds import GLOBAL_NAME, IDENTIFIER, VARIABLE_NAME, Kind
from services.connections.reads.template import SqlTemplate

_KNOWN: dict[str, SqlTemplate] = {}
STATEMENTS: Mapping[str, SqlTemplate] = MappingProxyType(_KNOWN)


def _known(name: str, *pieces: str | Kind) -> SqlTemplate:
    if name in _KNOWN:
        raise ValueError(name)
    template = _KNOWN[name] = SqlTemplate(name, pieces)
    return template


# -- each second, or every few -----------------------------------------------------------------------------------------

STATUS = _known("status", "SHOW GLOBAL STATUS").read()
VARIABLES = _known("variables", "SHOW GLOBAL VARIABLES").read()
PROCESS_LIST = _known("process-list", "SHOW PROCESSLIST").read()
ALL_SLAVES = _known("all-slaves", "SHOW ALL SLAVES STATUS").read()
SLAVE = _known("slave", "SHOW SLAVE STATUS").read()
REPLICA = _known("replica", "SHOW REPLICA STATUS").read()
SLAVE_HOSTS = _known("slave-hosts", "SHOW SLAVE HOSTS").read()
REPLICAS = _known("replicas", "SHOW REPLICAS").read()
GALERA_MEMBERS = _known(
    "galera-members", "SELECT node_uuid, node_name, node_incoming_address FROM mysql.wsrep_cluster_members"
).read()
GROUP_MEMBERS = _known(
    "group-members",
    "SELECT MEMBER_ID, MEMBER_HOST, MEMBER_PORT, MEMBER_STATE, MEMBER_ROLE "
    "FROM performance_schema.replication_group_members",
).read()
GROUP_MEMBERS_57 = _known(
    "group-members-57",
    "SELECT MEMBER_ID, MEMBER_HOST, MEMBER_PORT, MEMBER_STATE FROM performance_schema.replication_group_members",
).read()
GROUP_STATS = _known(
    "group-stats",
    "SELECT MEMBER_ID, VIEW_ID, COUNT_TRANSACTIONS_IN_QUEUE, COUNT_TRANSACTIONS_CHECKED, COUNT_CONFLICTS_DETECTED, "
    "COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE FROM performance_schema.replication_group_member_stats",
).read()
GROUP_STATS_57 = _known(
    "group-stats-57",
    "SELECT MEMBER_ID, VIEW_ID, COUNT_TRANSACTIONS_IN_QUEUE, COUNT_TRANSACTIONS_CHECKED, COUNT_CONFLICTS_DETECTED "
    "FROM performance_schema.replication_group_member_stats",
).read()
GROUP_RECEIVED = _known(
    "group-received",
    "SELECT CHANNEL_NAME, SOURCE_UUID, SERVICE_STATE, RECEIVED_TRANSACTION_SET, LAST_ERROR_NUMBER, LAST_ERROR_MESSAGE "
    "FROM performance_schema.replication_connection_status",
).read()
CLONE_PROGRESS = _known(
    "clone-progress", "SELECT STAGE, STATE, ESTIMATE, DATA FROM performance_schema.clone_progress"
).read()
GTID_EXECUTED = _known("gtid-executed", "SELECT @@GLOBAL.gtid_executed").read()
"""SHOW GLOBAL VARIABLES would cut it at 1,024 characters."""
APPLIER_ERRORS = _known(
    "applier-errors",
    "SELECT CHANNEL_NAME, LAST_ERROR_NUMBER, LAST_ERROR_MESSAGE "
    "FROM performance_schema.replication_applier_status_by_worker",
).read()
HEARTBEAT = _known(
    "heartbeat",
    "SELECT *, UTC_TIMESTAMP(6) AS now, @@server_id AS own FROM ",
    IDENTIFIER,
    ".",
    IDENTIFIER,
    " ORDER BY ts DESC LIMIT 64",
)
"""Of the one table that the host's inventory entry names: the session lets no other through. Each writer has a row, and
older tables no server_id."""

# -- the connection test -----------------------------------------------------------------------------------------------

ONE = _known("one", "SELECT 1").read()
GRANTS = _known("grants", "SHOW GRANTS").read()
INNODB_STATUS = _known("innodb-status", "SHOW ENGINE INNODB STATUS").read()
MASTER_STATUS = _known("master-status", "SHOW MASTER STATUS").read()
BINARY_LOG_STATUS = _known("binary-log-status", "SHOW BINARY LOG STATUS").read()
STARTED_AT = _known(
    "started-at",
    "SELECT CAST(UNIX_TIMESTAMP() - VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS "
    "WHERE VARIABLE_NAME = 'UPTIME'",
).read()
"""By the server's own clock, as its binary log's times are: MariaDB's (MySQL has no such table since 8.0)."""

# -- procedures --------------------------------------------------------------------------------------------------------

VARIABLE = _known("variable", "SHOW GLOBAL VARIABLES WHERE Variable_name = ", VARIABLE_NAME)
WHOLE_VARIABLE = _known("whole-variable", "SELECT @@GLOBAL.", GLOBAL_NAME)
"""Of one whose text SHOW GLOBAL VARIABLES cut (services/facts/server/cut_texts.py)."""
DESYNC_ASKED = _known("desync-asked", "SHOW GLOBAL VARIABLES LIKE 'wsrep_desync'").read()
LOG_PLACES = _known(
    "log-places",
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_error', 'log_error_services', 'datadir')",
).read()
LOG_SETTINGS = _known(
    "log-settings",
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_error', 'datadir', 'log_bin', 'log_bin_index', "
    "'log_slave_updates', 'log_replica_updates')",
).read()
WRITTEN = _known(
    "written",
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_last_committed', 'wsrep_replicated_bytes', "
    "'wsrep_received_bytes')",
).read()
OWN_USER = _known("own-user", "SELECT SUBSTRING_INDEX(USER(), '@', 1)").read()
FULL_PROCESS_LIST = _known("full-process-list", "SHOW FULL PROCESSLIST").read()
SESSIONS = _known(
    "sessions",
    "SELECT id, user, command, LEFT(info, 200) AS info, time FROM information_schema.processlist "
    "WHERE id <> CONNECTION_ID()",
).read()
SESSIONS_WITH_HOSTS = _known(
    "sessions-with-hosts",
    "SELECT id, user, command, LEFT(info, 200) AS info, time, host FROM information_schema.processlist "
    "WHERE id <> CONNECTION_ID()",
).read()
LONGEST_TRANSACTION = _known(
    "longest-transaction",
    "SELECT MAX(TIMESTAMPDIFF(SECOND, trx_started, NOW())) FROM information_schema.innodb_trx",
).read()
IN_TRANSACTION = _known("in-transaction", "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx").read()
TRANSACTIONS = _known(
    "transactions",
    "SELECT trx_mysql_thread_id, TIMESTAMPDIFF(SECOND, trx_started, NOW()) FROM information_schema.innodb_trx",
).read()
RIGHTS_OF_ALL = _known("rights-of-all", "SELECT grantee, privilege_type FROM information_schema.user_privileges").read()
LOCK_PLACES = _known(
    "lock-places",
    "SELECT table_name FROM information_schema.tables WHERE table_schema IN ('information_schema', "
    "'performance_schema') AND table_name IN ('metadata_lock_info', 'metadata_locks')",
).read()
LOCKS_BY_PLUGIN = _known(
    "locks-by-plugin", "SELECT thread_id, lock_mode FROM information_schema.metadata_lock_info"
).read()
LOCK_INSTRUMENT = _known(
    "lock-instrument",
    "SELECT enabled FROM performance_schema.setup_instruments WHERE name = 'wait/lock/metadata/sql/mdl'",
).read()
LOCKS_BY_SCHEMA = _known(
    "locks-by-schema",
    "SELECT t.processlist_id, m.object_type, m.lock_type FROM performance_schema.metadata_locks m "
    "JOIN performance_schema.threads t ON t.thread_id = m.owner_thread_id "
    "WHERE m.lock_status = 'GRANTED' AND m.lock_duration = 'EXPLICIT'",
).read()

# -- rows compared -----------------------------------------------------------------------------------------------------

CHECKSUM = _known("checksum", "CHECKSUM TABLE ", IDENTIFIER, ".", IDENTIFIER)
"""Reads the table to its end; the account needs SELECT on it (MariaDB KB and MySQL manual, "CHECKSUM TABLE")."""
COLUMNS = _known("columns", "SHOW COLUMNS FROM ", IDENTIFIER, ".", IDENTIFIER)

# -- a backup's chunks -------------------------------------------------------------------------------------------------

_FILES_BY_SIZE = "SELECT COUNT(*), SUM(FILE_SIZE), MAX(FILE_SIZE) FROM information_schema."
_EACH_DIGIT = " WHERE NAME <> 'innodb_temporary' GROUP BY CHAR_LENGTH(FILE_SIZE) ORDER BY 3"
TABLESPACES = _known("tablespaces", f"{_FILES_BY_SIZE}INNODB_TABLESPACES{_EACH_DIGIT}").read()
TABLESPACES_57 = _known("tablespaces-57", f"{_FILES_BY_SIZE}INNODB_SYS_TABLESPACES{_EACH_DIGIT}").read()
"""A row for each power of ten that files are large: at most twenty, however many tables there are."""

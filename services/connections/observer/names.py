"""The names a read may use: functions, schemas, tables. What is not here is refused."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTIONS: Final = _words(
    """
    abs avg ceil ceiling char_length coalesce concat concat_ws connection_id count current_user
    database date_format field find_in_set floor format from_unixtime greatest group_concat gtid_subset gtid_subtract
    hex if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa instr isnull
    json_extract json_object json_array json_unquote json_value json_length
    least left length locate lower max microsecond min mod now nullif octet_length replace right round
    sec_to_time session_user sign substr substring substring_index sum sysdate system_user
    timediff time_to_sec timestampdiff to_seconds trim truncate
    unix_timestamp upper user utc_timestamp version
    """
)
"""Pure functions of their arguments, aggregates, and facts of the session (MySQL manual, "Functions and Operators";
MariaDB KB, "Built-in Functions"). Missing on purpose: what has an effect or waits (SLEEP, BENCHMARK, GET_LOCK,
RELEASE_ALL_LOCKS, LOAD_FILE, NEXTVAL, SETVAL, LASTVAL, LAST_INSERT_ID, MASTER_POS_WAIT, MASTER_GTID_WAIT,
WAIT_FOR_EXECUTED_GTID_SET, WSREP_SYNC_WAIT_UPTO_GTID, UUID_SHORT, RAND), what makes large values out of small ones
(REPEAT, SPACE, LPAD, RPAD, RANDOM_BYTES), and every stored or loaded function."""

SCHEMAS: Final = frozenset({"information_schema", "performance_schema", "sys"})
"""Schemas whose tables and views are read (not those below). `sys` views run as the caller (SQL SECURITY INVOKER)."""

HEAVY_TABLES: Final = frozenset(
    # "can introduce significant performance overhead" (MySQL manual, INNODB_BUFFER_PAGE); latches the buffer pool. The
    # views of sys read those tables (MySQL manual, "The schema_table_statistics_with_buffer ... Views").
    {"innodb_buffer_page", "innodb_buffer_page_lru", "innodb_buffer_stats_by_schema", "innodb_buffer_stats_by_table",
     "x$innodb_buffer_stats_by_schema", "x$innodb_buffer_stats_by_table",
     "schema_table_statistics_with_buffer", "x$schema_table_statistics_with_buffer"}
)  # fmt: skip

RESETTING_TABLES: Final = frozenset({"innodb_cmp_reset", "innodb_cmpmem_reset", "innodb_cmp_per_index_reset"})
"""Reading one zeroes the counters of its twin (MySQL manual, "The INFORMATION_SCHEMA INNODB_CMP and INNODB_CMP_RESET
Tables"): a change by a SELECT, that neither a read-only transaction nor an account with PROCESS alone stops."""

TABLES: Final = frozenset(
    {
        "mysql.wsrep_cluster",
        "mysql.wsrep_cluster_members",
        "mysql.wsrep_streaming_log",
        "mysql.gtid_slave_pos",
        "mysql.gtid_executed",
    }
)
"""Single tables of the schema mysql; the rest of it (accounts, time zones, logs) is not the console's business."""

NEVER_COLUMNS: Final = frozenset({"nextval", "currval", "lastval"})
"""In sql_mode=ORACLE, `sequence.nextval` looks like a column and advances the sequence (MariaDB KB, "Sequences")."""

RESERVED: Final = _words(
    """
    all alter analyze and as asc begin between binary by call case change collate commit convert create cross
    cube current cursor declare default delayed delete desc describe distinct distinctrow div do drop dual each
    else end escape except exists explain false fetch flush for force from full grant group handler having
    high_priority ignore in index inner insert intersect interval into is join kill lateral left like limit load
    lock match minus mod natural next not null offset on optimize option or order outer outfile over partition
    prepare previous procedure purge recursive regexp rename replace reset restart return returning revoke right
    rlike rollback rollup row rows select set share shutdown signal sounds sql_big_result sql_buffer_result
    sql_cache sql_calc_found_rows sql_no_cache sql_small_result start stop straight_join table terminated then
    to true truncate union unlock update use using values when where window with xa xor
    """
)
"""Words that never stand for a column, table or alias here, so that no clause can hide as an alias."""

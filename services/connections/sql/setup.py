"""What is set on a database session before anything else: constants of this layer, beside the allow-list.

They change nothing but the session itself. What a server does not know (error 1193, or 1064 from old ones) it goes
without; in `ON_CONNECT`, an observer's, `READ_ONLY` and the allow-list are two of three nets, the account's own rights
the third.
"""

from __future__ import annotations

from typing import Final

# No ANSI_QUOTES, NO_BACKSLASH_ESCAPES or ORACLE: the server then reads a statement as the allow-list did.
PLAIN_MODE: Final = "SET SESSION sql_mode=''"

# Every implicit transaction is read-only (MySQL 5.6, MariaDB 10.0 and newer).
READ_ONLY: Final = "SET SESSION TRANSACTION READ ONLY"

# An observer never queues behind somebody's ALTER TABLE.
LOCK_WAIT: Final = "SET SESSION lock_wait_timeout=5"

# Galera: answer now rather than after the cluster has caught up, and also on a node without a primary component
# (mariadb.com/kb/en/galera-cluster-system-variables: wsrep_sync_wait, wsrep_dirty_reads).
ANSWER_NOW: Final = "SET SESSION wsrep_sync_wait=0, wsrep_dirty_reads=ON"

# An operator's session may write; its statements are limited in time one by one.
OPERATOR_ON_CONNECT: Final = (PLAIN_MODE, ANSWER_NOW)

ON_CONNECT: Final = (PLAIN_MODE, READ_ONLY, LOCK_WAIT, ANSWER_NOW)

# Which of several servers of a host answers at a socket.
OWN_PORT: Final = "SELECT @@GLOBAL.port"

UNKNOWN_VARIABLE: Final = 1193
SYNTAX_ERROR: Final = 1064
TOLERATED: Final = frozenset({UNKNOWN_VARIABLE, SYNTAX_ERROR})


def statement_limit(server_version: str, limit_s: float) -> str:
    """Return the statement that limits those after it.

    MariaDB: max_statement_time, seconds with decimals, any statement (10.1.1 and newer). MySQL: max_execution_time,
    milliseconds, SELECT only (5.7.8 and newer); the time limit on the socket covers the rest.
    """
    if "mariadb" in server_version.lower():
        return f"SET SESSION max_statement_time={limit_s:.3f}"
    return f"SET SESSION max_execution_time={max(1, int(limit_s * 1000))}"

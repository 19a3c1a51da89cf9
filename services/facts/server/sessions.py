"""Who works on a server: the process list and the grants, summed up so that no statement's values are kept. Pure.

Sources: MariaDB KB "Information Schema PROCESSLIST Table", "SHOW GRANTS", "GRANT" (privileges since 10.5).

States of a commit, by their whole names (the stages of sql/mysqld.cc, of the semi-sync plugin and of wsrep):
- MySQL and Percona Server: "waiting for handler commit" (8.0 to 9.7), "Waiting for semi-sync ACK from replica" (8.0.26
  and newer), "... from slave" (before, and MariaDB), "Waiting for Binlog Group Commit ticket" (8.0.30 and newer),
  "Waiting for commit lock" (a COMMIT that a FLUSH TABLES WITH READ LOCK holds up);
- MariaDB: "Commit", "Commit implicit" (10.3 and newer), "committing" (Galera 4);
- Percona XtraDB Cluster and Galera 3, most with a seqno: PXC 8.0 wsrep_trans_observer.h and wsrep_applier.cc, PXC 5.7
  wsrep_hton.cc.
Who waits for another one's commit ("Waiting for GTID to be committed", "Waiting for preceding transaction to commit"),
flushes tables or ends an ALTER TABLE commits nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from services.connections.ports import Rows, SqlValue, text
from services.facts.reading import count, words

SST_RIGHTS = (("RELOAD",), ("PROCESS",), ("LOCK TABLES",), ("BINLOG MONITOR", "REPLICATION CLIENT"))
"""What mariabackup needs (MariaDB KB "mariadb-backup SST Method"); each a choice."""
_SYSTEM = frozenset({"system user", "event_scheduler", "wsrep applier", "wsrep aborter", ""})
_DAEMON = frozenset({"daemon", "binlog dump", "binlog dump gtid", "slave_io", "slave_sql", "slave_worker"})
_DDL = re.compile(
    r"^\s*(?:/\*(?:[^*]|\*(?!/))*\*/\s*)*((?:ALTER|CREATE|DROP|RENAME|TRUNCATE|OPTIMIZE|REPAIR)\s+[A-Z]+|BACKUP\s+STAGE(?:\s+[A-Z_]+)?"
    r"|FLUSH\s+TABLES\s+WITH\s+READ\s+LOCK|LOCK\s+INSTANCE\s+FOR\s+BACKUP|LOCK\s+TABLES\s+FOR\s+BACKUP)",
    re.IGNORECASE | re.DOTALL,
)
_ROW = re.compile(r"^GRANT (.+?) ON (\S+) TO ", re.IGNORECASE)
AccountState = Literal["", "ok", "not-local", "lacks-rights"]
"""What is seen of an SST account's rights; '' where nothing is."""
_COMMIT_STATES = frozenset({
    "waiting for handler commit", "waiting for semi-sync ack from replica", "waiting for semi-sync ack from slave",
    "waiting for binlog group commit ticket", "waiting for commit lock",
    "commit", "commit implicit", "committing",
    "wsrep: replicating and certifying write set", "wsrep: preparing to commit write set",
    "wsrep: write set replicated and certified", "wsrep: committing write set",
    "wsrep: replicating commit", "wsrep: initiating pre-commit for write set", "wsrep: in pre-commit stage",
    "wsrep: pre-commit/certification passed", "wsrep: write set replicated", "wsrep: committing",
    "wsrep: preparing to commit", "wsrep in pre-commit stage", "wsrep write set replicated",
})  # fmt: skip
_SEQNO = re.compile(r"(?<!\s)\s*+\(-?[0-9]+\)$", re.ASCII)
_COMMIT = re.compile(
    # Nothing is possessive: Python 3.11.2 (Debian 12) takes '-- COMMIT' for a match of a possessive group.
    r"(?:\s|/\*(?![!M])(?:[^*]|\*(?!/))*\*/|(?:--[ \t]|\#)[^\n]*\n)*(?:XA\s+)?COMMIT(?![\w$])",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_IDLE = frozenset({"Sleep", "Daemon", "Binlog Dump", "Binlog Dump GTID", "Slave_IO", "Slave_worker"})
_WORKING = frozenset({
    "Query", "Execute", "Prepare", "Fetch", "Bulk_execute", "Close stmt", "Reset stmt", "Long Data", "Init DB",
    "Field List", "Create DB", "Drop DB", "Refresh", "Statistics", "Processlist", "Kill", "Debug", "Ping",
    "Change user", "Set option", "Reset connection", "Reset Connection", "Delayed insert",
    "Table Dump", "Shutdown", "Quit", "Killed",
})  # fmt: skip
"""What a client's thread does while it works (MySQL manual, "Thread Command Values"; MariaDB KB, "Thread Command
Values"); one that logs in (`Connect`) or dumps a binary log does not."""
CHANGERS = frozenset({"ALL PRIVILEGES", "SUPER", "SYSTEM_VARIABLES_ADMIN"})


@dataclass(frozen=True, slots=True)
class Session:
    """One client session. `busy`: it runs a statement now."""

    number: int
    user: str
    busy: bool
    ddl: str = ""


@dataclass(frozen=True, slots=True)
class Sessions:
    """All of them. `replicas`: Binlog Dump sessions."""

    clients: tuple[Session, ...] = ()
    replicas: int = 0

    @property
    def users(self) -> tuple[str, ...]:
        """Return the users, sorted."""
        return tuple(sorted({s.user for s in self.clients}))

    @property
    def ddl(self) -> tuple[str, ...]:
        """Return the kinds of the DDL and backup statements that run."""
        return tuple(f"{s.ddl} by {s.user}" for s in self.clients if s.ddl)


def in_commit(row: Mapping[str, SqlValue]) -> bool:
    """Return whether a row of SHOW PROCESSLIST is a thread in its commit.

    A thread of the server's own commits whatever its command says: PXC's appliers under `Sleep`, MySQL's under
    `Slave_worker`.
    """
    idle = text(row.get("Command")) in _IDLE
    if idle and text(row.get("User")).strip().lower() != "system user":
        return False
    if _SEQNO.sub("", text(row.get("State")).strip()).lower() in _COMMIT_STATES:
        return True
    return not idle and _COMMIT.match(text(row.get("Info"))) is not None


@dataclass(frozen=True, slots=True)
class Commits:
    """How many wait in their commit, of all threads and of clients' alone, and how many clients' threads run.

    A share is of one kind and of one list: Threads_running counts no applier on MySQL, and each of them on MariaDB
    (MySQL source, sql_parse.cc, dispatch_command(); MariaDB, sql/sql_show.cc, calc_sum_of_all_status()).

    Attributes:
        running: without the thread that asked.
    """

    threads: int = 0
    clients: int = 0
    running: int = 0


def commits_of(rows: Rows) -> Commits:
    """Return who of a whole SHOW PROCESSLIST is in its commit; whoever asked for the list runs in it."""
    threads = clients = running = 0
    for row in rows.dicts():
        commits, client = in_commit(row), text(row.get("User")).strip().lower() not in _SYSTEM
        threads += commits
        if client and text(row.get("Command")) in _WORKING:
            clients += commits
            running += 1
    return Commits(threads, clients, max(running - 1, 0))


def parse_sessions(rows: Sequence[tuple[SqlValue, ...]], own_user: str = "") -> Sessions:
    """Return the client sessions of SESSIONS' rows, without the server's own and the console's (`own_user`)."""
    clients, replicas = [], 0
    for row in rows:
        if len(row) < 4:
            continue
        number, user, command = count(text(row[0])), words(row[1], 80), text(row[2]).strip().lower()
        if command.startswith("binlog dump"):
            replicas += 1
        if user in _SYSTEM or command in _DAEMON or user == own_user or number is None:
            continue
        found = _DDL.match(text(row[3]))
        ddl = " ".join(found.group(1).upper().split()) if found else ""
        clients.append(Session(number, user, busy=command != "sleep", ddl=ddl))
    return Sessions(tuple(clients), replicas)


def may_change(grants: Sequence[str]) -> tuple[bool, str]:
    """Return whether these grants allow SET GLOBAL of the wsrep variables, and the rights that say so."""
    rights: set[str] = set()
    for grant in grants:
        found = _ROW.match(grant)
        if found is not None and found.group(2).replace("`", "") == "*.*":
            rights |= {part.strip().upper() for part in found.group(1).split(",")}
    able = sorted(rights & CHANGERS)
    if able:
        return True, f"granted {', '.join(able)}"
    return False, "neither SUPER nor ALL PRIVILEGES is granted"


def sst_account_of(rows: Sequence[tuple[SqlValue, ...]], user: str) -> tuple[AccountState, str]:
    """Return what the account lacks: a code, and a sentence; 'ok' and '' lack one, '' when its rights are not seen.

    The script logs in over the socket: of several accounts of that name the one @localhost counts, else a pattern's.
    """
    found: dict[str, set[str]] = {}
    for row in rows:
        if len(row) >= 2 and text(row[0]).startswith(f"'{user}'@"):
            found.setdefault(text(row[0]).rpartition("@")[2].strip("'"), set()).add(text(row[1]).strip().upper())
    patterns = (given for host, given in found.items() if fnmatchcase("localhost", host.replace("%", "*")))
    rights = found.get("localhost") or next(patterns, set())
    if found and not rights:
        return (
            "not-local",
            f"the SST account {user} may not log in from localhost: it is {', '.join(sorted(found))} only",
        )
    if not rights:
        return "", ""
    missing = [choice[0] for choice in SST_RIGHTS if not rights & set(choice)]
    return ("lacks-rights", f"the SST account {user} lacks {', '.join(missing)}") if missing else ("ok", "")

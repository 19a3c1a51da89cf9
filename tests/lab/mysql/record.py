"""Record what real MySQL answers in each state of a group and of replication, for the tests that need no lab.

    .venv/bin/python -m tests.lab.mysql.record NAME [NAME ...]     # default: every situation of SITUATIONS

A file holds what `tests/lab/record_replies.py` keeps (the answers to discovery) and, of each host, the tables and words
of KEPT, asked as the account that only reads. It is written as `tests/unit/recorded/mysql/VERSION-NAME.json`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from services.connections.ports import Rows, text
from services.connections.reads.registry import command_of
from services.errors import UserError
from services.facts import reads
from tests.lab import record_replies
from tests.lab.connections.connecting import entry, free_session
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, group, load
from tests.lab.estate.waiting import wait_until
from tests.lab.mysql import cloning
from tests.unit.recorded.replies import HERE

FOLDER = HERE / "mysql"
LOG_LINES, MOST_LOG = 600, 60
GROUP, ASYNC = ("g1", "g2", "g3"), ("a1", "a2", "a3")
_TABLES = (
    "replication_group_members",
    "replication_group_member_stats",
    "replication_connection_status",
    "replication_applier_status",
    "replication_applier_status_by_coordinator",
    "replication_applier_status_by_worker",
    "clone_progress",
    "clone_status",
)
_SETTLED_TABLES = (
    "replication_connection_configuration",
    "replication_applier_configuration",
    "replication_group_communication_information",
    "replication_group_configuration_version",
    "replication_group_member_actions",
)
_THREADS = (
    "SELECT THREAD_ID, NAME, PROCESSLIST_ID, PROCESSLIST_USER, PROCESSLIST_HOST, PROCESSLIST_COMMAND, "
    "PROCESSLIST_TIME, PROCESSLIST_STATE, PROCESSLIST_INFO FROM performance_schema.threads "
    "WHERE NAME LIKE 'thread/group_rpl/%' OR NAME LIKE 'thread/sql/replica%' OR NAME LIKE 'thread/semisync/%' "
    "OR PROCESSLIST_COMMAND LIKE 'Binlog Dump%' OR PROCESSLIST_COMMAND = 'Group Replication Data Set'"
)
_LOG = (
    "SELECT LOGGED, THREAD_ID, PRIO, ERROR_CODE, SUBSYSTEM, DATA FROM performance_schema.error_log "
    "WHERE SUBSYSTEM IN ('Repl', 'Server') AND LOGGED > UTC_TIMESTAMP(6) - INTERVAL 2 MINUTE "
    "ORDER BY LOGGED DESC LIMIT 30"
)
KEPT = (
    *(f"SELECT * FROM performance_schema.{name}" for name in _TABLES),
    "SHOW REPLICA STATUS",
    _THREADS,
    _LOG,
)
ONCE = (
    *(f"SELECT * FROM performance_schema.{name}" for name in _SETTLED_TABLES),
    "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync%'",
    "SHOW GLOBAL STATUS LIKE 'Gr_%'",
    "SHOW GLOBAL VARIABLES LIKE 'group_replication%'",
    "SHOW GLOBAL VARIABLES LIKE 'rpl_semi_sync%'",
    "SHOW GRANTS",
)
"""What no state changes: of the whole estate only. Status and variables are in every file, under their own names."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A state of the estate: how it is made of a whole one, and the hosts that answer in it."""

    about: str
    hosts: tuple[str, ...]
    make: Callable[[Estate], object]
    answering: tuple[str, ...] = ()
    once: bool = False
    end: Callable[[Estate], object] = lambda _estate: None


def _write(estate: Estate, host: str, rows: int) -> None:
    """Write rows one by one, so that counters and GTIDs have something to say."""
    start = "SELECT COALESCE(MAX(id), 0) FROM sbtest.lab_probe"
    first = int(database.sql(estate.spec, host, start)[0][0]) + 1
    inserts = "".join(f"INSERT INTO sbtest.lab_probe VALUES ({first + n}, 'row'); " for n in range(rows))
    database.sql(estate.spec, host, inserts)


def _whole(estate: Estate) -> None:
    _write(estate, "g1", 20)
    _write(estate, "a1", 20)
    time.sleep(3)


def _seen(estate: Estate, by: str, of: str, state: str) -> None:
    """Wait until `by` sees `of` in a state; '' when it lists it no more."""

    def reason() -> str | None:
        member = group.view(estate.spec, by).get(of)
        now = member.state if member else ""
        return None if now == state else f"{by} sees {of} as {now or 'gone'}"

    wait_until(f"{by} to see {of} {state or 'gone'}", reason, limit_s=60)


def _multi(estate: Estate) -> None:
    estate.mode("multi")
    for host in GROUP:
        _write(estate, host, 3)
    time.sleep(3)


def _killed(estate: Estate) -> None:
    estate.kill9("g3")
    _seen(estate, "g1", "g3", "UNREACHABLE")


def _killed_gone(estate: Estate) -> None:
    estate.kill9("g3")
    _seen(estate, "g1", "g3", "UNREACHABLE")
    _seen(estate, "g1", "g3", "")


def _primary_killed(estate: Estate) -> None:
    estate.kill9("g1")
    _seen(estate, "g2", "g1", "UNREACHABLE")
    _seen(estate, "g2", "g1", "")
    _write(estate, group.primaries(estate.spec)[0], 3)
    time.sleep(2)


def _minority(estate: Estate) -> None:
    estate.partition(["g3"])
    _seen(estate, "g1", "g3", "UNREACHABLE")
    _seen(estate, "g3", "g1", "UNREACHABLE")


def _minority_gone(estate: Estate) -> None:
    _minority(estate)
    _seen(estate, "g1", "g3", "")
    time.sleep(5)


def _lost(estate: Estate) -> None:
    estate.kill9("g2")
    estate.kill9("g3")
    _seen(estate, "g1", "g2", "UNREACHABLE")
    time.sleep(10)


def _paused(estate: Estate) -> None:
    estate.pause("g2")
    _seen(estate, "g1", "g2", "UNREACHABLE")


def _recovering(estate: Estate) -> None:
    """Let g3 come back to so much that it is busy for a while, on a fraction of a processor."""
    estate.stop("g3")
    estate.load_start(load.Load("oltp_write_only", 25, 0, 8, 4, 2000), ["g1"])
    time.sleep(26)
    estate.throttle("g3", 25)
    estate.start("g3")
    group.wait_state(estate.spec, "g3", "RECOVERING", limit_s=60)
    time.sleep(2)


def _cloning(estate: Estate) -> None:
    """Let g3 fetch everything by clone, some seconds into it."""
    cloning.begin(estate, "g3", "g1")
    time.sleep(6)


def _lag_of_group(estate: Estate) -> None:
    estate.lag("g3", 60)
    _write(estate, "g1", 50)
    time.sleep(5)


def _lag(estate: Estate) -> None:
    estate.lag("a3", 60)
    _write(estate, "a1", 50)
    time.sleep(8)


def _full(estate: Estate) -> None:
    """Rows only: a table that can't be made is an error of the applier, and the member leaves its group."""
    estate.fill("g3")
    _write(estate, "g1", 200)
    time.sleep(8)


def _error(estate: Estate) -> None:
    estate.break_member("g3")
    _seen(estate, "g1", "g3", "")


def _semi_sync_off(estate: Estate) -> None:
    estate.stop("a2")
    database.sql(estate.spec, "a1", "SET GLOBAL rpl_semi_sync_source_timeout = 1000")
    _write(estate, "a1", 3)
    database.sql(estate.spec, "a1", "SET GLOBAL rpl_semi_sync_source_timeout = DEFAULT")


def _readable(estate: Estate, act: Callable[[str], object]) -> None:
    """Do it to a member that stays readable, as before MySQL 8.4; its restart at the end brings the default back."""
    database.sql(estate.spec, "g3", "SET GLOBAL group_replication_exit_state_action = READ_ONLY")
    act("g3")


SITUATIONS: dict[str, Situation] = {
    "group-single-primary": Situation("three members ONLINE, g1 the primary", GROUP, _whole, once=True),
    "group-multi-primary": Situation("three members ONLINE, each of them a primary", GROUP, _multi),
    "group-killed": Situation("g3 was killed a few seconds ago: still listed", GROUP, _killed, ("g1", "g2")),
    "group-killed-gone": Situation("g3 was killed and expelled", GROUP, _killed_gone, ("g1", "g2")),
    "group-primary-killed": Situation(
        "the primary g1 was killed and expelled, another took over", GROUP, _primary_killed, ("g2", "g3")
    ),
    "group-minority": Situation("g3 is parted from g1 and g2, not expelled yet", GROUP, _minority),
    "group-minority-expelled": Situation(
        "g3 is parted; g1 and g2 list it no more, and it does not know that", GROUP, _minority_gone
    ),
    "group-quorum-lost": Situation("g2 and g3 were killed: g1 alone has no quorum", GROUP, _lost, ("g1",)),
    "group-paused": Situation("g2 is stopped by a signal", GROUP, _paused, ("g1", "g3")),
    "group-recovering": Situation("g3 came back and applies what it missed", GROUP, _recovering),
    "group-cloning": Situation(
        "g3 fetches all data by clone, 2 MB a second", GROUP, _cloning, end=lambda e: cloning.end(e, "g3")
    ),
    "group-lag": Situation("the applier of g3 waits for a lock, some fifty transactions behind", GROUP, _lag_of_group),
    "group-disk-full": Situation("the data disk of g3 is full while g1 writes", GROUP, _full),
    "group-expelled": Situation(
        "g3 was parted, expelled, and learnt of it; it does not try to come back", GROUP, lambda e: e.expel("g3")
    ),
    "group-error": Situation("the applier of g3 failed on a row: ERROR, and out of the group", GROUP, _error),
    "group-expelled-readable": Situation(
        "g3 as in group-expelled, with exit_state_action READ_ONLY: it still lets everybody in",
        GROUP,
        lambda e: _readable(e, e.expel),
    ),
    "group-error-readable": Situation(
        "the applier of g3 failed a moment ago, with exit_state_action READ_ONLY: the others do not know yet",
        GROUP,
        lambda e: _readable(e, e.break_member),
    ),
    "group-stopped": Situation(
        "STOP GROUP_REPLICATION on g3: OFFLINE", GROUP, lambda e: group.leave(e.spec, "g3")
    ),
    "async-healthy": Situation("a1, its semi-synchronous replica a2, its plain replica a3", ASYNC, _whole, once=True),
    "async-sql-stopped": Situation(
        "the SQL thread of a3 stopped on a duplicate key", ASYNC, lambda e: e.break_sql("a3")
    ),
    "async-io-stopped": Situation("a2 logs in with a wrong password", ASYNC, lambda e: e.break_io("a2")),
    "async-lag": Situation("a3 waits for a lock, some fifty transactions behind", ASYNC, _lag),
    "async-delayed": Situation("a3 is delayed by an hour on purpose", ASYNC, lambda e: e.delay("a3", 3600)),
    "async-semi-sync-off": Situation(
        "a2 is stopped: a1 waited for it, and went on without", ASYNC, _semi_sync_off, ("a1", "a3")
    ),
}  # fmt: skip


def _plain(rows: Rows) -> dict[str, Any]:
    cells = [[text(v) if isinstance(v, bytes) else v for v in row] for row in rows.rows]
    return {"columns": list(rows.columns), "rows": cells}


def record(estate: Estate, situation: Situation, since: str) -> dict[str, Any]:
    """Return what the hosts answer: the tables first and all at once, since some states pass in seconds."""
    names = list(situation.answering or situation.hosts)

    def tables(name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        with free_session(estate, entry(estate, name)) as session:
            for statement in KEPT + (ONCE if situation.once else ()):
                try:
                    found[statement] = _plain(session.query(statement, limit_s=8.0))
                except UserError as error:
                    found[statement] = {"error": error.code, "sentence": error.sentence}
        return found

    with ThreadPoolExecutor(len(names)) as pool:
        kept = dict(zip(names, pool.map(tables, names), strict=True))
    hosts = record_replies.record(estate, list(situation.hosts))
    for name, queries in kept.items():
        if "rows" in queries[_LOG]:
            queries[_LOG]["rows"] = [row for row in queries[_LOG]["rows"] if row[0].replace(" ", "T") >= since]
        hosts[name]["queries"].update(queries)
        _log_file(estate, name, since, hosts[name]["commands"])
    return hosts


def _log_file(estate: Estate, name: str, since: str, commands: dict[str, Any]) -> None:
    """Keep the end of the error log, as the console reads it over SSH: there while SQL lets nobody in."""
    read = reads.error_log("/var/log/mysql/error.log", LOG_LINES, sudo=True)
    with free_session(estate, entry(estate, name)) as session:
        lines = session.made.run(read, limit_s=8.0).text.splitlines()
    kept = [line for line in lines if line >= since][-MOST_LOG:]
    words = " ".join(command_of(read).argv)
    commands[words] = {"exit": 0, "stdout": "".join(f"{line}\n" for line in kept), "stderr": ""}


def as_text(found: dict[str, Any]) -> str:
    """JSON with a row a line: readable, and a third of the size."""
    rows: list[str] = []

    def marked(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: [mark(r) for r in v] if k == "rows" else marked(v) for k, v in value.items()}
        return mark(value) if isinstance(value, list) else value

    def mark(value: Any) -> str:
        rows.append(json.dumps(value, ensure_ascii=False, default=str))
        return f"\0{len(rows) - 1}\0"

    plain = json.dumps(marked(found), indent=1, ensure_ascii=False)
    return re.sub(r'"\\u0000(\d+)\\u0000"', lambda m: rows[int(m.group(1))], plain) + "\n"


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")


def main(chosen: list[str]) -> None:
    """Make each situation of a whole estate, record it, undo it."""
    estate = Estate("mysql")
    os.environ.update(estate.environment())
    FOLDER.mkdir(exist_ok=True)
    version = database.version(estate.spec, "g1")
    for name in chosen or SITUATIONS:
        situation = SITUATIONS[name]
        began, since = time.monotonic(), time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        try:
            situation.make(estate)
            at = time.time()
            source = f"recorded from MySQL {version} (Debian sid, package mysql-server), the lab's estate mysql"
            found = {"about": situation.about, "source": source, "at": at, "hosts": record(estate, situation, since)}
            target = FOLDER / f"{version}-{name}.json"
            target.write_text(as_text(found), encoding="utf-8")
            situation.end(estate)
            _say(f"{name}: {time.monotonic() - began:.0f} s")
        except LabError as error:
            _say(f"{name}: not recorded, {error}")
        finally:
            estate.load_stop()
            estate.undo()


if __name__ == "__main__":
    main(sys.argv[1:])

"""The registry of reads and the grammar behind it against a real server: what passes, run as root, changes nothing.

Every statement of the registry and hundreds that the grammar would let through run in one session per sql_mode, because
an allowed statement must mean the same in each.
Before and after: every table's checksum, every account, every global variable, the binary log's position, and the
server's own counts of statements that change something.
"""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NonInteractiveExampleWarning

from services.connections.observer.allowlist import check_statement
from services.connections.reads.kinds import Kind
from services.connections.reads.registry import statement_of
from services.connections.reads.statements import HEARTBEAT, STATEMENTS
from services.connections.sql.setup import READ_ONLY
from services.errors import Refused
from tests.lab.estate.estate import Estate, Host
from tests.unit.allowlist.disguises import changing
from tests.unit.allowlist.read_grammar import reads

MODES = (
    "",
    "ANSI_QUOTES",
    "NO_BACKSLASH_ESCAPES",
    "ANSI_QUOTES,NO_BACKSLASH_ESCAPES",
    "PIPES_AS_CONCAT,IGNORE_SPACE",
    "ORACLE",
    "MSSQL",
    "TRADITIONAL",
)
MANY = 250
CLIENT = "mariadb --no-defaults --batch --force --skip-reconnect"

MAKE_SCHEMA = """
CREATE OR REPLACE DATABASE observer_proof;
CREATE TABLE observer_proof.t (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(40)) ENGINE=InnoDB;
INSERT INTO observer_proof.t (a) VALUES ('one'), ('two'), ('three');
CREATE SEQUENCE observer_proof.s NOCACHE;
CREATE FUNCTION observer_proof.f(x INT) RETURNS INT MODIFIES SQL DATA RETURN x;
"""
CHANGE_COUNTERS = (
    "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME RLIKE "
    "'^(Com_(alter|analyze|begin|binlog|call|change|check$|commit|create|dealloc|delete|do$|drop|execute|flush|grant|ha_|"
    "install|insert|kill|load|lock|optimize|prepare|preload|purge|rename|repair|replace|reset|revoke|rollback|"
    "savepoint|shutdown|signal|start|stop|truncate|uninstall|unlock|update|xa)|Handler_(delete|update|prepare)$|"
    "Innodb_rows_(deleted|inserted|updated)$|Wsrep_(local_commits|replicated)$)' ORDER BY 1"
)
# What moves by itself, or only says who asks and when.
RESTLESS = re.compile(r"^(timestamp|last_gtid|pseudo_thread_id|rand_seed\d|error_count|warning_count|identity|sql_mode|"
                      r"last_insert_id|in_transaction|insert_id)\b", re.IGNORECASE)  # fmt: skip


def ask(host: Host, sql: str) -> str:
    return host.sh(CLIENT, stdin=sql, limit_s=120.0, check=False).out


def state(host: Host) -> dict[str, str]:
    """Everything of the server that a read must not move."""
    tables = ask(
        host,
        "SELECT CONCAT('CHECKSUM TABLE `', TABLE_SCHEMA, '`.`', TABLE_NAME, '`;') FROM information_schema.TABLES "
        "WHERE TABLE_TYPE IN ('BASE TABLE', 'SEQUENCE') AND TABLE_SCHEMA NOT LIKE '%|_schema' ESCAPE '|' "
        "AND TABLE_NAME NOT IN ('innodb_table_stats', 'innodb_index_stats', 'general_log', 'slow_log') ORDER BY 1;",
    )
    checksums = ask(host, "\n".join(tables.splitlines()[1:]))
    variables = [line for line in ask(host, "SHOW GLOBAL VARIABLES;").splitlines() if not RESTLESS.match(line)]
    return {
        "checksums": checksums,
        "variables": "\n".join(variables),
        "accounts": ask(host, "SELECT * FROM mysql.global_priv ORDER BY Host, User;"),
        "routines": ask(host, "SELECT ROUTINE_SCHEMA, ROUTINE_NAME FROM information_schema.ROUTINES ORDER BY 1, 2;"),
        "sequence": ask(host, "SELECT next_not_cached_value FROM observer_proof.s;"),
        "position": ask(host, "SELECT @@gtid_binlog_pos, @@gtid_current_pos;"),
        "locks": ask(host, "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_rows_modified > 0;"),
        "counters": ask(host, CHANGE_COUNTERS + ";"),
    }


def changed(before: dict[str, str], after: dict[str, str]) -> dict[str, list[str]]:
    """Return the lines that differ, by part."""
    return {
        part: sorted(set(before[part].splitlines()) ^ set(after[part].splitlines()))
        for part in before
        if before[part] != after[part]
    }


def drawn(strategy: st.SearchStrategy[str], count: int) -> list[str]:
    """Return statements of a grammar, the same ones at every run."""
    found: list[str] = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(sql: str) -> None:
        found.append(sql)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonInteractiveExampleWarning)
        collect()
    return list(dict.fromkeys(found))


def registered() -> list[str]:
    """Return every statement of the registry but the heartbeat's, whose table this estate has none of."""
    found = [template for name, template in STATEMENTS.items() if name != HEARTBEAT.name]
    return [statement_of(t.read(*("wsrep_desync" for piece in t.pieces if isinstance(piece, Kind)))) for t in found]


@pytest.fixture
def server(galera_estate: Estate) -> Host:
    """The first node, with a schema to be left alone."""
    host = galera_estate.host("n1")
    ask(host, MAKE_SCHEMA)
    return host


def test_that_allowed_statements_run_as_root_change_nothing_in_any_sql_mode(server: Host) -> None:
    statements = [*registered(), *drawn(reads(), MANY)]
    for sql in statements:
        check_statement(sql)
    before = state(server)
    answered = 0
    for mode in MODES:
        script = f"SET SESSION sql_mode='{mode}';\nSET SESSION max_statement_time=5;\n"
        script += "".join(f"{sql.strip()};\nSELECT 'pilothouse-answered-{n}';\n" for n, sql in enumerate(statements))
        output = ask(server, script)
        answered += len(set(re.findall(r"^pilothouse-answered-(\d+)$", output, re.MULTILINE)))
    after = state(server)
    assert answered == len(MODES) * len(statements), "the session ended before the last statement"
    assert changed(before, after) == {}


def test_that_allowed_statements_pass_in_a_read_only_transaction_of_the_session_too(server: Host) -> None:
    statements = [*registered(), *drawn(reads(), 60)]
    script = f"{READ_ONLY};\n" + "".join(f"{sql.strip()};\n" for sql in statements)
    done = server.sh(CLIENT, stdin=script, limit_s=120.0, check=False)
    assert "READ ONLY" not in done.err


def test_that_what_the_list_refuses_would_indeed_have_moved_the_server(server: Host) -> None:
    """The oracle itself: a server that executes the refused texts is seen to change, so `state` is not blind."""
    before = state(server)
    ask(server, "SELECT NEXTVAL(observer_proof.s); INSERT INTO observer_proof.t (a) VALUES ('x');")
    after = state(server)
    assert {"checksums", "sequence", "counters"} <= set(changed(before, after))


def test_that_disguised_changes_are_refused_before_anything_reaches_the_server(server: Host) -> None:
    before = state(server)
    for sql in drawn(changing(), 300):
        with pytest.raises(Refused):
            check_statement(sql)
        with pytest.raises(Refused):
            statement_of(sql)  # type: ignore[arg-type]
    assert changed(before, state(server)) == {}

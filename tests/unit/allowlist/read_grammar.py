"""A grammar of the reads that the console needs, for Hypothesis: they must pass, and a server accepts most of them."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from tests.unit.allowlist.disguises import recased

# Table -> columns, all present on MariaDB 10.11 with performance_schema off as well as on.
TABLES = {
    "information_schema.PROCESSLIST": ("ID", "USER", "HOST", "COMMAND", "TIME", "STATE", "INFO"),
    "information_schema.GLOBAL_STATUS": ("VARIABLE_NAME", "VARIABLE_VALUE"),
    "`information_schema`.`GLOBAL_VARIABLES`": ("VARIABLE_NAME", "VARIABLE_VALUE"),
    "information_schema.TABLES": ("TABLE_SCHEMA", "TABLE_NAME", "ENGINE", "TABLE_ROWS"),
    "information_schema.INNODB_METRICS": ("NAME", "SUBSYSTEM", "COUNT"),
    "performance_schema.threads": ("NAME", "PROCESSLIST_STATE", "PROCESSLIST_INFO", "PROCESSLIST_TIME"),
    "mysql.gtid_slave_pos": ("domain_id", "server_id", "seq_no"),
}
SHOWS = (
    "SHOW GLOBAL STATUS",
    "SHOW SESSION STATUS LIKE 'Threads%'",
    "SHOW GLOBAL STATUS LIKE 'wsrep_%'",
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'Threads_running')",
    "SHOW GLOBAL VARIABLES",
    "SHOW VARIABLES WHERE Variable_name LIKE 'gtid%' OR LOWER(Variable_name) = 'port'",
    "SHOW PROCESSLIST",
    "SHOW FULL PROCESSLIST",
    "SHOW ENGINE INNODB STATUS",
    "SHOW SLAVE STATUS",
    "SHOW REPLICA STATUS",
    "SHOW ALL SLAVES STATUS",
    "SHOW MASTER STATUS",
    "SHOW BINLOG STATUS",
    "SHOW SLAVE HOSTS",
    "SHOW REPLICA HOSTS",
    "SHOW BINARY LOGS",
    "SHOW MASTER LOGS",
    "SHOW GRANTS",
    "SHOW GRANTS FOR CURRENT_USER",
    "SHOW GRANTS FOR CURRENT_USER()",
    "SHOW DATABASES",
    "SHOW TABLE STATUS FROM `mysql`",
    "SHOW PLUGINS",
    "SHOW ENGINES",
    "SHOW STORAGE ENGINES",
    "SHOW WARNINGS",
)
# Only MySQL knows these, or they need a channel or a plugin.
SHOWS_ELSEWHERE = (
    "SHOW REPLICAS",
    "SHOW BINARY LOG STATUS",
    "SHOW REPLICA STATUS FOR CHANNEL 'east'",
    "SHOW SLAVE 'east' STATUS",
    "SHOW WSREP_STATUS",
    "SHOW WSREP_MEMBERSHIP",
    "SHOW ENGINE PERFORMANCE_SCHEMA STATUS",
)
CONSTANTS = (
    "0",
    "1",
    "3.5",
    "'Synced'",
    "'it''s'",
    "NULL",
    "TRUE",
    "@@version",
    "@@global.port",
    "NOW(6)",
    "-1",
    "0.25",
)


# Hypothesis looks through each strategy anew that is made while it draws: each is made once.
_among = cache(st.sampled_from)


@cache
@st.composite
def _value(draw: st.DrawFn, columns: tuple[str, ...], depth: int) -> str:
    forms = ("column", "constant", *(("call", "case", "sum", "brackets", "if") if depth > 0 else ()))
    form = draw(_among(forms))
    inner = _value(columns, depth - 1)
    if form == "column":
        return draw(_among(columns))
    if form == "constant":
        return draw(_among(CONSTANTS))
    if form == "call":
        name = draw(_among(("LOWER", "COALESCE", "LENGTH", "CONCAT", "HEX", "ABS", "ROUND", "TRIM")))
        return f"{name}({draw(inner)})"
    if form == "case":
        return f"CASE WHEN {draw(_condition(columns, depth - 1))} THEN {draw(inner)} ELSE {draw(inner)} END"
    if form == "sum":
        return f"{draw(inner)} {draw(_among(('+', '-', '*', '/', 'DIV', '%')))} {draw(inner)}"
    if form == "if":
        return f"IF({draw(_condition(columns, depth - 1))}, {draw(inner)}, {draw(inner)})"
    return f"({draw(inner)})"


@cache
@st.composite
def _condition(draw: st.DrawFn, columns: tuple[str, ...], depth: int) -> str:
    column = draw(_among(columns))
    other = draw(_value(columns, depth - 1))
    plain = [
        f"{column} = {other}",
        f"{column} <> {other}",
        f"{column} IS NOT NULL",
        f"{column} LIKE 'wsrep|_%' ESCAPE '|'",
        f"{column} RLIKE 'commit|flush'",
        f"{column} NOT IN ('a', 'b')",
        f"{column} BETWEEN 1 AND 2 + 3",
        f"NOT {column} <=> {other}",
    ]
    if depth > 0:
        left, right = draw(_condition(columns, depth - 1)), draw(_condition(columns, depth - 1))
        plain += [f"({left} OR {right})", f"{left} AND {right}", f"EXISTS ({draw(selects(depth - 1))})"]
        plain.append(f"{column} IN (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE {column} = 1)")
    return draw(st.sampled_from(plain))


@cache
@st.composite
def selects(draw: st.DrawFn, depth: int = 2) -> str:
    """One SELECT over the readable tables, with or without WITH, UNION, joins, grouping, order and limit."""
    table = draw(_among(tuple(sorted(TABLES))))
    columns = TABLES[table]
    items = ", ".join(draw(st.lists(_value(columns, depth), min_size=1, max_size=3)))
    where = f" WHERE {draw(_condition(columns, depth))}" if draw(st.booleans()) else ""
    form = draw(_among(("plain", "count", "union", "with", "derived", "join", "none")))
    if form == "count":
        return f"SELECT {columns[0]}, COUNT(*) FROM {table}{where} GROUP BY {columns[0]} HAVING COUNT(*) > 0 LIMIT 5"
    if form == "union":
        return f"SELECT {items} FROM {table}{where} UNION ALL SELECT {items} FROM {table} LIMIT 3"
    if form == "with":
        return f"WITH q AS (SELECT {columns[0]} AS c FROM {table}{where}) SELECT q.c FROM q ORDER BY 1 DESC LIMIT 2, 3"
    if form == "derived":
        return f"SELECT d.* FROM (SELECT {columns[0]} FROM {table}{where}) AS d"
    if form == "join":
        return f"SELECT a.{columns[0]} FROM {table} a LEFT JOIN {table} AS b ON a.{columns[0]} = b.{columns[0]} LIMIT 1"
    if form == "none":
        return f"SELECT {draw(_among(CONSTANTS))}, @@hostname AS h, VERSION(), UNIX_TIMESTAMP(NOW(6))"
    return f"SELECT {items} FROM {table}{where} LIMIT 10"


@st.composite
def reads(draw: st.DrawFn, *, everywhere: bool = False) -> str:
    """A read of the console, in any case and spacing; `everywhere` adds what only other servers understand."""
    shows = SHOWS + SHOWS_ELSEWHERE if everywhere else SHOWS
    sql = draw(st.one_of(_among(shows), selects()))
    if draw(st.booleans()):
        sql = draw(recased(sql))
    head = draw(_among(("", " ", "\n\t", "/* pilothouse */ ", "/* v=0.1, sampler */\n")))
    return head + sql + draw(_among(("", " ", "\n")))

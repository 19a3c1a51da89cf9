"""The allow-list for statements: reads pass, changes in every disguise don't, and no text brings it down."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.connections.observer.allowlist import check_statement
from services.connections.reads.registry import statement_of
from services.errors import Refused
from services.facts.server import dialect
from tests.examples import examples
from tests.unit.allowlist.disguises import CALLS, CHANGES, HOLDERS, QUOTING, READS, TAILS, WRAPS, changing
from tests.unit.allowlist.read_grammar import SHOWS, SHOWS_ELSEWHERE, reads

MANY = settings(max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def allowed(sql: str, heartbeat_table: str | None = None) -> bool:
    try:
        check_statement(sql, heartbeat_table=heartbeat_table)
    except Refused:
        return False
    return True


@MANY
@given(reads(everywhere=True))
def test_that_every_read_of_the_consoles_grammar_passes(sql: str) -> None:
    check_statement(sql)


@MANY
@given(changing())
@example("SELECT 1 INTO OUTFILE '/tmp/x'")
@example("SELECT count (*) FROM sys.version")
@example("SELECT s.nextval")
def test_that_a_change_is_refused_in_every_disguise(sql: str) -> None:
    with pytest.raises(Refused):
        check_statement(sql)


@pytest.mark.parametrize("change", CHANGES)
def test_that_each_changing_statement_is_refused_in_each_wrapping(change: str) -> None:
    passed = [wrap for wrap in WRAPS if allowed(wrap.replace("{0}", change))]
    assert passed == []


@pytest.mark.parametrize("call", CALLS)
def test_that_each_forbidden_expression_is_refused_wherever_an_expression_may_stand(call: str) -> None:
    passed = [holder for holder in HOLDERS if allowed(holder.replace("{0}", call))]
    assert passed == []


@pytest.mark.parametrize("holder", HOLDERS)
def test_that_the_places_for_expressions_themselves_are_allowed(holder: str) -> None:
    check_statement(holder.replace("{0}", "LOWER('a')"))


@pytest.mark.parametrize("tail", TAILS)
def test_that_nothing_forbidden_may_follow_a_read(tail: str) -> None:
    assert [read for read in READS if allowed(read + tail)] == []


@pytest.mark.parametrize("quoting", QUOTING)
def test_that_what_a_mode_could_read_differently_is_refused(quoting: str) -> None:
    assert not allowed(quoting.replace("{0}", "DROP TABLE app.t"))


def test_that_the_heartbeat_table_of_the_inventory_is_readable_and_no_other() -> None:
    sql = "SELECT server_id, ts FROM percona.heartbeat ORDER BY ts DESC LIMIT 1"
    assert not allowed(sql)
    assert allowed(sql, "percona.heartbeat")
    assert allowed("SELECT ts FROM `percona`.`heartbeat`", "percona.heartbeat")
    assert not allowed("SELECT ts FROM percona.Heartbeat", "percona.heartbeat")
    assert not allowed("SELECT ts FROM percona.heartbeat2", "percona.heartbeat")
    assert not allowed("SELECT ts FROM heartbeat", "percona.heartbeat")
    assert not allowed("SELECT ts FROM percona.heartbeat FOR UPDATE", "percona.heartbeat")


def test_that_the_statements_of_the_dialects_pass() -> None:
    variables = (
        {"version": "10.11.14-MariaDB", "wsrep_provider": "/x.so", "wsrep_trx_fragment_size": "0"},
        {"version": "5.7.44", "group_replication_group_name": "a"},
        {"version": "8.0.40", "group_replication_group_name": "a"},
        {"version": "8.4.3", "server_uuid": "x", "group_replication_group_name": "a"},
    )
    for known in variables:
        d = dialect.dialect_of(known)
        for read in (d.replication_status, d.replicas, d.galera_members, d.group_members, d.group_stats):
            if read is not None:
                check_statement(statement_of(read))
    for read in (dialect.STATUS, dialect.VARIABLES, dialect.PROCESSES):
        check_statement(statement_of(read))


def test_that_the_query_for_committing_threads_of_the_metrics_page_passes() -> None:
    check_statement(
        "SELECT COUNT(*) FROM performance_schema.threads WHERE processlist_state RLIKE "
        "'commit|flush|semi-sync|wsrep.*(certif|replicat|commit)' OR processlist_info LIKE 'COMMIT%'"
    )


def test_that_a_refusal_says_what_and_why_and_never_what_stood_in_quotes() -> None:
    with pytest.raises(Refused, match=r"SLEEP\(\) is not on the list") as refusal:
        check_statement("SELECT * FROM sys.version WHERE a = 'hunter2' AND SLEEP(1)")
    assert "hunter2" not in refusal.value.as_text()
    with pytest.raises(Refused, match="KILL statements"):
        check_statement("KILL 5")
    with pytest.raises(Refused, match=r"mysql\.user may not be read"):
        check_statement("SELECT * FROM mysql.user")


def test_that_deep_nesting_and_length_are_refused_before_they_cost_anything() -> None:
    assert not allowed("SELECT " + "(" * 5000 + "1" + ")" * 5000)
    assert not allowed("SELECT " + "NOT " * 10_000 + "1")
    assert not allowed("SELECT " + "1," * 20_000 + "1")


_PIECES = st.sampled_from(
    [*"'`\"\\;#@(),.*-/!?=<>$ \n\t\0", "--", "/*", "*/", "/*!", "/*+", ":=", "SELECT", "FROM", "INTO", "FOR", "UPDATE",
     "SHOW", "WITH", "AS", "UNION", "sys.version", "SLEEP", "COUNT", "WHERE", "@@port", "1", "a", "\u00e9", "STATUS",
     "GLOBAL", "LIKE", "NOT", "IN", "CASE", "WHEN", "END", "JOIN", "ON", "LIMIT", "q", "\u2028", "0x", "_utf8"]
)  # fmt: skip
_WHITE = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|/\* [A-Za-z0-9 _.,=-]* \*/")
_NEVER = re.compile(
    r"[;#@\\\"\0]|--|/\*|:=|\b(INTO|UPDATE|DELETE|INSERT|SLEEP|SHARE|PROCEDURE|OUTFILE|NEXTVAL|RETURNING)\b",
    re.IGNORECASE,
)


@MANY
@given(st.one_of(st.lists(_PIECES, max_size=25).map(" ".join), st.lists(_PIECES, max_size=25).map("".join), st.text()))
def test_that_any_text_is_either_refused_or_free_of_everything_forbidden(sql: str) -> None:
    if allowed(sql):
        bare = _WHITE.sub(" ", sql).replace("@@", "")
        assert not _NEVER.search(bare), bare


@MANY
@given(
    reads(),
    st.integers(0, 400),
    st.sampled_from([*"'`\"\\;#@\0", "/*", "*/", "-- ", " INTO @a", " SLEEP(1)", " FOR UPDATE"]),
)
def test_that_a_piece_put_anywhere_into_a_read_never_smuggles_a_change_in(sql: str, at: int, piece: str) -> None:
    spoiled = sql[: at % (len(sql) + 1)] + piece + sql[at % (len(sql) + 1) :]
    if allowed(spoiled):
        assert not _NEVER.search(_WHITE.sub(" ", spoiled).replace("@@", ""))


def test_that_the_lists_of_the_tests_hold_no_statement_twice() -> None:
    for texts in (CHANGES, CALLS, HOLDERS, QUOTING, READS, TAILS, WRAPS, SHOWS + SHOWS_ELSEWHERE):
        assert len(set(texts)) == len(texts)

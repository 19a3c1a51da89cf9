"""What a real MySQL answered in each state of a group and of replication: whole files, read by the parsers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from services.connections.ports import Rows
from services.facts.model import Flavour
from services.facts.numeric import replication_values
from services.facts.replication.replication import applier_stopped, parse_replication
from services.facts.server.dialect import dialect_of
from tests.unit.recorded.replies import HERE, load, rows

FILES = sorted(path.name for path in (HERE / "mysql").glob("*.json"))
MEMBERS = "SELECT * FROM performance_schema.replication_group_members"


def _of(name: str, host: str) -> dict[str, Any]:
    (file,) = [file for file in FILES if file.endswith(f"-{name}.json")]
    found: dict[str, Any] = load(f"mysql/{file}")["hosts"][host]
    return found


def _answer(name: str, host: str, sql: str) -> Rows:
    return rows(_of(name, host)["queries"][sql])


def _states(name: str, host: str) -> list[tuple[str, str, str]]:
    answer = _answer(name, host, MEMBERS)
    at = [answer.columns.index(c) for c in ("MEMBER_HOST", "MEMBER_STATE", "MEMBER_ROLE")]
    return sorted((str(r[at[0]]).replace("10.213.13.1", "g"), str(r[at[1]]), str(r[at[2]])) for r in answer.rows)


@pytest.mark.parametrize("file", FILES)
def test_that_a_recording_names_its_version_and_each_row_fits_its_columns(file: str) -> None:
    found = load(f"mysql/{file}")
    (version,) = re.findall(r"^\d+\.\d+\.\d+(?=-[a-z])", file)
    assert f"MySQL {version}" in found["source"]
    tables = [t for host in found["hosts"].values() for t in host.get("queries", {}).values() if "rows" in t]
    assert len(tables) > 5
    assert [t for t in tables if any(len(row) != len(t["columns"]) for row in t["rows"])] == []


@pytest.mark.parametrize(("name", "host", "states"), [
    ("group-single-primary", "g2", ["ONLINE PRIMARY", "ONLINE SECONDARY", "ONLINE SECONDARY"]),
    ("group-multi-primary", "g1", ["ONLINE PRIMARY"] * 3),
    ("group-minority", "g1", ["ONLINE PRIMARY", "ONLINE SECONDARY", "UNREACHABLE SECONDARY"]),
    ("group-minority", "g3", ["UNREACHABLE PRIMARY", "UNREACHABLE SECONDARY", "ONLINE SECONDARY"]),
    ("group-quorum-lost", "g1", ["ONLINE PRIMARY", "UNREACHABLE SECONDARY", "UNREACHABLE SECONDARY"]),
    ("group-recovering", "g1", ["ONLINE PRIMARY", "ONLINE SECONDARY", "RECOVERING SECONDARY"]),
])  # fmt: skip
def test_that_the_states_a_group_shows_of_itself_were_recorded(name: str, host: str, states: list[str]) -> None:
    assert [f"{state} {role}" for _, state, role in _states(name, host)] == states


def test_that_members_that_fell_out_are_alone_with_their_error_and_without_a_role() -> None:
    assert _states("group-expelled-readable", "g3") == [("g3", "ERROR", "")]
    assert [name for name, *_ in _states("group-expelled-readable", "g1")] == ["g1", "g2"]
    assert _states("group-stopped", "g3") == [("g3", "OFFLINE", "")]


@pytest.mark.parametrize("name", ["group-expelled", "group-error"])
def test_that_a_member_in_error_lets_nobody_in_and_says_why_in_its_log_file(name: str) -> None:
    found = _of(name, "g3")
    assert "offline mode" in found["status"]["sentence"]
    (text,) = [reply["stdout"] for words, reply in found["commands"].items() if words.startswith("tail ")]
    assert ("MY-011505" if name == "group-expelled" else "MY-011451") in text
    assert "MY-013486" in text


def test_that_replicas_of_a_real_mysql_are_read_running_and_stopped_with_their_error() -> None:
    def channel(name: str, host: str) -> tuple[str, str, float | None, int, int]:
        found = parse_replication(_answer(name, host, "SHOW REPLICA STATUS"))
        assert found is not None
        (one,) = found.channels
        assert (one.source_host, one.gtid_mode) == ("10.213.13.21", "AUTO")
        return one.io_running, one.sql_running, one.seconds_behind, one.io_errno, one.sql_errno

    assert channel("async-healthy", "a2") == channel("async-healthy", "a3") == ("Yes", "Yes", 0.0, 0, 0)
    assert channel("async-sql-stopped", "a3") == ("Yes", "No", None, 0, 1062)
    assert channel("async-io-stopped", "a2") == ("Connecting", "Yes", None, 1045, 0)


def test_that_the_gap_of_mysqls_gtid_sets_is_sampled_and_none_while_the_received_set_is_forgotten() -> None:
    behind = parse_replication(_answer("async-lag", "a3", "SHOW REPLICA STATUS"))
    assert replication_values(behind)["repl.default.gtid_gap"] == 51.0
    whole = parse_replication(_answer("async-healthy", "a3", "SHOW REPLICA STATUS"))
    assert replication_values(whole)["repl.default.gtid_gap"] == 0.0
    forgotten = parse_replication(_answer("async-delayed", "a3", "SHOW REPLICA STATUS"))
    assert "repl.default.gtid_gap" not in replication_values(forgotten)


WORKERS = "SELECT * FROM performance_schema.replication_applier_status_by_worker"


def test_that_a_stopped_sql_thread_is_told_with_the_error_of_the_worker_that_failed() -> None:
    rows_of = _answer("async-sql-stopped", "a3", "SHOW REPLICA STATUS")
    assert applier_stopped(rows_of)
    bare = parse_replication(rows_of)
    assert bare is not None
    assert "replication_applier_status_by_worker" in bare.channels[0].sql_error  # its own words only name the table
    told = parse_replication(rows_of, appliers=_answer("async-sql-stopped", "a3", WORKERS))
    assert told is not None
    assert told.channels[0].sql_errno == 1062
    assert "Could not execute Write_rows event on table sbtest.lab_probe" in told.channels[0].sql_error


def test_that_a_worker_of_another_channel_explains_nothing_and_a_running_applier_needs_no_reason() -> None:
    workers = _answer("async-sql-stopped", "a3", WORKERS)
    other = Rows(workers.columns, tuple(("elsewhere", *row[1:]) for row in workers.rows))
    rows_of = _answer("async-sql-stopped", "a3", "SHOW REPLICA STATUS")
    assert parse_replication(rows_of, appliers=other) == parse_replication(rows_of)
    running = _answer("async-healthy", "a3", "SHOW REPLICA STATUS")
    assert not applier_stopped(running)
    assert parse_replication(running, appliers=workers) == parse_replication(running)


def test_that_a_real_member_is_known_as_mysql_in_a_group_and_a_replica_as_in_none() -> None:
    def dialect(name: str, host: str) -> tuple[Flavour, bool]:
        answer = _answer(name, host, "SHOW GLOBAL VARIABLES")
        known = dialect_of({str(key): str(value) for key, value in answer.rows})
        return known.flavour, known.identity.group_replication

    assert dialect("group-single-primary", "g1") == (Flavour.MYSQL, True)
    assert dialect("async-healthy", "a2") == (Flavour.MYSQL, False)

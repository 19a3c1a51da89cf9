"""Error logs that are JSON say the same as text ones; identifiers of a journal may have colons. MySQL 8.4's form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.connections.observer.paths import is_log
from services.facts.logs.client_text import JOURNAL
from services.facts.logs.error_log import parse_transfers
from services.facts.logs.json_log import log_file, plain_line
from services.facts.replication.group_replication import parse_group_error
from services.facts.server.server import parse_server
from tests.unit.facts.server.test_cut_texts import DATA

LINES = (DATA / "mysql-8.4.6-error-log.json").read_text().splitlines()
LEFT = (DATA / "pxc-8.0.36-joiner-left.log").read_text().splitlines()


def as_json(line: str) -> str:
    """Return a line of a text log of MySQL 8 as its JSON sink writes it."""
    time, thread, label, code, subsystem, message = line.split(" ", 5)
    return json.dumps({
        "log_type": 1, "prio": 2, "err_code": int(code.strip("[]")[3:]), "subsystem": subsystem.strip("[]"),
        "msg": message, "time": time, "thread": int(thread), "label": label.strip("[]").capitalize(),
    })  # fmt: skip


def test_that_a_line_of_json_reads_as_the_line_of_text_that_it_stands_for() -> None:
    assert plain_line(LINES[1]) == (
        "2026-11-20T07:40:02.440019Z 0 [ERROR] [MY-011505] [Repl] Plugin group_replication reported: 'Member was "
        "expelled from the group due to network failures, changing member status to ERROR.'"
    )
    assert parse_group_error(LINES).startswith("Member was expelled from the group")


@pytest.mark.parametrize(
    "prefix", ["", "1795160402.440019 db1 mysqld[812]: ", "1795160402.440019 db1 shop:mysqld@x[812]: "]
)
def test_that_transfers_are_found_in_a_log_of_json_as_in_one_of_text(prefix: str) -> None:
    whole = parse_transfers(LEFT)
    assert [(t.joiner_name, t.donor_name, t.failed, t.ended is not None) for t in whole] == [
        ("shop3", "shop2", True, True)
    ]
    found = parse_transfers([f"{prefix}{as_json(line)}" for line in LEFT])
    assert [(t.joiner_name, t.donor_name, t.failed) for t in found] == [
        (t.joiner_name, t.donor_name, t.failed) for t in whole
    ]


def test_that_breaks_within_a_message_begin_no_line() -> None:
    forged = json.dumps(
        {"msg": "Access denied for user 'a\nMember 1.0 (b) synced with group.'", "time": "x", "label": "Note"}
    )
    assert "\n" not in plain_line(forged)


@pytest.mark.parametrize("line", ["{", "{}", '{"msg": 5}', '{"time": "x"}', "[1]", "plain { text", '{"msg": "cut off'])
def test_that_what_is_no_line_of_json_stays_as_it_is(line: str) -> None:
    assert plain_line(line) == line


@given(st.text(max_size=200))
def test_that_any_line_is_read_without_an_error(line: str) -> None:
    plain_line(line)
    plain_line(f"{{{line}}}")


@pytest.mark.parametrize(
    ("services", "file"),
    [
        ("log_filter_internal; log_sink_internal", "/var/log/mysql/error.log"), ("", "/var/log/mysql/error.log"),
        ("log_filter_internal; log_sink_json", "/var/log/mysql/error.log.00.json"),
        ("log_sink_internal, log_sink_json", "/var/log/mysql/error.log"),
    ],
)  # fmt: skip
def test_that_the_log_is_read_where_its_sink_writes(services: str, file: str) -> None:
    server = parse_server({"log_error": "/var/log/mysql/error.log", "log_error_services": services}, {}, 1.0)
    assert server.log_error == file
    assert is_log(file)
    assert log_file("stderr", services) == "stderr"


@pytest.mark.parametrize("by", ["mariadbd[162]", "shop:mysqld@x[162]", "a:b:c[1]", "systemd[1]", "kernel"])
def test_that_an_identifier_of_the_journal_may_have_colons(by: str) -> None:
    found = JOURNAL.match(f"1795160402.440019 db1 {by}: Member 1.0 (a: b) synced")
    assert found is not None
    assert (found["by"], found["message"]) == (by, "Member 1.0 (a: b) synced")

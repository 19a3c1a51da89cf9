"""What hosts print and servers log: no secret, no endless search, no odd number gets from there to a person."""

from __future__ import annotations

import io
import sys
import time

import pytest

from app.cli.visible import only_visible, visible
from services.facts.binlog.marks import MOST_MARKS, parse_marks
from services.facts.galera.primary_views import MOST_VIEWS, parse_views
from services.facts.logs.part import Log
from services.facts.masking import masked
from services.facts.server.holding_up import Seen, holders
from services.facts.server.sessions import parse_sessions
from services.procedures.execute.acting_output import Masks, judged
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.pasts.positions import kept_name, recovered_position
from tests.unit.recorded.histories_recorded import UUID

QUERY = "2026-11-22  6:13:45 2 [ERROR] Slave SQL: Error 'x' on query. Query: '"
TELLING = (
    "CREATE USER app IDENTIFIED BY 'hunter2''",
    "ALTER USER app IDENTIFIED VIA ed25519 USING PASSWORD('hunter2')'",
    "GRANT ALL ON *.* TO u IDENTIFIED WITH mysql_native_password AS '*hunter2''",
    "SET PASSWORD FOR app = PASSWORD('hunter2')'",
    "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'a', PASSWORD 'hunter2')'",
    "CHANGE MASTER TO MASTER_PASSWORD=\"a'b hunter2\"'",
    "mariabackup --user=sst --password hunter2",
    "mariabackup --user=sst -phunter2",
    "wsrep_sst_mariabackup --auth 'sst:hunter2'",
    "SET PASSWORD = 'pass''hunter2'",
    'SET PASSWORD FOR app = "pass""hunter2"',
    "CREATE USER app IDENTIFIED BY 'pass''hunter2'",
    "START SLAVE USER='r' PASSWORD='pass''x hunter2'",
    "START SLAVE USER='r' PASSWORD='pass\\'x hunter2'",
    "START SLAVE USER='r' PASSWORD='never closed hunter2",
    "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD='x' 'hunter2'",
    "SELECT OLD_PASSWORD('hunter2')",
)


@pytest.mark.parametrize("said", TELLING)
def test_that_a_statement_or_call_in_a_log_shows_no_password(said: str) -> None:
    assert "hunter2" not in Log((QUERY + said,)).since(0.0)[0]
    assert "hunter2" not in Masks().failed_lines(QUERY + said)[0]


def test_that_settings_beside_a_secret_and_plain_words_of_a_server_stay() -> None:
    given = "socket.ssl_password_file=/x; password='a''b'; gcache.size=1G"
    assert masked(given) == "socket.ssl_password_file=/x; password=********; gcache.size=1G"
    for said in (
        "Plugin 'mysql_native_password' is not loaded",
        "Access denied for user 'a'@'b' (using password: YES)",
    ):
        assert masked(said) == said
        assert Masks().lines(said) == (said,)


def test_that_a_password_on_the_next_line_of_a_statement_is_not_shown() -> None:
    shown = Log((f"{QUERY}CREATE USER app IDENTIFIED BY", "  'hunter2'', Internal MariaDB error code: 1396")).since(0.0)
    assert not any("hunter2" in line for line in shown)


def test_that_a_line_of_megabytes_is_searched_for_secrets_at_once() -> None:
    begun = time.process_time()
    for letters in ("a" * 3_000_000, "identified" + " " * 3_000_000, "password" * 400_000, "-" * 3_000_000):
        assert len(Masks().lines(letters)[0]) <= 500
        assert len(Log((f"{QUERY}{letters}",)).since(0.0)[0]) <= 400
    assert time.process_time() - begun < 20.0


def test_that_a_kept_value_has_an_end() -> None:
    output = (0, "extracted: " + "x" * 500_000, "")
    acted = judged("it", output, host="s1", ok=(0,), keep="e", pattern=r"extracted: (.*)", masks=Masks())
    assert len(dict(acted.kept)["e"]) == 20_000


def test_that_absurd_numbers_of_a_server_are_no_numbers_and_end_nothing() -> None:
    rows = (("²", "u", "Query", "ALTER TABLE t", 1, "h"), ("9" * 5000, "u", "Query", "ALTER TABLE t", 1, "h"))
    assert parse_sessions(rows).clients == ()
    seen = Seen(processes=(*rows, (3, "u", "Query", "ALTER TABLE t", 1)), transactions={}, lockers=None, desynced=False)
    assert holders("s1", seen) == ()
    (held,) = holders(
        "s1", Seen(((3, "u", "Query", "ALTER TABLE t", "\x1b[2J", "h"),), {}, frozenset(), desynced=False)
    )
    assert "\x1b" not in held.sentence
    assert parse_marks([f"mark 261122 6:13:34 41 0-1-2 {'9' * 5000}"]) == ()
    assert len(parse_marks(["mark 261122 6:13:34 41 0-1-2 7"] * 100_000)) == MOST_MARKS
    facts = Facts(1.0, UUID, "", kept=((kept_name("s1"), f"{UUID}:{'9' * 30}"),))
    assert recovered_position(facts, "s1") == ("", None)


def test_that_a_log_full_of_views_is_read_at_once() -> None:
    member = "\t0: b77d0b33-e63b-11f1-ba60-baec77942897, s3"
    blocks = [("View:", f"  id: {UUID}:{at}", "  status: primary", member) for at in range(13_000)]
    begun = time.process_time()
    assert len(parse_views(line for block in reversed(blocks) for line in reversed(block))) == MOST_VIEWS
    assert time.process_time() - begun < 15.0


def test_that_a_terminal_is_given_nothing_that_it_obeys(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with only_visible():
        sys.stdout.write("\x1b[2Jdone\r\n\tnow \u202eko\u2069 \x9b1m\x85\n")
        sys.stdout.write("\a\n")
    assert out.getvalue() == "\ufffd[2Jdone\ufffd\n\tnow \ufffdko\ufffd \ufffd1m\ufffd\n\a\n"
    assert visible("Ünïcode ✓ – 文") == "Ünïcode ✓ – 文"

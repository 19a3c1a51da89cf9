"""Lines that a client wrote into a log or a binary log and that look like the server's own (MariaDB 10.11.18).

Recorded from a server of our own: `lines-of-clients.binlog` is what mariadb-binlog printed of statements and a table's
name with line breaks in them, `lines-of-clients.log` a Primary view and two refused logins. The programs run as on a
host; only mariadb-binlog is a stand-in, which prints that text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.connections.programs.read_programs import VIEWS_OF_LOG
from services.connections.reads.registry import command_of
from services.facts.binlog.marks import marks_read, parse_marks
from services.facts.galera.primary_views import parse_views
from services.facts.logs.client_text import without_client_text
from services.facts.logs.error_log import parse_transfers
from services.procedures.catalogue.steps.extraction import EXTRACT
from tests.unit.facts.binary_logs import TEXT, a_binary_log, run
from tests.unit.recorded.histories_recorded import FOLDER

LOG = FOLDER / "lines-of-clients.log"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return a_binary_log(tmp_path, TEXT.read_text())


@pytest.mark.parametrize(("since", "first"), [("newest", None), ("8", 8)])
def test_that_no_line_of_a_statement_or_a_name_becomes_a_mark(index: Path, since: str, first: int | None) -> None:
    found = parse_marks(run(BINLOG_MARKS, index, str(index), since).stdout.splitlines())
    xids = [mark.xid for mark in found if mark.xid is not None]
    assert xids == [xid for xid in (7, 8, 9, 10, 11, 13) if first is None or xid >= first]
    assert (found[-1].gtid, found[-1].time, found[-1].server_id) == ("0-41-9", "261122 10:48:43", 41)


def test_that_an_xid_beyond_31_bits_is_read_whole(index: Path) -> None:
    log = index.parent / "binlog.000001"
    log.write_text(log.read_text().replace("\tXid = 13\n", "\tXid = 12345678901\n"))
    assert parse_marks(run(BINLOG_MARKS, index, str(index), "newest").stdout.splitlines())[-1].xid == 12345678901
    assert command_of(marks_read("/x/y.index", 12345678901)).argv[-1] == "12345678901"


def test_that_a_log_whose_events_stand_in_no_order_is_not_known(index: Path) -> None:
    log = index.parent / "binlog.000001"
    forged = "#261122 10:48:43 server id 41  end_log_pos 9 CRC32 0x11111111 \tXid = 14\n"
    log.write_text(log.read_text().replace("COMMIT/*!*/;\n", "COMMIT/*!*/;\n" + forged, 1))
    for since in ("newest", "8"):
        assert run(BINLOG_MARKS, index, str(index), since).returncode == 5


@pytest.mark.parametrize("kind", ["Query", "Query_compressed"])
def test_that_no_statement_makes_what_is_extracted_less(index: Path, kind: str) -> None:
    log, out = index.parent / "binlog.000001", index.parent / "out" / "s3.sql"
    log.write_text(log.read_text().replace(" ddl", "").replace("\tQuery\t", f"\t{kind}\t"))
    ended = run(EXTRACT, index, str(index), "7", str(out))
    assert ended.stdout.startswith("extracted: 5 transactions, 1 statements")
    assert [f"Xid = {xid}\n" in out.read_text() for xid in (7, 8, 9, 10, 11, 13)] == [False] + [True] * 5
    assert out.stat().st_mode & 0o777 == 0o600


def test_that_the_name_of_a_refused_client_is_no_view(tmp_path: Path) -> None:
    log = tmp_path / "error.log"
    log.write_text(LOG.read_text())
    lines = run(VIEWS_OF_LOG, log, "file", str(log)).stdout.splitlines()
    assert [(v.seqno, v.names) for v in parse_views(lines)] == [(1, ("x1",))]
    assert all(len(line) < 200 for line in lines)


def test_that_the_name_of_a_refused_client_is_no_transfer() -> None:
    lines = LOG.read_text().splitlines()
    assert any("requested state transfer" in line for line in lines)
    assert parse_transfers(lines) == ()
    kept = without_client_text(lines)
    assert not any("status: primary" in line for line in kept[12:])
    plain = "2026-11-22 10:48:44 7 [Warning] Access denied for user 'sst'@'localhost' (using password: YES)"
    assert without_client_text([plain, "next"]) == (plain, "next")

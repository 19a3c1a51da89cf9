"""A binary log that can't be read is 'not known' with the reason, never 'no transaction', and nothing waits for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.ports import Output
from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.facts.binlog.marks import parse_marks
from services.procedures.catalogue.steps.binlog_tail import LAST_XID
from services.procedures.catalogue.steps.extraction import EXTRACT
from services.procedures.looking.histories import binlog_index, first_round, read_marks
from tests.unit.facts.binary_logs import BROKEN, EMPTY, TEXT, a_binary_log, run
from tests.unit.procedures.host_of import host_of

WAYS = ("missing", "fifo", "folder", "broken", "cut", "empty")


def spoilt(way: str, file: Path) -> None:
    """Make a file one that can't be read to its end."""
    if way == "broken":
        file.write_text(BROKEN)
    elif way == "cut":  # a log in use is read to where it breaks off, and the program ends well
        file.write_text(EMPTY + "x" * 400)
    elif way == "empty":
        file.write_text("")
        os.truncate(file, 4)
    else:
        file.unlink()
        if way == "fifo":
            os.mkfifo(file)
        elif way == "folder":
            file.mkdir()


def reading(index: Path, since: int | None = None) -> tuple[object, str]:
    """Return what a host's binary log tells as gathering reads it: the marks, and why not."""
    unread: list[str] = []

    def road(read: CommandRead, limit_s: float) -> Output:
        done = run(BINLOG_MARKS, index, *command_of(read).argv[-2:])
        return Output(done.returncode, done.stdout.encode(), done.stderr.encode())

    return read_marks("s3", str(index), since, road, unread), "; ".join(unread)


@pytest.mark.parametrize("way", WAYS)
def test_that_a_newest_file_that_can_not_be_read_is_not_known_and_named(tmp_path: Path, way: str) -> None:
    index = a_binary_log(tmp_path, TEXT.read_text(), EMPTY)
    assert len(parse_marks(run(BINLOG_MARKS, index, str(index), "newest").stdout.splitlines())) == 9
    spoilt(way, tmp_path / "binlog.000002")
    marks, why = reading(index)
    assert marks is None
    assert why.startswith("the binary log of s3 could not be read: ")
    assert "./binlog.000002" in why


@pytest.mark.parametrize("way", WAYS)
def test_that_no_transaction_is_said_only_where_each_file_was_read_to_its_end(tmp_path: Path, way: str) -> None:
    index = a_binary_log(tmp_path, *(EMPTY for _ in range(20)))
    assert reading(index) == ((), "the binary log of s3 holds no transaction")
    spoilt(way, tmp_path / "binlog.000001")
    marks, why = reading(index)
    assert marks is None
    assert "./binlog.000001" in why


def test_that_a_transaction_behind_many_files_without_one_is_found(tmp_path: Path) -> None:
    index = a_binary_log(tmp_path, TEXT.read_text(), *(EMPTY for _ in range(20)))
    marks, _ = reading(index)
    assert isinstance(marks, tuple)
    assert marks[-1].gtid == "0-41-9"


@pytest.mark.parametrize("way", ["missing", "fifo", "broken"])
def test_that_a_gap_in_what_is_asked_for_is_not_known(tmp_path: Path, way: str) -> None:
    index = a_binary_log(tmp_path, TEXT.read_text(), EMPTY, EMPTY)
    spoilt(way, tmp_path / "binlog.000002")
    marks, why = reading(index, 8)
    assert marks is None
    assert "could not be read: " in why


def test_that_a_file_lost_before_what_is_asked_for_counts_like_a_purged_one(tmp_path: Path) -> None:
    index = a_binary_log(tmp_path, EMPTY, TEXT.read_text())
    spoilt("missing", tmp_path / "binlog.000001")
    marks, why = reading(index, 2)
    assert isinstance(marks, tuple)
    assert (marks[0].xid, why) == (7, "")


@pytest.mark.parametrize("way", ["missing", "fifo"])
def test_that_an_index_that_can_not_be_read_is_no_log_without_transactions(tmp_path: Path, way: str) -> None:
    index = a_binary_log(tmp_path, TEXT.read_text())
    spoilt(way, index)
    marks, why = reading(index)
    assert marks is None
    assert "its index is n" in why


def test_that_files_without_an_index_are_a_log_that_was_not_read() -> None:
    def road(listing: str) -> tuple[str | None, list[str]]:
        unread: list[str] = []

        def listed(command: Command, limit_s: float) -> Output:
            return Output(0, listing.encode(), b"")

        return binlog_index(host_of("s3", data_folder_path="/data"), listed, unread), unread

    found, why = road("aria_log.00000001\nibdata1\nmysql-bin.000007\n")
    assert found is None
    assert why == ["/data of s3 has a binary log (mysql-bin.000007) without an index file"]
    assert road("aria_log.00000001\nibdata1\ns3-relay-bin.000007\n")[0] == ""
    assert road("mysql-bin.000007\nmysql-bin.index\n")[0] == "/data/mysql-bin.index"


def test_that_only_a_log_that_was_read_tells_that_nothing_is_lost() -> None:
    def told(code: int, printed: bytes = b"") -> bool:
        def road(read: CommandRead, limit_s: float) -> Output:
            reads_marks = BINLOG_MARKS in command_of(read).argv
            return Output(code if reads_marks else 0, printed if reads_marks else b"mysql-bin.index\n", b"")

        return first_round(host_of("s3", data_folder_path="/data"), road).log_told

    assert told(0)
    assert not any(told(code, b"why\n") for code in (1, 3, 4, 5, 6, 124))


def test_that_what_a_file_is_called_is_cut_and_printed_as_text(tmp_path: Path) -> None:
    index = a_binary_log(tmp_path, EMPTY)
    index.write_text("./\x1b[2J" + "y" * 5_000 + ".000001\n")
    _, why = reading(index)
    assert "\x1b" not in why
    assert len(why) < 250


@pytest.mark.parametrize("way", WAYS)
def test_that_the_end_of_a_log_that_can_not_be_read_is_not_none(tmp_path: Path, way: str) -> None:
    index = a_binary_log(tmp_path, TEXT.read_text(), EMPTY)
    words = (str(tmp_path), "binlog")
    assert run(LAST_XID, index, *words).stdout == "last Xid: 13\n"  # no line of a statement is one
    spoilt(way, tmp_path / "binlog.000002")
    assert run(LAST_XID, index, *words).stdout.startswith("last Xid: not known: ./binlog.000002 ")


def test_that_what_could_not_be_extracted_is_named_beside_the_count(tmp_path: Path) -> None:
    index = a_binary_log(tmp_path, TEXT.read_text(), EMPTY)
    spoilt("fifo", tmp_path / "binlog.000002")
    output = run(EXTRACT, index, str(index), "7", str(tmp_path / "out" / "s3.sql")).stdout
    assert output.startswith("extracted: 5 transactions, 1 statements")
    assert output.endswith("; NOT READ, so not counted: ./binlog.000002\n")

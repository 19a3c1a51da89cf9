"""Tables whose names read like events, and transactions without an Xid (MariaDB 10.11.18, wsrep off).

Recorded from a server of our own: `names-of-clients.binlog` is what mariadb-binlog -v printed. Real Xids: 7, 11, 13,
25, 35; an Aria table is called 'a<TAB>Xid = 10', another 'b<TAB>GTID 0-1-5 ddl'; three XA transactions were prepared.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.facts.binlog.marks import Mark, parse_marks
from services.procedures.catalogue.steps.binlog_tail import LAST_XID
from services.procedures.catalogue.steps.extraction import EXTRACT
from tests.unit.facts.binary_logs import EMPTY, a_binary_log, run
from tests.unit.recorded.histories_recorded import FOLDER

TEXT = (FOLDER / "names-of-clients.binlog").read_text()


def marks(index: Path, since: str = "newest") -> tuple[Mark, ...]:
    return parse_marks(run(BINLOG_MARKS, index, str(index), since).stdout.splitlines())


def test_that_no_name_of_a_table_becomes_an_xid_or_a_gtid(tmp_path: Path) -> None:
    index = a_binary_log(tmp_path, TEXT)
    found = marks(index)
    assert [mark.xid for mark in found if mark.xid] == [7, 11, 13, 25, 35]
    assert {mark.gtid.rpartition("-")[0] for mark in found} == {"0-43"}
    assert [mark.xid for mark in marks(index, "8") if mark.xid] == [11, 13, 25, 35]


def test_that_what_xa_prepared_is_a_mark_below_every_seqno_and_rows_of_aria_alone_are_none(tmp_path: Path) -> None:
    found = {int(mark.gtid.rpartition("-")[2]): mark for mark in marks(a_binary_log(tmp_path, TEXT))}
    assert [number for number, mark in found.items() if mark.xid == 0] == [9, 11, 14]
    assert [number for number, mark in found.items() if mark.xid is None] == [1, 2, 4, 6, 16, 17]
    assert found[9].text == "XA, GTID 0-43-9"
    assert 5 not in found


@pytest.mark.parametrize("name", ["b\tXid = 5", "b\tGTID 0-43-999 trans", "b\tQuery\tx", "b\tUser_var"])
def test_that_the_last_xid_is_no_name_of_a_table(tmp_path: Path, name: str) -> None:
    begun = TEXT[: TEXT.index("# at 3819")]  # a transaction that a crash cut off: its table's name is the last word
    before, _, after = begun.rpartition("`app`.`t`")
    before, _, last = before.rpartition("\tTable_map: `app`.`t`")
    a_binary_log(tmp_path, EMPTY, f"{before}\tTable_map: `app`.`{name}`{last}`app`.`t`{after}")
    ran = run(LAST_XID, tmp_path / "binlog.index", str(tmp_path), "binlog")
    assert ran.stdout == "last Xid: 25\n"


def test_that_what_stands_after_a_forged_name_is_written_out_whole(tmp_path: Path) -> None:
    index, out = a_binary_log(tmp_path, TEXT), tmp_path / "out" / "s3.sql"
    for shared, told in (("7", "8 transactions, 4 statements"), ("13", "5 transactions, 2 statements")):
        assert run(EXTRACT, index, str(index), shared, str(out)).stdout.startswith(f"extracted: {told}")
        assert "Xid = 35\n" in out.read_text()
    assert "app.t (5 rows)" in run(EXTRACT, index, str(index), "13", str(out)).stdout


HEAD = "#261122 19:25:02 server id 43  end_log_pos {place}{sum} \t{kind}"
BREAKS = (
    ("its place was passed", "`b\n" + HEAD.format(place=9, sum=" CRC32 0x11111111", kind="Xid = 99") + "\nx`"),
    (
        "its place is still to come",
        "`b\n" + HEAD.format(place=99999, sum=" CRC32 0x11111111", kind="Xid = 99") + "\nx`",
    ),
    (
        "with a place before it",
        "`b\n# at 1600\n" + HEAD.format(place=1605, sum=" CRC32 0x11111111", kind="Xid = 99") + "\nx`",
    ),
    ("without a checksum", "`b\n# at 1600\n" + HEAD.format(place=1605, sum="", kind="Xid = 99") + "\nx`"),
    ("a statement", "`b\n# at 1600\n" + HEAD.format(place=1890, sum=" CRC32 0x11111111", kind="Query\t") + "\nx`"),
)


@pytest.mark.parametrize("name", [text for _, text in BREAKS], ids=[told for told, _ in BREAKS])
def test_that_a_name_with_a_line_like_an_event_is_not_known_and_all_of_the_log_is_written_out(
    tmp_path: Path, name: str
) -> None:
    """Longer than the 64 letters that a name has: a checksum leaves no room for them all."""
    text = TEXT.replace("\tTable_map: `app`.`b\tGTID 0-1-5 ddl`", f"\tTable_map: `app`.{name}", 1)
    index, out = a_binary_log(tmp_path, EMPTY, text), tmp_path / "out" / "s3.sql"
    for since in ("newest", "8"):
        assert run(BINLOG_MARKS, index, str(index), since).returncode == 5
    assert "not known" in run(LAST_XID, index, str(tmp_path), "binlog").stdout
    assert run(EXTRACT, index, str(index), "25", str(out)).returncode == 0
    assert out.read_text().startswith("# at 256")
    assert "GTID 0-43-1 ddl" in out.read_text()


def test_that_files_whose_xids_step_back_within_one_are_written_out_from_before_that(tmp_path: Path) -> None:
    shared = TEXT.replace("Xid = 13\n", "Xid = 3\n").replace("Xid = 35\n", "Xid = 36\n")
    later = EMPTY + "# at 285\n" + HEAD.format(place=300, sum=" CRC32 0x11111111", kind="Xid = 40") + "\n"
    index, out = a_binary_log(tmp_path, shared, later), tmp_path / "out" / "s3.sql"
    assert run(EXTRACT, index, str(index), "40", str(out)).returncode == 0
    assert [f"Xid = {xid}\n" in out.read_text() for xid in (11, 3, 25, 36, 40)] == [False] + [True] * 4

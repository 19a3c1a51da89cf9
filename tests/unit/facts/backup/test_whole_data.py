"""What the programs of whole_programs.py tell is read to the end or not at all; the first of them really runs here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from services.connections.programs.whole_programs import LOST, PAIRS
from services.facts.backup.whole_data import Defined, differences, parse_defined, parse_pairs, parse_sums

ENGINES = {"InnoDB": 12, "MyISAM": 9, "Aria": 42, "MEMORY": 6}


def _hex(text: str) -> str:
    return text.encode().hex().upper()


def _frm(engine: str) -> bytes:
    if engine == "VIEW":
        return b"TYPE=VIEW\nquery=select 1\n" + b" " * 60
    if engine == "partitions":
        return bytes([254, 1, 10, 20, *([0] * 57), 12, 0, 0])
    return bytes([254, 1, 10, ENGINES[engine], *([0] * 60)])


def _lacks(folder: Path) -> frozenset[str]:
    ran = subprocess.run(("bash", "-c", PAIRS, "pilothouse", str(folder)), capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    found = parse_pairs(ran.stdout)
    assert found is not None
    return found.lacking


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A whole backup with all that looks odd, as mariadb-backup 10.11.18 made it on the lab."""
    made: dict[str, bytes] = {
        "a.frm": _frm("InnoDB"), "a.ibd": b"", "made.frm": _frm("InnoDB"), "made.new": b"", "my.frm": _frm("MyISAM"),
        "my.MYD": b"", "my.MYI": b"", "ar.frm": _frm("Aria"), "ar.MAD": b"", "ar.MAI": b"", "mem.frm": _frm("MEMORY"),
        "v.frm": _frm("VIEW"), "part.frm": _frm("partitions"), "part#P#p0.ibd": b"", "part#P#p1.ibd": b"",
        "part.par": b"", "FTS_000000000000001d_CONFIG.ibd": b"", "#sql-1_2.ibd": b"", "db.opt": b"",
        "a@0020b@0023c@002d@0p.frm": _frm("InnoDB"), "a@0020b@0023c@002d@0p.ibd": b"",
        "inc.frm": _frm("InnoDB"), "inc.ibd.delta": b"", "inc.ibd.meta": b"",
    }  # fmt: skip
    (tmp_path / "odd").mkdir()
    (tmp_path / "emp@0020ty").mkdir()
    for name, content in made.items():
        (tmp_path / "odd" / name).write_bytes(content)
    (tmp_path / ".kept" / "x").mkdir(parents=True)
    (tmp_path / ".kept" / "gone.ibd").write_bytes(b"")
    (tmp_path / "ibdata1").write_bytes(b"")
    return tmp_path


def test_that_a_whole_backup_with_views_partitions_and_odd_names_lacks_nothing(backup: Path) -> None:
    assert _lacks(backup) == frozenset()


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("a.frm", "odd/a lacks its .frm file"),
        ("a.ibd", "odd/a lacks its .ibd file"),
        ("made.new", "odd/made lacks its .ibd file"),
        ("inc.ibd.meta", "odd/inc lacks the .meta file of its .delta"),
        ("inc.ibd.delta", "odd/inc lacks the .delta file of its .meta"),
        ("my.MYD", "odd/my lacks its MyISAM files"),
        ("ar.MAI", "odd/ar lacks its Aria files"),
        ("part.frm", "odd/part#P#p0 lacks its .frm file"),
        ("a@0020b@0023c@002d@0p.ibd", "odd/a@0020b@0023c@002d@0p lacks its .ibd file"),
    ],
)
def test_that_each_file_that_belongs_to_another_is_missed(backup: Path, lost: str, said: str) -> None:
    (backup / "odd" / lost).unlink()
    assert said in _lacks(backup)


def test_that_an_empty_frm_a_table_without_partitions_and_an_absent_folder_are_told(backup: Path) -> None:
    (backup / "odd/a.frm").write_bytes(b"")
    (backup / "odd/a.ibd").unlink()
    for name in ("part#P#p0.ibd", "part#P#p1.ibd"):
        (backup / "odd" / name).unlink()
    assert _lacks(backup) == {"odd/a lacks the content of its .frm file", "odd/part lacks its .ibd file"}
    ran = subprocess.run(("bash", "-c", PAIRS, "pilothouse", "/nowhere"), capture_output=True, text=True, check=True)
    found = parse_pairs(ran.stdout)
    assert found is not None
    assert found.absent


def test_that_a_folder_in_which_tables_were_renamed_meanwhile_is_not_judged(backup: Path) -> None:
    (backup / "odd/a.ren").write_text("odd/b")
    (backup / "odd/a.frm").rename(backup / "odd/b.frm")
    assert _lacks(backup) == frozenset()


def test_that_pairs_told_in_part_are_not_known() -> None:
    assert parse_pairs("lacks frm a/b\n") is None


def _lost(backup: Path, known: str, how: str) -> set[str]:
    script = f'{LOST}lost "$1" {how}'
    ran = subprocess.run(
        ("bash", "-c", script, "x", str(backup)), input=known, capture_output=True, text=True, check=True
    )
    return set(ran.stdout.splitlines())


def test_that_what_innodb_knows_is_held_against_the_files_and_against_the_tablespaces_it_found(backup: Path) -> None:
    known = "odd/a\t5\nodd/part#P#p0\t6\nodd/part#P#p1\t7\nodd/gone\t8\nodd/old\t0\nodd/FTS_000000000000001d_X\t9\n"
    assert _lost(backup, known, "files") == {"lost\tfrm\todd/gone", "lost\tibd\todd/gone", "lost\tfrm\todd/old"}
    spaces = "-\t5\n-\t6\n-\t8\n"
    assert _lost(backup, known + spaces, "") == {
        "lost\tfrm\todd/gone", "lost\tfrm\todd/old", "lost\tibd\todd/part#P#p1"}  # fmt: skip


# -- what is defined ---------------------------------------------------------------------------------------------------


def _defined(*lines: str) -> Defined:
    found = parse_defined("\n".join((*(line.replace("|", "\t") for line in lines), "end")))
    assert found is not None
    return found


def _table(name: str, engine: str = "InnoDB", kind: str = "BASE_TABLE", size: int = 16384, schema: str = "shop") -> str:
    return f"table|{_hex(schema)}|{_hex(name)}|{kind}|{engine}|{size}"


def test_that_all_that_was_told_in_part_is_not_known() -> None:
    assert parse_defined(_table("a").replace("|", "\t")) is None


def test_that_tables_of_innodb_are_compared_by_rows_the_smallest_first_and_no_views_sequences_or_own_tables() -> None:
    found = _defined(
        _table("big", size=2**31), _table("a b#c-é"), _table("v", "-", "VIEW"), _table("s", kind="SEQUENCE"),
        _table("my", "MyISAM"), _table("gtid_slave_pos", schema="mysql"), _table("x", schema="sys"),
        _table("h", kind="SYSTEM_VERSIONED"),
    )  # fmt: skip
    assert [one.name for one in found.rows] == ["shop.a b#c-é", "shop.h", "shop.big"]
    assert (len(found.others), found.broken, found.tables) == (1, frozenset(), 6)
    assert found.rows[0].digits == f"{_hex('shop')}.{_hex('a b#c-é')}"


def test_that_a_table_without_an_engine_and_a_lost_tablespace_are_broken_unless_they_are_so_on_both() -> None:
    ours = _defined(_table("a", "-"), "lost|ibd|shop/b")
    assert ours.broken == {"shop.a cannot be opened", "shop/b lacks its .ibd file"}
    theirs = _defined(_table("a"))
    said = differences(ours, theirs, "n3", "n1")
    assert said[:2] == ("shop.a cannot be opened on n3", "shop/b lacks its .ibd file on n3")
    assert differences(ours, ours, "n3", "n1") == ()


def test_that_each_kind_of_difference_is_told_by_its_name_and_no_digest_is() -> None:
    ours = _defined(
        _table("a"), f"columns|{_hex('shop')}|{_hex('a')}|1111", f"account||{_hex('app@%')}|2222",
        f"trigger|{_hex('shop')}|{_hex('t')}|3", _table("mine"), f"schema|{_hex('#mysql50#lost+found')}||",
    )  # fmt: skip
    theirs = _defined(
        _table("a"), f"columns|{_hex('shop')}|{_hex('a')}|4444", f"account||{_hex('app@%')}|5555",
        f"routine|{_hex('shop')}|{_hex('PROCEDURE p')}|6", _table("b"), f"columns|{_hex('shop')}|{_hex('b')}|7",
    )  # fmt: skip
    assert set(differences(ours, theirs, "n3", "n1")) == {
        "account app@% is another one on n3 than on n1", "columns shop.a is another one on n3 than on n1",
        "routine shop.PROCEDURE p is not there on n3, n1 has it", "table shop.b is not there on n3, n1 has it",
        "table shop.mine is on n3, n1 does not have it", "trigger shop.t is on n3, n1 does not have it",
    }  # fmt: skip


@pytest.mark.parametrize(
    "lists",
    [
        [f"schema|{_hex('lost+found')}||"],  # its folder is lost@002bfound, with a db.opt: mariadb-upgrade made it
        [
            f"schema|{_hex('#mysql50#my backup')}||",
            f"schema|{_hex('my backup')}||",
        ],  # the same, of a colleague's folder
        [f"schema|{_hex('old')}||", f"folder|{_hex('old')}||"],  # a mkdir: CREATE DATABASE makes a db.opt
        [f"schema|{_hex('a-b')}||", f"folder|{_hex('a@002db')}||"],
        [f"schema|{_hex('.snapshot')}||", f"schema|{_hex('#mysql50#.snapshot')}||"],
    ],
)
def test_that_a_folder_that_a_server_lists_as_a_schema_and_holds_nothing_is_no_difference(lists: list[str]) -> None:
    """'schema lost+found is on s3, s1 does not have it': the node's own start had made it."""
    ours, theirs = _defined(_table("a"), *lists), _defined(_table("a"))
    assert differences(ours, theirs, "n3", "n1") == differences(theirs, ours, "n1", "n3") == ()
    assert len(ours.folders) == 1


@pytest.mark.parametrize(
    "lists",
    [
        [f"schema|{_hex('empty')}||"],  # CREATE DATABASE on one node alone: the next one of that name fails there
        [f"schema|{_hex('lost+found')}||", f"table|{_hex('lost+found')}|{_hex('t')}|BASE_TABLE|InnoDB|1"],
        [f"schema|{_hex('old')}||", f"folder|{_hex('old')}||", f"routine|{_hex('old')}|{_hex('PROCEDURE p')}|1"],
        [f"schema|{_hex('other')}||", f"folder|{_hex('old')}||"],
    ],
)
def test_that_a_schema_that_was_made_or_holds_something_is_a_difference(lists: list[str]) -> None:
    ours, theirs = _defined(_table("a"), *lists), _defined(_table("a"))
    assert "is on n3, n1 does not have it" in "; ".join(differences(ours, theirs, "n3", "n1"))
    assert ours.folders == frozenset()


def test_that_a_schema_whose_folder_lost_its_options_is_a_difference() -> None:
    theirs = _defined(f"schema|{_hex('shop')}||", _table("a"))
    ours = _defined(f"schema|{_hex('shop')}||", f"folder|{_hex('shop')}||")
    assert "schema shop is not there on n3, n1 has it" in differences(ours, theirs, "n3", "n1")


# -- sums --------------------------------------------------------------------------------------------------------------


def test_that_sums_are_read_by_parts_and_only_to_the_end() -> None:
    text = "sum\tAA.BB\t0:4-1-2/31:1-7-7\t1:100\nnone\tAA.CC\tERROR 1064 (42000)\nnone\tAA.DD\t\n"
    assert parse_sums(text) == {}
    found = parse_sums(f"{text}end\n")
    assert (dict(found["AA.BB"].parts), found["AA.BB"].how) == ({"0": "4-1-2", "31": "1-7-7"}, "1:100")
    assert (found["AA.CC"].why, found["AA.DD"].why) == ("no such table", "the server gave none")

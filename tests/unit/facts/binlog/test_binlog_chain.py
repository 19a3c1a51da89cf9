"""Chains of binary logs: whole or not, from where, up to where; what must not be replayed. Out of real logs, too."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.facts.binlog.chain import Backup, Chain, ChainFile, Wrong, chain_of
from services.facts.binlog.marks import parse_marks
from services.facts.binlog.replay_progress import parse_progress
from services.facts.binlog.survey import parse_survey
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey_program import SURVEY, SURVEYED
from services.procedures.conditions.galera.history.chain_known import held_in

RECORDED = Path(__file__).parents[2] / "recorded" / "binlogs"
U = "0a9baafc-e833-11f1-988e-8319290952fc"


def _folders(tmp_path: Path, seqno: int, place: str, numbers: tuple[int, ...] = (5, 6, 7, 8)) -> tuple[Path, Path]:
    """A backup that says so, and recorded logs; mariadb-binlog is a stub that prints what was recorded."""
    logs, backup, tools = tmp_path / "logs", tmp_path / "backup", tmp_path / "tools"
    for folder in (logs, backup, tools):
        folder.mkdir(exist_ok=True)
    for number in numbers:
        name = f"mysql-bin.{number:06d}"
        (logs / name).write_text((RECORDED / f"{name}.txt").read_text(encoding="utf-8"), encoding="utf-8")
    shown = (RECORDED / "backup-10.11.18.txt").read_text(encoding="utf-8")
    parts = dict(re.findall(r"== (xtrabackup_\w+)\n(.*?)(?=\n?== |\Z)", shown, re.DOTALL))
    parts["xtrabackup_galera_info"] = f"{U}:{seqno} 0\n"
    parts["xtrabackup_binlog_info"] = place
    for name, text in parts.items():
        (backup / name).write_text(text, encoding="utf-8")
    stub = tools / "mariadb-binlog"
    stub.write_text('#!/bin/sh\nfor last; do :; done\ncat -- "$last"\n', encoding="ascii")
    stub.chmod(0o755)
    return backup, logs


def _told(tmp_path: Path, backup: Path, logs: Path) -> str:
    ran = subprocess.run(
        ["bash", "-c", SURVEY, "pilothouse", str(backup), str(logs), str(tmp_path / "data")],
        env={"PATH": f"{tmp_path / 'tools'}:/usr/bin:/bin"}, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    found = re.search(SURVEYED, ran.stdout)
    assert found is not None, ran
    return found[1]


def _chain(tmp_path: Path, seqno: int, place: str = "", numbers: tuple[int, ...] = (5, 6, 7, 8)) -> Chain:
    found = parse_survey(_told(tmp_path, *_folders(tmp_path, seqno, place, numbers)))
    assert not isinstance(found, Wrong), found
    return chain_of(found[1], found[0])


def _codes(chain: Chain) -> set[str]:
    return {wrong.code for wrong in chain.wrong}


def test_that_recorded_logs_are_read_as_they_are_kind_by_kind(tmp_path: Path) -> None:
    found = parse_survey(_told(tmp_path, *_folders(tmp_path, 15_006, "mysql-bin.000005\t385\t\n")))
    assert not isinstance(found, Wrong), found
    backup, files = found
    assert backup == Backup(U, 15_006, "10.11.18", "mysql-bin.000005", 385, "full-backuped", backup.size)
    of = {file.name[-1]: file for file in files}
    assert (of["5"].below, of["5"].below_end, of["5"].above) == (15_006, 203_099, None)
    assert (of["5"].below_gtid, of["5"].below_when) == ("0-41-15000", ("261124", "18:24:01", 41))
    # DDL, CREATE ... SELECT with an Xid, savepoints, FLUSH, CREATE USER, GRANT, Aria rows, statements, wsrep off
    six = of["6"]
    assert (six.statements, six.local, six.in_rows, six.in_rows_at, six.back) == (8, 1, 3, 1554, 1)
    assert (six.gtid, six.when, six.tail) == ("0-41-15015", ("261124", "18:24:01", 41), 3)
    assert (15_011, 15_017, 4) in six.stretches  # four statements and one transaction with sql_log_bin = 0
    assert len(six.stretches) == six.stretched
    assert {file.writer for file in files} == {41}
    assert six.recent[-1] == (15_020, 41, "261124 18:24:01")
    assert of["8"].begins_after == ("0-42-15019", "0-41-15020")
    assert not any(file.odd or file.broken for file in files)


def test_that_a_backup_tells_its_last_change_by_the_log_that_it_brought_and_only_where_no_event_stands_in_it(
    tmp_path: Path,
) -> None:
    brought = (RECORDED / "mysql-bin.000008.txt").read_text(encoding="utf-8")
    head = brought[: brought.index("# at 401\n")]
    for text, at, gtid in ((head, len(head), "0-41-15020"), (head, 385, ""), (brought, len(brought), "")):
        backup, logs = _folders(tmp_path, 15_006, f"mysql-bin.000008\t{at}\t\n")
        (backup / "mysql-bin.000008").write_text(text, encoding="utf-8")
        found = parse_survey(_told(tmp_path, backup, logs))
        assert not isinstance(found, Wrong), found
        assert found[0].gtid == gtid
        assert chain_of(found[1], found[0]).own == (15_006, "0-41-15000", 41, "261124 18:24:01")


def test_that_what_must_not_be_replayed_is_refused_each_with_its_code(tmp_path: Path) -> None:
    assert {"XID-ORDER", "STATEMENT-EVENTS"} <= _codes(_chain(tmp_path, 15_006))


def test_that_a_chain_begins_right_behind_the_backup_and_ends_at_the_last_xid(tmp_path: Path) -> None:
    chain = _chain(tmp_path, 15_006, numbers=(5, 6))
    assert [file.name for file in chain.files] == ["mysql-bin.000005", "mysql-bin.000006"]
    assert chain.start == 203_099  # right behind Xid 15006: the statement that follows is replayed
    assert (chain.target, chain.stop, chain.gtid, chain.behind) == (15_020, 3916, "0-41-15015", 3)


def test_that_between_statements_only_the_backup_itself_tells_where_it_stands(tmp_path: Path) -> None:
    seven = (RECORDED / "mysql-bin.000006.txt").read_text(encoding="utf-8").partition("# at 3916\n")
    backup, logs = _folders(tmp_path, 15_022, "mysql-bin.000006\t4179\t\n", (6, 7))
    header = seven[0].partition("# at 385\n")[0]
    only_statements = f"{header}# at 3916\n{seven[2]}"
    (logs / "mysql-bin.000006").write_text(only_statements, encoding="utf-8")
    found = parse_survey(_told(tmp_path, backup, logs))
    assert not isinstance(found, Wrong)
    told, files = found
    head = ",".join(files[0].begins_after)
    assert chain_of(files, replace(told, gtid=head)).start == 4179
    # A member's log may have a file of that name, and an event at that place: GTIDs show whether it goes on from there.
    for gtid in ("", "0-41-7"):
        assert _codes(chain_of(files, replace(told, gtid=gtid))) >= {"BACKUP-POSITION"}
    beside = [replace(one, at_backup=False) for one in files]
    assert _codes(chain_of(beside, told)) >= {"BACKUP-POSITION"}


def test_that_rows_without_an_xid_behind_the_backup_begin_where_it_stood_never_behind_them() -> None:
    """Where it names a place of this very log that is exact for rows of other engines, too: none is done twice."""
    zone = file(1, first=99, below=99, below_end=250, above=101, loose_rows=1, at_backup=True)
    assert chain_of((zone,), replace(BACKUP, gtid="0-1-9", position=270, file="b.000001")).start == 270
    assert chain_of((zone,), replace(BACKUP, gtid="0-1-8", position=270, file="b.000001")).start == 250
    none = replace(zone, below=98)
    assert _codes(chain_of((none,), BACKUP)) == {"BACKUP-POSITION"}


def test_that_a_local_number_at_or_below_the_backup_never_moves_the_begin(tmp_path: Path) -> None:
    backup, logs = _folders(tmp_path, 15_024, "", (7, 8))
    path = logs / "mysql-bin.000008"
    path.write_text(path.read_text(encoding="utf-8").replace("Xid = 15026", "Xid = 7"), encoding="utf-8")
    found = parse_survey(_told(tmp_path, backup, logs))
    assert not isinstance(found, Wrong)
    assert chain_of(found[1], found[0]).wrong != ()
    path = logs / "mysql-bin.000007"  # the same within one file
    path.write_text(path.read_text(encoding="utf-8").replace("Xid = 15025", "Xid = 7"), encoding="utf-8")
    (logs / "mysql-bin.000008").unlink()
    (backup / "xtrabackup_galera_info").write_text(f"{U}:15023\n", encoding="utf-8")
    found = parse_survey(_told(tmp_path, backup, logs))
    assert not isinstance(found, Wrong)
    chain = chain_of(found[1], found[0])
    assert _codes(chain) == {"XID-ORDER"}
    assert chain.start == 385


def test_that_the_survey_tells_when_the_log_was_begun_that_the_backup_brought(tmp_path: Path) -> None:
    events = (RECORDED / "mysql-bin.000005.txt").read_text(encoding="utf-8").partition("# at 299\n")[0]
    backup, logs = _folders(tmp_path, 15_006, f"mysql-bin.000004\t{len(events)}\t\n")
    (backup / "mysql-bin.000004").write_text(events, encoding="utf-8")
    found = parse_survey(_told(tmp_path, backup, logs))
    assert not isinstance(found, Wrong), found
    assert (found[0].gtid, found[0].since) == ("0-41-14902", "261124 18:23:58")


def test_that_a_missing_file_is_a_gap(tmp_path: Path) -> None:
    chain = _chain(tmp_path, 15_006, numbers=(5, 6, 8))
    assert "BINLOG-GAP" in _codes(chain)
    gap = next(wrong.evidence for wrong in chain.wrong if wrong.code == "BINLOG-GAP")
    assert gap == "behind mysql-bin.000006 comes mysql-bin.000008, not mysql-bin.000007"


def test_that_files_which_begin_behind_the_backup_are_refused(tmp_path: Path) -> None:
    assert "BACKUP-POSITION" in _codes(_chain(tmp_path, 14_000, numbers=(7, 8)))


def test_that_a_backup_beyond_the_logs_has_no_target(tmp_path: Path) -> None:
    assert _codes(_chain(tmp_path, 999_999)) >= {"NO-TARGET"}


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda b, _: (b / "xtrabackup_galera_info").unlink(), "--galera-info"),
        (lambda b, _: (b / "xtrabackup_galera_info").write_text("x:1\n"), "can not be read"),
        (lambda _, logs: [f.unlink() for f in logs.iterdir()], "no binary log"),
        (lambda _, logs: (logs / "other-bin.000001").write_text(""), "two binary logs"),
    ],
)
def test_that_what_can_not_be_read_says_why(tmp_path: Path, spoil: object, why: str) -> None:
    backup, logs = _folders(tmp_path, 15_000, "")
    spoil(backup, logs)  # type: ignore[operator]
    found = parse_survey(_told(tmp_path, backup, logs))
    assert isinstance(found, Wrong)
    assert why in found.evidence


def test_that_a_line_of_a_client_is_no_event(tmp_path: Path) -> None:
    backup, logs = _folders(tmp_path, 15_000, "")
    path = logs / "mysql-bin.000008"
    text = path.read_text(encoding="utf-8")
    fake = "#261124 18:24:28 server id 41  end_log_pos 700 CRC32 0x23d860e7 \tXid = 99999"
    path.write_text(text.replace("DELIMITER ;\n# End", f"{fake}\nDELIMITER ;\n# End"), encoding="utf-8")
    found = parse_survey(_told(tmp_path, backup, logs))
    assert not isinstance(found, Wrong)
    assert found[1][-1].odd
    assert "BINLOG-UNREAD" in _codes(chain_of(found[1], found[0]))


def file(number: int, **changes: object) -> ChainFile:
    """A file that follows the one before it without a gap: ten transactions, 100 * number on."""
    first = 100 * number
    usual = ChainFile(
        name=f"b.{number:06d}", size=1000, version="10.11.18", begins_after=(f"0-1-{first - 91}",), first=first,
        below=None, below_end=None, above=first, above_from=300, loose=0, at_backup=False, count=10, last=first + 9,
        last_end=990, gtid=f"0-1-{first + 9}", when=("261124", "1:00:00", 1), end_gtid=f"0-1-{first + 9}", head=0,
        tail=0, statements=0, local=0, in_rows=0, in_rows_at=None, xa=0, back=0, missing=0,
        stretches=(), stretched=0, recent=((first + 9, 1, "261124 1:00:00"),), writer=1,
        ending="rotate", next_name=f"b.{number + 1:06d}", reached=1000, odd=False, cut=False, broken=False,
    )  # fmt: skip
    return replace(usual, **changes)  # type: ignore[arg-type]


BACKUP = Backup(U, 99, "10.11.18")


def test_that_files_one_after_the_other_are_a_chain_up_to_the_last_transaction() -> None:
    files = (file(1), file(2, first=110, above=110, begins_after=("0-1-109",), ending="stop", next_name=""))
    chain = chain_of(files, BACKUP)
    assert chain.wrong == ()
    assert (chain.start, chain.stop, chain.target, chain.transactions) == (300, 990, 209, 20)
    assert chain.bytes == 1000 + 990 - 300


def test_that_statements_behind_the_target_are_left_to_ist() -> None:
    chain = chain_of((file(1, statements=5, tail=2),), BACKUP)
    assert (chain.statements, chain.behind, chain.stop) == (3, 2, 990)


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (file(3), "BINLOG-GAP"),
        (
            file(2, begins_after=("0-1-200",)),
            "BINLOG-GAP",
        ),  # it goes on after another GTID than the first one ends with
        (file(2, begins_after=("0-1-109",), version="10.11.17"), "SERVER-VERSION"),
        (file(2, begins_after=("0-1-109",), above=105), "XID-ORDER"),
        (file(2, begins_after=("0-1-109",), in_rows=1, in_rows_at=400), "STATEMENT-EVENTS"),
        (file(2, begins_after=("0-1-109",), xa=1), "XA"),
        (file(2, begins_after=("0-1-109",), odd=True), "BINLOG-UNREAD"),
    ],
)
def test_that_each_thing_wrong_with_a_chain_has_its_code(second: ChainFile, code: str) -> None:
    assert code in {wrong.code for wrong in chain_of((file(1), second), BACKUP).wrong}


def test_that_a_file_cut_off_in_the_middle_of_a_chain_is_a_gap_and_at_its_end_is_none() -> None:
    last = file(2, first=110, above=110, begins_after=("0-1-109",), broken=True, cut=True, ending="open", next_name="")
    assert chain_of((file(1), last), BACKUP).wrong == ()
    cut = file(1, broken=True)
    assert {w.code for w in chain_of((cut, replace(last, broken=False)), BACKUP).wrong} == {"BINLOG-GAP"}


def test_that_seqnos_that_nothing_took_are_counted_within_files_and_between_them() -> None:
    files = (
        file(1, below=98, below_end=200, above=103, first=98, missing=2, stretches=((104, 107, 0),), stretched=1),
        file(2, above=115, first=115, begins_after=("0-1-109",), head=1),
    )
    chain = chain_of(files, BACKUP)
    assert chain.missing == 3 + 2 + 4
    assert chain.stretches == ((98, 103, 0), (104, 107, 0), (109, 115, 1))
    assert chain.untold == 0


def test_that_statements_between_files_and_over_files_without_transactions_are_stretches_too() -> None:
    empty = {"above": None, "above_from": None, "first": None, "last": None, "recent": (), "count": 0}
    files = (file(1, tail=1), file(2, **empty, statements=2), file(3, above=113, first=113, head=1))
    assert chain_of(files, BACKUP).stretches == ((109, 113, 4),)
    assert (
        chain_of(files, BACKUP).missing == 0
    )  # one statement took none: only a member's log shows whether one is lost


def test_that_stretches_that_were_not_told_are_counted() -> None:
    chain = chain_of((file(1, stretches=((101, 103, 0),), stretched=70),), BACKUP)
    assert (len(chain.stretches), chain.untold) == (1, 69)


def test_that_links_and_tables_that_lie_elsewhere_are_refused_in_backup_and_old_data(tmp_path: Path) -> None:
    backup, logs = _folders(tmp_path, 15_006, "")
    old = tmp_path / "data"
    old.mkdir()
    (old / "t.isl").write_text("/elsewhere/t.ibd", encoding="ascii")
    (backup / "linked").symlink_to("/etc")
    found = parse_survey(_told(tmp_path, backup, logs))
    assert not isinstance(found, Wrong)
    assert (found[0].links, found[0].old_links) == (1, 1)
    assert {"BACKUP-LINKED", "OLD-LINKED"} <= _codes(chain_of(found[1], found[0]))
    assert "BACKUP-LINKED" in _codes(chain_of(found[1], replace(found[0], links=None)))


@pytest.mark.parametrize("text", ["", "nonsense", "backup uuid=x;file a", "file b.000001 size=1;", "x" * 10_000])
def test_that_odd_answers_of_a_host_are_no_files(text: str) -> None:
    assert isinstance(parse_survey(text), Wrong)


def test_that_progress_is_five_numbers_and_nothing_else() -> None:
    found = parse_progress("1795544390 300 1000 70 15343\n")
    assert found is not None
    assert (found.done, found.total, found.left_s) == (300, 1000, 10.0)
    for odd in ("", "1 2 3", "1 2 3 4 x", "1 2 3 4 5 6", "-1 2 3 4 5"):
        assert parse_progress(odd) is None


def test_that_the_marks_of_a_log_count_what_the_survey_of_the_same_log_counts(tmp_path: Path) -> None:
    """Two programs read the same events: what stands between two Xids must be the same to both."""
    backup, logs = _folders(tmp_path, 15_006, "")
    found = parse_survey(_told(tmp_path, backup, logs))
    assert not isinstance(found, Wrong)
    index = logs / "mysql-bin.index"
    index.write_text("".join(f"./{one.name}\n" for one in found[1]), encoding="ascii")
    stretches = [one for one in chain_of(found[1], found[0]).stretches if one[1] <= 15_020]
    assert sum(statements for _, _, statements in stretches) > 4
    for stretch in stretches:
        ran = subprocess.run(
            ["bash", "-c", BINLOG_MARKS, "pilothouse", str(index), str(stretch[0] - 24)],
            env={"PATH": f"{tmp_path / 'tools'}:/usr/bin:/bin"}, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert held_in(parse_marks(ran.stdout.splitlines()), stretch) == "same", stretch

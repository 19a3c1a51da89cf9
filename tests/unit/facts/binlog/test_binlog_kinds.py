"""Binary logs of other kinds than usual: each is read right, or refused by name. Recorded from MariaDB 10.11.18.

One server (id 41, no wsrep) wrote them one after the other: 2 with binlog_row_image=MINIMAL, 3 with log_bin_compress, 5
with binlog_checksum=NONE, 6 empty, 7 with encrypt_binlog. mariadb-binlog ends with 1 on the last.
A member of Galera wrote `created.000006`: CREATE TABLE ... SELECT without rows, with some, and of an Aria table.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.facts.binlog.chain import Chain, Wrong, chain_of
from services.facts.binlog.marks import parse_marks
from services.facts.binlog.survey import parse_survey
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey_program import SURVEY, SURVEYED
from services.procedures.conditions.galera.history.chain_known import held_in

RECORDED = Path(__file__).parents[2] / "recorded" / "binlogs" / "kinds"
U = "0a9baafc-e833-11f1-988e-8319290952fc"
STUB = '#!/bin/sh\nfor last; do :; done\ncat -- "$last"\ncase $last in *7) exit 1;; esac\n'
TOLD = {
    "xtrabackup_checkpoints": "backup_type = full-backuped\n",
    "xtrabackup_info": "server_version = 10.11.18-MariaDB-log\nincremental = N\npartial = N\ncompressed = N\n",
}


def _folders(tmp_path: Path, seqno: int, numbers: tuple[int, ...]) -> Path:
    """A backup at `seqno`, recorded logs, and a mariadb-binlog that prints what was recorded; returns the logs."""
    logs, backup, tools = tmp_path / "logs", tmp_path / "backup", tmp_path / "tools"
    for folder in (logs, backup, tools):
        folder.mkdir()
    for number in numbers:
        text = (RECORDED / f"mysql-bin.{number:06d}.txt").read_text(encoding="utf-8")
        (logs / f"mysql-bin.{number:06d}").write_text(text, encoding="utf-8")
    for name, text in (TOLD | {"xtrabackup_galera_info": f"{U}:{seqno}\n"}).items():
        (backup / name).write_text(text, encoding="ascii")
    (tools / "mariadb-binlog").write_text(STUB, encoding="ascii")
    (tools / "mariadb-binlog").chmod(0o755)
    return logs


def _ran(tmp_path: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", program, "pilothouse", *words],
        env={"PATH": f"{tmp_path / 'tools'}:/usr/bin:/bin"}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def _surveyed(tmp_path: Path) -> Chain | Wrong:
    ran = _ran(tmp_path, SURVEY, *(str(tmp_path / name) for name in ("backup", "logs", "data")))
    match = re.search(SURVEYED, ran.stdout)
    assert match is not None, ran
    found = parse_survey(match[1])
    return found if isinstance(found, Wrong) else chain_of(found[1], found[0])


def _chain(tmp_path: Path, seqno: int, numbers: tuple[int, ...]) -> Chain:
    _folders(tmp_path, seqno, numbers)
    chain = _surveyed(tmp_path)
    assert isinstance(chain, Chain), chain
    return chain


def test_that_rows_without_their_whole_image_are_a_chain_as_others_are(tmp_path: Path) -> None:
    chain = _chain(tmp_path, 8, (2,))
    assert chain.wrong == ()
    assert (chain.transactions, chain.statements, chain.target, chain.stop, chain.gtid) == (3, 0, 11, 1036, "0-41-5")


def test_that_compressed_rows_and_statements_are_counted_as_plain_ones(tmp_path: Path) -> None:
    chain = _chain(tmp_path, 16, (3,))
    assert chain.wrong == ()
    assert (chain.transactions, chain.statements, chain.target, chain.stop) == (3, 1, 20, 1289)
    assert chain.stretches == ((18, 20, 1),)
    assert chain.missing == 0
    index = tmp_path / "logs" / "mysql-bin.index"
    index.write_text("./mysql-bin.000003\n", encoding="ascii")
    marks = parse_marks(_ran(tmp_path, BINLOG_MARKS, str(index), "16").stdout.splitlines())
    assert held_in(marks, (18, 20, 1)) == "same"


def test_that_a_clients_line_in_a_compressed_statement_is_no_event_at_a_logs_end(tmp_path: Path) -> None:
    logs = _folders(tmp_path, 16, (3,))
    path = logs / "mysql-bin.000003"
    text = path.read_text(encoding="utf-8").partition("# at 1038\n")[0]
    head = "#261125 23:11:41 server id 41  end_log_pos"
    forged = f"# at 1039\n{head} 1100 CRC32 0x1 \tGTID 0-41-9 trans\n# at 1100\n{head} 1131 CRC32 0x1 \tXid = 77\n"
    path.write_text(text.replace("(id INT  )\n", f"(id INT /*\n{forged}*/)\n"), encoding="utf-8")
    chain = _surveyed(tmp_path)
    assert isinstance(chain, Chain)
    assert (chain.target, chain.behind) == (18, 0)  # a statement at the end of a log may be cut: it is not counted


def test_that_a_log_without_checksums_is_read_as_one_with_them(tmp_path: Path) -> None:
    chain = _chain(tmp_path, 26, (5, 6))
    assert chain.wrong == ()
    assert (chain.transactions, chain.statements, chain.target, chain.stop, chain.gtid) == (2, 1, 29, 906, "0-41-12")
    assert [file.name for file in chain.files] == ["mysql-bin.000005"]  # the empty one behind it holds nothing


def test_that_an_encrypted_log_is_named_and_refused_also_at_the_end_of_a_chain(tmp_path: Path) -> None:
    chain = _chain(tmp_path, 26, (5, 6, 7))
    told = [wrong.evidence for wrong in chain.wrong if wrong.code == "BINLOG-UNREAD"]
    assert told == ["mysql-bin.000007 can not be read beyond its first 256 bytes: it is encrypted, or damaged"]


@pytest.mark.parametrize("text", ["", "ERROR: Failed reading header; probably an empty file.\n"])
def test_that_a_file_of_no_bytes_is_named_and_refused(tmp_path: Path, text: str) -> None:
    logs = _folders(tmp_path, 26, (5,))
    (logs / "mysql-bin.000006").write_text(text, encoding="ascii")
    words = "mysql-bin.000006 is empty, or no binary log: it does not say what wrote it"
    assert _surveyed(tmp_path) == Wrong("BINLOG-UNREAD", words)


def test_that_the_step_of_a_sequence_right_behind_the_backup_is_replayed_or_it_is_refused(tmp_path: Path) -> None:
    """A bare NEXTVAL takes a seqno and stands as rows without an Xid (10.11.18 with Galera, recorded).

    Begun at the first Xid, the replay would leave it out: the node would give numbers away a second time.
    """
    _folders(tmp_path, 21, ())
    text = (RECORDED / "sequence.000003.txt").read_text(encoding="utf-8")
    (tmp_path / "logs" / "bin.000003").write_text(text, encoding="utf-8")
    (tmp_path / "backup" / "xtrabackup_binlog_info").write_text("bin.000003\t373\t0-41-20\n", encoding="ascii")
    ran = _ran(tmp_path, SURVEY, *(str(tmp_path / name) for name in ("backup", "logs", "data")))
    match = re.search(SURVEYED, ran.stdout)
    assert match is not None, ran
    found = parse_survey(match[1])
    assert not isinstance(found, Wrong), found
    backup, files = found
    assert (files[0].above, files[0].above_from, files[0].loose, files[0].local) == (23, 665, 0, 1)
    known = chain_of(files, replace(backup, gtid="0-41-20"))
    assert (known.start, known.wrong) == (373, ())
    assert {wrong.code for wrong in chain_of(files, backup).wrong} == {"BACKUP-POSITION"}


def test_that_a_statement_that_is_done_for_whoever_does_it_is_seen_also_over_lines_and_comments(tmp_path: Path) -> None:
    """A log keeps for whom it was done, mariadb-binlog does not print it: replayed, root gets the right, or is it."""
    _folders(tmp_path, 4, ())
    text = (RECORDED / "invoker.000002.txt").read_text(encoding="utf-8")
    role = "create role r\n"
    first = int(re.findall(r"# at (\d+)", text.partition(role)[0])[-2])
    # Two roles (whoever makes one is its admin), a GRANT, an ALTER USER, an event; a routine with a DEFINER is none.
    for written, many in ((role, 5), ("create/* a */or  replace\n role r\n", 5), ("create table rolex (a int)\n", 4)):
        (tmp_path / "logs" / "bin.000002").write_text(text.replace(role, written), encoding="utf-8")
        ran = _ran(tmp_path, SURVEY, *(str(tmp_path / name) for name in ("backup", "logs", "data")))
        match = re.search(SURVEYED, ran.stdout)
        assert match is not None, ran
        found = parse_survey(match[1])
        assert not isinstance(found, Wrong), found
        (file,) = found[1]
        assert file.invoked == many
        assert (file.invoked_at == first) is (many == 5)


def test_that_a_table_made_of_a_query_is_refused_in_the_log_of_its_own_server_too(tmp_path: Path) -> None:
    """Its rows are done right, and stand under the next GTID (10.11.18, tried): the CREATE commits for itself.

    At the end of a chain the replay would stand at 0-41-35 instead of 0-41-34; the next transaction has 35 once more.
    One without rows is done under its own GTID. One of Aria tables stands without an Xid.
    """
    _folders(tmp_path, 34, ())
    text = (RECORDED / "created.000006.txt").read_text(encoding="utf-8")
    (tmp_path / "logs" / "bin.000006").write_text(text, encoding="utf-8")
    chain = _surveyed(tmp_path)
    assert isinstance(chain, Chain)
    (file,) = chain.files
    first = int(re.findall(r"# at (\d+)", text.partition("GTID 0-41-34 ddl")[0])[-1])
    assert (file.in_rows, file.in_rows_at, file.statements) == (2, first, 2)
    assert [wrong.code for wrong in chain.wrong] == ["STATEMENT-EVENTS"]


def test_that_files_of_two_servers_are_no_chain_even_where_their_gtids_follow(tmp_path: Path) -> None:
    logs = _folders(tmp_path, 26, (5, 6))
    path = logs / "mysql-bin.000006"
    path.write_text(path.read_text(encoding="utf-8").replace("server id 41", "server id 42"), encoding="utf-8")
    chain = _surveyed(tmp_path)
    assert isinstance(chain, Chain)
    assert [wrong for wrong in chain.wrong if wrong.code == "BINLOG-GAP"] == [
        Wrong("BINLOG-GAP", "they were written by servers of several ids: 41, 42")
    ]


def test_that_a_transaction_that_its_own_server_did_not_log_is_seen_in_a_members_log(tmp_path: Path) -> None:
    """sql_log_bin = 0: the seqno is missing in the chain, and the others' logs have a transaction there."""
    logs = _folders(tmp_path, 16, (3,))
    index = logs / "mysql-bin.index"
    index.write_text("./mysql-bin.000003\n", encoding="ascii")
    members = parse_marks(_ran(tmp_path, BINLOG_MARKS, str(index), "16").stdout.splitlines())
    assert held_in(members, (17, 20, 1)) == "more"
    assert held_in(members, (18, 20, 0)) == "more statements"
    assert held_in(members, (18, 20, 2)) == "fewer statements"

"""What the step that writes a losing side out says of its file: only that side's rows, or all of a log."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.facts.binlog.marks import parse_marks
from services.procedures.catalogue.steps.extraction import EXTRACT, write_out
from services.procedures.plan.actions import Detached
from tests.unit.facts.binary_logs import EMPTY, TEXT, a_binary_log, run
from tests.unit.procedures.facts_of_three import UUID, down


def test_that_a_file_from_a_known_seqno_on_is_told_as_one_sides() -> None:
    step = write_out(down("n3"), UUID, 15, "Kept for you.")
    assert step.title.startswith("Save the transactions that only n3 has, after seqno 15, to ")
    assert step.why == "Kept for you."
    assert isinstance(step.action, Detached)
    assert step.action.command.argv[-2:] == ("15", f"/var/lib/pilothouse/forks/n3-{UUID[:8]}-after-15.sql")


def test_that_a_file_from_a_point_that_is_not_known_is_never_told_as_one_sides() -> None:
    step = write_out(down("n3"), UUID, None, "Kept for you.")
    assert "what only" not in f"{step.title} {step.done}"
    assert step.title.startswith("Save the whole binary log of n3 to ")
    assert "do not replay all of it" in step.why
    assert isinstance(step.action, Detached)
    assert step.action.command.argv[-2:] == ("0", f"/var/lib/pilothouse/forks/n3-{UUID[:8]}-all.sql")


def test_that_a_pipe_that_an_index_names_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bin.000001")
    index = tmp_path / "bin.index"
    index.write_text("./bin.000001\n", encoding="utf-8")
    words = ["bash", "-c", EXTRACT, "pilothouse", str(index), "0", str(tmp_path / "out" / "n3.sql")]
    reader = tmp_path / "mariadb-binlog"
    reader.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    reader.chmod(0o755)
    said = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(words, env=said, capture_output=True, text=True, timeout=20, check=False)
    assert ran.returncode == 3, ran  # no file of a binary log can be read


def events(*found: tuple[int, int, str]) -> str:
    """Return what a reader prints of transactions: (Xid, server id, value) each, one commit of one row."""
    text, place = "", 256
    for xid, server, value in found:
        head = f"#261122 15:27:17 server id {server}  end_log_pos"
        text += f"# at {place}\n{head} {place + 42} CRC32 0x84616cd9 \tGTID 0-{server}-{xid} trans\n"
        text += f"# at {place + 42}\n{head} {place + 100} CRC32 0x84616cd9 \tWrite_rows: table id 5\n"
        text += f"### INSERT INTO `shop`.`orders`\n### SET\n###   @1={value}\n"
        text += f"# at {place + 100}\n{head} {place + 140} CRC32 0x84616cd9 \tXid = {xid}\n"
        place += 140
    return text


def test_that_a_file_is_told_as_unsafe_to_run_where_a_name_has_a_line_break(tmp_path: Path) -> None:
    """A person gives it to a client: what stands behind the break runs there, as a statement or a shell's command."""
    names = ("x\n\\! id", "x`` mapped to number 5\n#\n\\! id", "o``dd mapped to #1")
    for number, name in enumerate(names):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = events((3, 43, "1")).replace("`orders`", f"`{name}`")
        table = f"\tTable_map: `shop`.`{name}` mapped to number 5\n# at 380\n"
        text = text.replace("\tWrite_rows: ", f"{table}#261122 15:27:17 server id 43  end_log_pos 400 \tWrite_rows: ")
        index, out = a_binary_log(folder, EMPTY, text), folder / "out" / "s3.sql"
        output = run(EXTRACT, index, str(index), "0", str(out)).stdout
        assert output.startswith("extracted: 1 transactions"), output
        assert ("NOT SAFE TO RUN" in output) is (number < 2), output


SHARED = events((17, 41, "17"), (21, 41, "21"), (22, 41, "22"))
OWN = ((3, 43, "'own'"), (5, 43, "'own'"), (7, 43, "'own'"))


def test_that_what_was_written_with_wsrep_off_is_written_out_though_its_xids_are_below_the_shared_seqno(
    tmp_path: Path,
) -> None:
    for number, files in enumerate(((SHARED, events(*OWN)), (SHARED, events(*OWN), events(*OWN[:1])), (SHARED,))):
        folder = tmp_path / str(number)
        folder.mkdir()
        index, out = a_binary_log(folder, EMPTY, events((15, 41, "15")), *files), folder / "out" / "s3.sql"
        said = run(EXTRACT, index, str(index), "22", str(out))
        rows = (3, 4, 0)[number]
        assert said.stdout.startswith(f"extracted: {rows} transactions, 0 statements"), said
        assert out.read_text().count("@1='own'") == rows
        assert "@1=2" not in out.read_text()


def test_that_what_an_ist_brought_again_behind_the_copy_of_an_sst_is_shared_and_neither_counted_nor_written_out(
    tmp_path: Path,
) -> None:
    """mariabackup sends a copy of the donor's newest log, and IST what came after InnoDB's position: 547 for 3."""
    again = ((18, 41, "18"), (21, 41, "21"), (22, 41, "22"))
    own = ((23, 43, "'own'"), (24, 43, "'own'"), (25, 43, "'own'"))
    for number, files in enumerate(((events(*again, *own),), (events(*again), events(*own)))):
        folder = tmp_path / str(number)
        folder.mkdir()
        index, out = a_binary_log(folder, SHARED, *files), folder / "out" / "s3.sql"
        said = run(EXTRACT, index, str(index), "22", str(out))
        assert said.stdout.startswith("extracted: 3 transactions, 0 statements"), said
        text = out.read_text()
        assert (text.count("@1='own'"), text.count("@1=2")) == (3, 0)


def test_that_another_servers_transaction_of_the_same_xid_is_no_second_copy(tmp_path: Path) -> None:
    off = ((18, 43, "'own'"), (21, 43, "'own'"), (22, 43, "'own'"))  # a count of its own, with wsrep off
    index, out = a_binary_log(tmp_path, SHARED, events(*off)), tmp_path / "out" / "s3.sql"
    run(EXTRACT, index, str(index), "22", str(out))
    assert out.read_text().count("@1='own'") == 3


def test_that_the_newest_marks_show_where_the_xids_of_a_long_log_step_back(tmp_path: Path) -> None:
    own = tuple((number, 43, "'own'") for number in range(3, 120))
    index = a_binary_log(tmp_path, SHARED, events(*own))
    marks = parse_marks(run(BINLOG_MARKS, index, str(index), "newest").stdout.splitlines())
    assert [mark.xid for mark in marks] == [17, 21, 22, 3, *range(70, 120)]


def test_that_a_full_disk_is_no_file_and_no_count(tmp_path: Path) -> None:
    """The reader ends well all the same: 5 transactions were counted of 43 (seen on the lab; a file's limit here)."""
    index = a_binary_log(tmp_path, TEXT.read_text())
    out = tmp_path / "out" / "s3.sql"
    ended = run(f"ulimit -f 1\n{EXTRACT}", index, str(index), "0", str(out))
    assert (ended.returncode, ended.stdout) == (6, "")
    assert list(out.parent.iterdir()) == []
    assert run(EXTRACT, index, str(index), "0", str(out)).returncode == 0

"""Files that whoever has the database's account made larger than any server makes them are read within bounds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.connections.programs.read_programs import LOG_OF_FILE
from services.procedures.catalogue.steps.binlog_tail import LAST_XID
from services.procedures.catalogue.steps.extraction import EXTRACT

_MEMORY_KB = 2_000_000


def _ran(program: str, *words: object, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program of root's with no more memory than a small host has left."""
    text = f"ulimit -v {_MEMORY_KB}\n{program}"
    return subprocess.run(
        ["bash", "-c", text, "pilothouse", *map(str, words)],
        capture_output=True, text=True, timeout=100, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"},
    )  # fmt: skip


def _sparse(path: Path, size: int) -> Path:
    with path.open("w") as file:
        file.truncate(size)
    return path


@pytest.fixture
def reader(tmp_path: Path) -> str:
    """A folder with a stand-in for the program that reads binary logs: it is not to be reached."""
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin" / "mariadb-binlog"
    stub.write_text(f"#!/bin/sh\ntouch {tmp_path}/read\n")
    stub.chmod(0o755)
    return str(tmp_path / "bin")


def test_that_an_index_of_a_binary_log_without_an_end_takes_no_memory_of_the_host(tmp_path: Path, reader: str) -> None:
    """A shell took all of it into a list: as much as its writer liked."""
    index = _sparse(tmp_path / "log.index", 2**40)
    marks = _ran(BINLOG_MARKS, index, path=reader)
    assert (marks.returncode, "longer than any server writes it" in marks.stdout) == (6, True), marks
    assert _ran(EXTRACT, index, "7", tmp_path / "out" / "lost.sql", path=reader).returncode == 3
    tail = _ran(LAST_XID, tmp_path, "log", path=reader)
    assert (tail.returncode, "last Xid: not known: its index is longer" in tail.stdout) == (0, True), tail
    assert not (tmp_path / "read").exists()


def test_that_a_log_of_one_line_is_told_as_unread_and_not_taken_into_memory(tmp_path: Path) -> None:
    log = _sparse(tmp_path / "error.log", 700_000_000)
    told = _ran(LOG_OF_FILE, log)
    assert told.returncode != 0, told
    assert told.stdout == ""


def test_that_a_log_of_a_sane_length_is_read_as_before(tmp_path: Path) -> None:
    log = tmp_path / "error.log"
    log.write_text("one\ntwo\n")
    assert _ran(LOG_OF_FILE, log).stdout == "one\ntwo\n"


_LOADS = """#!/bin/sh
to=/tmp; for one; do case $one in --local-load=*) to=${one#*=};; esac; done
echo '# at 4'
[ -d "$to" ] || { echo 'ERROR: Could not construct local filename' >&2; exit 1; }
head -c 1000 /dev/zero > "$to/SQL_LOAD_MB-$$-0"
"""
"""What mariadb-binlog 10.11.18 does at a LOAD DATA event (tried): a file of that length, in /tmp where nothing else is
said; it does not go on where the folder is none."""


def test_that_a_read_of_a_binary_log_makes_no_file_on_the_host_and_what_is_written_out_keeps_its_own(
    tmp_path: Path, reader: str
) -> None:
    """A look at a log wrote what its writer liked to /tmp, as root, each time, and left it there."""
    (Path(reader) / "mariadb-binlog").write_text(_LOADS)
    (tmp_path / "log.index").write_text("./log.000001\n")
    (tmp_path / "log.000001").write_bytes(b"\xfebin" + bytes(60))
    before = set(Path("/tmp").glob("SQL_LOAD_MB-*"))
    marks = _ran(BINLOG_MARKS, tmp_path / "log.index", "newest", path=reader)
    assert (marks.returncode, "can not be read to its end" in marks.stdout) == (6, True), marks
    tail = _ran(LAST_XID, tmp_path, "log", path=reader)
    assert "last Xid: not known" in tail.stdout, tail
    out = tmp_path / "out" / "lost.sql"
    assert _ran(EXTRACT, tmp_path / "log.index", "0", out, path=reader).returncode == 0
    assert [one.stat().st_size for one in (tmp_path / "out/lost.sql.loaded").iterdir()] == [1000]
    assert set(Path("/tmp").glob("SQL_LOAD_MB-*")) == before

"""Files from which systemd takes a server's words: their folder may be the account's (/run/mysqld), and so their names.

A unit may name them by a pattern. A file called `x|e #.env` became a part of root's sed(1) program, whose `e` runs a
line of that file as a command.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from services.connections.programs.read_programs import START_LINE

_SHOWN = """LoadState=loaded
Environment=OTHER=1
ExecStart={ path=/usr/sbin/mariadbd ; argv[]=/usr/sbin/mariadbd $MYSQLD_OPTS ; ignore_errors=no }"""


def _told(tmp_path: Path, pattern: str) -> subprocess.CompletedProcess[str]:
    """Ask what a unit is started with whose files are named by a pattern."""
    (tmp_path / "bin").mkdir()
    shown = f"{_SHOWN}\nEnvironmentFiles={pattern} (ignore_errors=yes)"
    stub = tmp_path / "bin" / "systemctl"
    stub.write_text(f"#!/bin/sh\n[ \"$1\" = show ] || exit 0\ncat <<'END'\n{shown}\nEND\n")
    stub.chmod(0o755)
    return subprocess.run(
        ["bash", "-c", START_LINE, "pilothouse", "mariadb.service"],
        capture_output=True, text=True, timeout=30, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"},
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "run"
    made.mkdir()
    (made / "a.env").write_text("  MYSQLD_OPTS=--binlog-ignore-db=shop\nSECRET=x\nMYSQLD_OPTS=--one \\\n  --more\n")
    return made


def test_that_the_name_of_an_environments_file_is_no_word_of_roots_program(folder: Path, tmp_path: Path) -> None:
    (folder / "x|e #.env").write_text(f"MYSQLD_OPTS=;touch {tmp_path}/ran\n")
    (folder / f"y|w {str(tmp_path).replace('/', '.')}.env").write_text("MYSQLD_OPTS=--y\n")
    told = _told(tmp_path, f"{folder}/*.env")
    assert not (tmp_path / "ran").exists(), told
    lines = told.stdout.splitlines()
    assert f"file {folder}/a.env MYSQLD_OPTS=--binlog-ignore-db=shop" in lines
    assert f"file {folder}/a.env MYSQLD_OPTS=--one   --more" in lines
    assert f"file {folder}/x|e #.env MYSQLD_OPTS=;touch {tmp_path}/ran" in lines
    assert "SECRET" not in told.stdout


def test_that_a_line_break_in_the_name_of_a_file_is_no_line_of_its_own(folder: Path, tmp_path: Path) -> None:
    (folder / "x\nmanager MYSQLD_OPTS=--forged\n.env").write_text("MYSQLD_OPTS=--y\n")
    output = _told(tmp_path, f"{folder}/*.env").stdout
    assert not [line for line in output.splitlines() if line.startswith("manager")]


@pytest.mark.parametrize("what", ["a pipe", "a device", "without an end"])
def test_that_an_odd_file_of_an_environment_is_told_as_unread(folder: Path, tmp_path: Path, what: str) -> None:
    odd = folder / "wsrep-new-cluster"
    if what == "a pipe":
        os.mkfifo(odd)
    elif what == "a device":
        odd.symlink_to("/dev/zero")
    else:
        with odd.open("w") as file:
            file.truncate(2**40)
    told = _told(tmp_path, str(odd))
    assert (told.returncode, f"unread file {odd}" in told.stdout) == (0, True), told

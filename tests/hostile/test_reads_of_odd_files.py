"""A pipe, a device or a folder in the place of a file that the console reads: the read ends, and says what lies there.

Real files, and the real line as a host gets it, in its shell.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from services.connections.any_shell import for_any_shell
from services.connections.command import Command
from services.connections.ports import Output
from services.connections.programs.plain_files import within
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.procedures.looking.files import read_file

READS: dict[str, Callable[[str], CommandRead]] = {
    "content": lambda path: commands.CONTENT.read(path).in_c_locale(),
    "log": lambda path: commands.LOG_FILE.read(100, path),
    "whole log": commands.LOG_FILE_WHOLE.read,
    "views": commands.VIEWS_OF_FILE.read,
}


def ran(command: Command, limit_s: float = 20.0) -> Output:
    """Run a read as it is sent, in a login's shell."""
    line = for_any_shell(within(command, limit_s).shell_text())
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=100, check=False, stdin=subprocess.DEVNULL)
    return Output(done.returncode, done.stdout, done.stderr)


def laid(path: Path, what: str) -> None:
    """Put it in the place of a file."""
    if what == "a pipe":
        os.mkfifo(path)
    elif what == "a device":
        path.symlink_to("/dev/zero")
    elif what == "a pipe behind a link":
        os.mkfifo(path.with_name("pipe"))
        path.symlink_to(path.with_name("pipe"))
    else:
        path.mkdir()


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("what", ["a pipe", "a device", "a pipe behind a link", "a folder"])
def test_that_what_is_no_regular_file_is_not_read_and_that_is_told(tmp_path: Path, name: str, what: str) -> None:
    """A pipe was waited for, as root, as long as nobody wrote into it; a device sent on until the console broke off."""
    path = tmp_path / "error.log"
    laid(path, what)
    told = ran(command_of(READS[name](str(path))))
    assert told.exit_code == 73, told
    assert told.text == ""
    assert told.error_text == f"{path} is no regular file: not read"


@pytest.mark.parametrize("name", ["content", "log", "whole log"])
def test_that_a_regular_file_is_read_as_before_through_a_link_too(tmp_path: Path, name: str) -> None:
    path, linked = tmp_path / "error.log", tmp_path / "linked.log"
    path.write_text("one\ntwo\n")
    linked.symlink_to(path)
    for each in (path, linked):
        assert ran(command_of(READS[name](str(each)))) == Output(0, b"one\ntwo\n", b"")


@pytest.mark.parametrize("link", [False, True])
def test_that_a_file_that_is_not_there_is_told_in_the_programs_own_words(tmp_path: Path, *, link: bool) -> None:
    """By them a proof knows that a file is absent."""
    path = tmp_path / "grastate.dat"
    if link:
        path.symlink_to(tmp_path / "nowhere")
    told = ran(command_of(READS["content"](str(path))))
    assert told.error_text == f"cat: {path}: No such file or directory"


def test_that_what_is_exchanged_after_the_look_ends_with_the_reads_own_limit(tmp_path: Path) -> None:
    """Here by a command that waits: the same as a pipe that came in the file's place at that moment."""
    path, pipe = tmp_path / "error.log", tmp_path / "pipe"
    path.write_text("")
    os.mkfifo(pipe)
    waiting = Command(("cat", str(pipe)), plain=str(path))
    assert ran(waiting, 0.2).exit_code == 124, "timeout(1) ended it"


def test_that_a_proof_that_meets_one_is_not_known_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "grastate.dat"
    laid(path, "a pipe")

    class Asking:
        def run(self, host: str, read: CommandRead) -> Output:
            del host
            return ran(command_of(read.as_root(sudo=False)))

    content, why = read_file(Asking(), "n1", str(path))  # type: ignore[arg-type]
    assert (content, why) == (None, f"{path} is no regular file: not read")


def test_that_reads_of_other_things_are_sent_as_they_are() -> None:
    for read in (commands.NAMES.read("/var/lib/mysql"), commands.CLOCK, commands.JOURNAL.read("mariadb.service", 10)):
        assert within(command_of(read), 5.0) == command_of(read)


def test_that_every_read_of_a_files_content_is_one_of_a_regular_file() -> None:
    """By the kind of its parameter: a new read of a file can't forget it."""
    named = {name for name, one in commands.COMMANDS.items() if any(getattr(w, "plain", False) for w in one.words)}
    assert named == {
        "content", "log-file", "log-file-whole", "views-of-file", "newest-marks", "marks-from",
    }  # fmt: skip
    of_files = {name for name, one in commands.COMMANDS.items() if one.words[0] in {"cat", "tail", "head"}}
    assert of_files - named == {"host-files"}, "the kernel's own files, and root's"

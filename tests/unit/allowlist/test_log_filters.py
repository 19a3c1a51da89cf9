"""A log that is filtered on its host: exactly two forms, and what they leave out is the line of a single write set."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.observer.allowlist import check_command
from services.connections.programs.read_programs import LOG_OF_FILE, LOG_OF_UNIT
from services.connections.reads.registry import command_of
from services.errors import Refused
from services.facts import reads


def _unit(*words: str, text: str = LOG_OF_UNIT) -> tuple[str, ...]:
    return ("timeout", "30", "bash", "-c", text, "pilothouse", *words)


def test_that_both_reads_of_a_whole_log_are_on_the_list() -> None:
    check_command(command_of(reads.journal_since("mariadb.service", 1_795_265_449.7)))
    check_command(command_of(reads.error_log_whole("/var/log/mysql/error.log")))


@pytest.mark.parametrize(
    "argv",
    [
        _unit("mariadb.service"),
        _unit("mariadb.service", "yesterday"),
        _unit("mariadb.service", "@1;reboot"),
        _unit("mariadb.service", "@1", "x"),
        _unit("$(reboot)", "@1"),
        _unit("--vacuum-size=1", "@1"),
        _unit("mariadb.service", "@1", text=LOG_OF_UNIT + "; reboot"),
        _unit("/etc/shadow", text=LOG_OF_FILE),
        _unit("/home/dba/x.log", text=LOG_OF_FILE),
        _unit("/var/log/mysql/error.log", "x", text=LOG_OF_FILE),
        ("timeout", "300", *_unit("mariadb.service", "@1")[2:]),
    ],
)
def test_that_no_other_form_of_them_passes(argv: tuple[str, ...]) -> None:
    with pytest.raises(Refused):
        check_command(Command(argv))


def test_that_the_filter_keeps_what_proves_a_transfer_of_fourteen_thousand_write_sets(tmp_path: Path) -> None:
    log = tmp_path / "error.log"
    noise = "".join(f"2026-11-22  6:00:00 0 [Note] WSREP: ####### Passing WS {n}\n" for n in range(14_562))
    log.write_text(f"before: Receiving IST: 14562 writesets, seqnos 1-14562\n{noise}after: IST received\n")
    argv = command_of(reads.error_log_whole(str(log))).argv
    found = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert [line.partition(":")[0] for line in found.stdout.splitlines()] == ["before", "after"]
    gone = subprocess.run((*argv[:-1], str(tmp_path / "none.log")), capture_output=True, text=True, check=False)
    assert gone.returncode != 0  # a log that can't be read is no empty log

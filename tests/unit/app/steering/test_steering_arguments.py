"""The words of the steering commands: pairs, overrides, and what is refused before anything is read."""

from __future__ import annotations

import pytest

from app.__main__ import main
from app.cli.arguments import build_parser
from services.procedures.catalogue import all_procedures
from tests.unit.app.steering_service import Shell


def test_that_inputs_are_pairs_and_a_value_may_hold_an_equals_sign() -> None:
    options = build_parser().parse_args(
        ["plan", "rolling-restart", "--input", "option = max_connections", "--input", "value=a=b", "--input", "file="]
    )
    assert options.input == [("option", "max_connections"), ("value", "a=b"), ("file", "")]


def test_that_an_override_is_a_code_with_its_reason() -> None:
    options = build_parser().parse_args(
        ["run", "add-node", "--override", "disk-free=the data shrinks tonight", "--override", "CLOCKS=ntp is set"]
    )
    assert options.override == [("DISK-FREE", "the data shrinks tonight"), ("CLOCKS", "ntp is set")]


@pytest.mark.parametrize(
    "words",
    [
        ["plan"],
        ["plan", "add-node", "--input", "joiner"],
        ["plan", "add-node", "--input", "=n4"],
        ["plan", "add-node", "--override", "DISK-FREE"],
        ["plan", "add-node", "--override", "DISK-FREE="],
        ["plan", "add-node", "--override", "DISK-FREE=   "],
        ["plan", "add-node", "--yes"],
        ["run", "add-node", "--yes", "--rehearse"],
        ["resume"],
        ["undo"],
        ["report"],
    ],
)
def test_that_words_that_make_no_command_end_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_that_an_override_without_a_reason_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "add-node", "--override", "DISK-FREE="])
    assert "give a reason: DISK-FREE=why it is accepted" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("plan", "fly"), ("run", "fly", "--yes"), ("procedures", "fly")])
def test_that_an_unknown_procedure_is_bad_input_and_no_host_is_read(shell: Shell, words: tuple[str, ...]) -> None:
    said = shell(*words)
    assert said.code == 2
    assert "There is no procedure called 'fly'." in said.err
    assert f"One of: {', '.join(one.about.name for one in all_procedures())}." in said.err
    assert shell.world.gathered == 0


def test_that_nothing_runs_where_nobody_approves(shell: Shell) -> None:
    said = shell("run", "add-node")
    assert said.code == 2
    assert said.err.startswith(
        "Approval needed; no terminal attached.\nNothing was changed.\nTry: Approve it with --yes, or "
    )
    assert shell.world.gathered == 0


def test_that_a_program_that_reads_json_is_never_asked(shell: Shell) -> None:
    shell.sits_there(sits=True)
    said = shell("run", "desync-for-backup", "--json")
    assert said.code == 2
    assert said.document["sentence"] == "Approval needed; no terminal attached."


@pytest.mark.parametrize("command", ["resume", "undo", "report"])
def test_that_an_unknown_run_is_bad_input(shell: Shell, command: str) -> None:
    said = shell(command, "77", *([] if command == "report" else ["--yes"]))
    assert said.code == 2
    assert "77" in said.err

"""Resume and undo by command: what runs is shown word for word, and only what was approved here runs."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from tests.faults.scripted.cluster import crashed
from tests.unit.app.steering_service import DESYNC, Shell, last_run


def _waiting(shell: Shell) -> None:
    """A run that waits for the backup's end; the terminal is gone."""
    with shell.typing("yes"):
        assert shell("run", *DESYNC).code == 4


def _edit(shell: Shell, old: str, new: str, kind: str = "planned") -> None:
    with closing(sqlite3.connect(shell.folder / "state.sqlite")) as base, base:
        base.execute("UPDATE procedure_entry SET data = replace(data, ?, ?) WHERE kind = ?", (old, new, kind))


def _without_seals(shell: Shell) -> None:
    """Make the journal one of a Pilothouse that sealed nothing."""
    with closing(sqlite3.connect(shell.folder / "state.sqlite")) as base, base:
        for run, seq, text in base.execute("SELECT run_id, seq, data FROM procedure_entry").fetchall():
            data = json.loads(text)
            data.pop("seal")
            bare = json.dumps(data, separators=(",", ":"))
            base.execute("UPDATE procedure_entry SET data = ? WHERE run_id = ? AND seq = ?", (bare, run, seq))


def test_that_a_resume_prints_every_act_that_is_still_to_run(shell: Shell) -> None:
    _waiting(shell)
    said = shell("resume", "1", "--yes", "--commands")
    assert (said.code, last_run(said)) == (0, "done")
    before, _, coming = said.out.partition("Steps still to run, as approved:\n")
    assert before != ""
    assert "        $ n3: SET GLOBAL wsrep_desync=OFF;\n" in coming
    assert "  1. " not in coming.partition("\n\n")[0]  # it is done


@pytest.mark.parametrize(
    ("way", "head"),
    [("resume", "Steps still to run, as approved:"), ("undo", "What a rollback does, newest step first, as approved:")],
)
def test_that_without_commands_each_step_is_told_by_its_title(shell: Shell, way: str, head: str) -> None:
    _waiting(shell)
    told = shell(way, "1", "--yes").out.partition(head)[2].partition("\n\n")[0]
    assert "s3" in told or "n3" in told
    assert " $ " not in told


def test_that_an_undo_prints_what_it_does(shell: Shell) -> None:
    _waiting(shell)
    said = shell("undo", "1", "--yes", "--commands")
    assert (said.code, last_run(said)) == (0, "undone")
    assert "What a rollback does, newest step first, as approved:\n" in said.out
    assert "        $ n3: SET GLOBAL wsrep_desync=OFF;\n" in said.out


def test_that_a_journal_changed_by_hand_ends_with_1_and_nothing_is_done(shell: Shell) -> None:
    _waiting(shell)
    _edit(shell, '"host":"n3"', '"host":"n2"')
    done = list(shell.world.cluster.log)
    for words in (("resume", "1"), ("undo", "1"), ("undo", "1", "--release"), ("undo", "1", "--leave", "no more")):
        said = shell(*words, "--yes")
        assert said.code == 1, words
        assert "The journal of run 1 was changed after this workstation wrote it" in said.err
        assert "can no longer continue, roll back or release anything" in said.err
        assert "Check its hosts by hand" in said.err
    assert shell.world.cluster.log == done
    listed = shell("procedures", "--runs")
    assert "n3 desynced" in listed.out  # what is on stays in the list
    assert "was changed after this workstation wrote it" in listed.out
    (document,) = shell("procedures", "--runs", "--json").document
    assert (document["binding"], document["ways"], document["approve"]) == ("changed", [], "")
    refused = shell("resume", "1", "--yes", "--json").document
    assert refused["error"] == "journal-changed"


def test_that_no_code_makes_a_changed_journal_run(shell: Shell) -> None:
    _waiting(shell)
    code = shell("procedures", "--runs", "--json").document[0]["approve"]
    _edit(shell, '"host":"n3"', '"host":"n2"')
    done = list(shell.world.cluster.log)
    assert shell("resume", "1", "--yes", "--approve", code or "0" * 16).code == 1
    assert shell.world.cluster.log == done


def test_that_a_run_from_before_digests_is_shown_and_approved_by_its_code(shell: Shell) -> None:
    _waiting(shell)
    _without_seals(shell)
    done = list(shell.world.cluster.log)
    said = shell("resume", "1", "--yes")
    assert said.code == 1
    assert "Run 1 was approved before digests existed" in said.out
    assert "        $ n3: SET GLOBAL wsrep_desync=OFF;\n" in said.out
    assert re.search(r"\n  on .*n3 \(\S+\)", said.out)
    assert shell.world.cluster.log == done
    code = said.err.partition("--approve ")[2].split()[0]
    assert shell("resume", "1", "--yes", "--approve", "f" * 16).code == 1
    assert shell.world.cluster.log == done
    said = shell("resume", "1", "--yes", "--approve", code)
    assert (said.code, last_run(said)) == (0, "done")


def test_that_a_person_at_the_terminal_is_asked_and_may_say_no(shell: Shell) -> None:
    _waiting(shell)
    _without_seals(shell)
    done = list(shell.world.cluster.log)
    with shell.typing("no"):
        said = shell("undo", "1")
    assert said.code == 1
    assert said.out.endswith("Nothing was changed.\n")
    assert shell.world.cluster.log == done
    with shell.typing("yes"):
        said = shell("undo", "1")
    assert (said.code, last_run(said)) == (0, "undone")


def test_that_a_colleagues_run_can_not_be_verified_with_another_key(shell: Shell) -> None:
    _waiting(shell)
    key = shell.folder / "journal.key"
    assert key.stat().st_mode & 0o077 == 0
    key.unlink()  # another workstation has another one
    said = shell("resume", "1", "--yes")
    assert said.code == 1
    assert "Run 1 cannot be verified here" in said.err
    code = said.err.partition("--approve ")[2].split()[0]
    said = shell("resume", "1", "--yes", "--approve", code)
    assert (said.code, last_run(said)) == (0, "done")


def test_that_the_longer_plan_of_a_second_approval_binds_too(shell: Shell) -> None:
    shell.world.cluster = crashed("n1", "n2", "n3", ahead=5)
    assert shell("run", "bootstrap-after-crash", "--yes").code == 4
    _edit(shell, '"confirm":"n3"', '"confirm":"n1"', "continued")
    done = list(shell.world.cluster.log)
    said = shell("resume", "1", "--yes", "--confirm", "n1", "--confirm", "n3")
    assert said.code == 1
    assert "was changed after this workstation wrote it" in said.err
    assert shell.world.cluster.log == done


def test_that_a_journal_cut_off_at_its_end_ends_with_1_and_nothing_is_done(shell: Shell) -> None:
    _waiting(shell)
    with closing(sqlite3.connect(shell.folder / "state.sqlite")) as base, base:
        base.execute("DELETE FROM procedure_entry WHERE seq = (SELECT max(seq) FROM procedure_entry)")
    done = list(shell.world.cluster.log)
    for words in (("resume", "1"), ("undo", "1"), ("undo", "1", "--release"), ("undo", "1", "--leave", "no more")):
        said = shell(*words, "--yes")
        assert said.code == 1, words
        assert "The journal of run 1 is truncated: this workstation wrote more lines than it contains" in said.err
        assert "can no longer continue, roll back or release anything" in said.err
    assert shell.world.cluster.log == done
    (document,) = shell("procedures", "--runs", "--json").document
    assert (document["binding"], document["ways"], document["approve"]) == ("cut off", [], "")


def test_that_a_run_whose_end_was_not_kept_is_shown_and_approved_by_its_code(shell: Shell) -> None:
    _waiting(shell)
    for head in (shell.folder / "heads").iterdir():
        head.unlink()
    said = shell("resume", "1", "--yes")
    assert said.code == 1
    assert "The end of the journal of run 1 was not recorded, or is lost" in said.out + said.err
    code = said.err.partition("--approve ")[2].split()[0]
    said = shell("resume", "1", "--yes", "--approve", code)
    assert (said.code, last_run(said)) == (0, "done")


@pytest.mark.parametrize("verb", ["resume", "undo"])
def test_that_nobody_is_asked_to_approve_a_run_that_is_not_there(shell: Shell, verb: str) -> None:
    said = shell(verb, "47")
    assert said.code == 2
    assert "There is no run '47'" in said.err
    assert "--yes" not in said.err
    assert "procedures --runs" in said.err


@pytest.mark.parametrize("words", [("resume",), ("undo",), ("undo", "--release"), ("undo", "--leave", "x")])
def test_that_a_run_goes_neither_on_nor_back_where_nobody_approves(shell: Shell, words: tuple[str, ...]) -> None:
    _waiting(shell)
    done, gathered = list(shell.world.cluster.log), shell.world.gathered
    said = shell(words[0], "1", *words[1:])
    assert said.code == 2
    assert said.err.startswith(
        "Approval needed; no terminal attached.\nNothing was changed.\nTry: Approve it with --yes, or "
    )
    assert (list(shell.world.cluster.log), shell.world.gathered) == (done, gathered)

"""Runs by command, over the real service and engine on scripted hosts: one exit code for each state, and the lock."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path

import pytest

from services.i18n import install
from tests.faults.scripted.cluster import crashed
from tests.unit.app.steering_service import DESYNC, HOLDER, ROLLING, Shell, last_run


def test_that_a_run_that_is_done_ends_with_0_and_has_a_report(shell: Shell) -> None:
    said = shell("run", *DESYNC, "--yes")
    assert (said.code, last_run(said)) == (0, "done")
    assert shell("procedures", "--runs").code == 0
    assert shell("report", "1").out.startswith("# ")


def test_that_a_failed_run_that_was_taken_back_ends_with_3(shell: Shell) -> None:
    shell.world.on_act = lambda step: stop_other(shell) if step == "desync" else None
    said = shell("run", *DESYNC, "--yes")
    assert (said.code, last_run(said)) == (3, "undone")
    assert "All changes of the run were rolled back." in said.out
    assert "  ▲ " in said.out.partition("[undone]\n")[2]  # why: the watch rule that broke
    assert shell.world.cluster.hosts["n3"].variables.get("wsrep_desync", "OFF") == "OFF"


def stop_other(shell: Shell) -> None:
    """Let another node go away: the last proof can't come."""
    shell.world.cluster.stop(shell.world.cluster.hosts["n2"])


def test_that_an_undo_that_fails_ends_with_4_and_the_run_is_listed_with_1(shell: Shell) -> None:
    shell.world.cluster.hosts["n2"].fails_to_start = True
    said = shell("run", *ROLLING, "--yes")
    assert (said.code, last_run(said)) == (4, "undo failed")
    listed = shell("procedures", "--runs")
    assert listed.code == 1
    assert "Continue the rollback with undo 1." in listed.out


def test_that_a_run_that_needs_a_person_ends_with_4_and_goes_on_by_its_answer(shell: Shell) -> None:
    shell.world.cluster = crashed("n1", "n2", "n3", ahead=5)
    said = shell("run", "bootstrap-after-crash", "--yes")
    assert (said.code, last_run(said)) == (4, "waiting for you")
    assert "waits for you: " in said.out
    assert len(shell.world.cluster.primaries()) == 0
    said = shell("resume", "1", "--yes", "--confirm", "n3")
    assert (said.code, last_run(said)) == (0, "done")
    assert len(shell.world.cluster.primaries()) == 3


def test_that_a_run_closed_as_it_stands_is_good_when_asked_for_and_1_when_resumed(shell: Shell) -> None:
    with shell.typing("yes"):
        shell("run", *DESYNC)
    said = shell("undo", "1", "--yes", "--leave", "the backup host is gone")
    assert (said.code, last_run(said)) == (0, "left as it is")
    assert "Left as it is: the backup host is gone." in said.out
    assert shell("procedures", "--runs").code == 0
    assert shell("resume", "1", "--yes").code == 1


def test_that_a_run_closed_with_something_still_switched_on_ends_with_4(shell: Shell) -> None:
    n2 = shell.world.cluster.hosts["n2"]
    shell.world.on_act = lambda step: setattr(n2, "reachable", step != "n2:reject-n2" and n2.reachable)
    shell("run", *ROLLING, "--yes")  # of a host that is silent nobody can tell that it serves its clients again
    said = shell("undo", "1", "--yes", "--leave", "n2 gets a new disk")
    assert (said.code, last_run(said)) == (4, "left as it is")
    assert "Still switched on: " in said.out
    listed = shell("procedures", "--runs")
    assert listed.code == 1
    assert "Switched on:\n" in listed.out


def test_that_an_undo_that_was_asked_for_is_good(shell: Shell) -> None:
    with shell.typing("yes"):  # approved, then the terminal is gone before the backup's end is told
        assert shell("run", *DESYNC).code == 4
    assert shell.world.cluster.hosts["n3"].variables["wsrep_desync"] == "ON"
    said = shell("undo", "1", "--yes")
    assert (said.code, last_run(said)) == (0, "undone")
    assert "wsrep_desync" not in shell.world.cluster.hosts["n3"].variables


def test_that_a_release_switches_off_and_leaves_the_run_where_it_stands(shell: Shell) -> None:
    with shell.typing("yes"):
        shell("run", *DESYNC)
    assert "n3 desynced" in shell("procedures", "--runs").out
    said = shell("undo", "1", "--yes", "--release")
    assert (said.code, last_run(said)) == (0, "waiting for you")
    assert "desynced" not in shell("procedures", "--runs").out


def test_that_a_run_that_is_over_is_not_taken_back(shell: Shell) -> None:
    shell("run", *DESYNC, "--yes")
    before = list(shell.world.cluster.log)
    said = shell("undo", "1", "--yes")
    assert said.code == 2
    assert "Run 1 cannot be rolled back: it is 'done'." in said.err
    assert shell.world.cluster.log == before


def test_that_a_run_for_machines_is_one_document_in_english(shell: Shell) -> None:
    install("x-pseudo")
    try:
        documents = [
            shell(*words, "--json", "--language", "x-pseudo").document
            for words in (("run", *DESYNC, "--yes"), ("resume", "1", "--yes"))
        ]
        listed = shell("procedures", "--runs", "--json", "--language", "x-pseudo").document
    finally:
        install("en")
    for document in (*documents, listed[0]):
        assert (document["run"], document["state"]) == ("1", "done")
        assert document["sentence"] == "n3 is Synced, wsrep_desync is OFF, its receive queue is empty."
        assert [step["state"] for step in document["steps"]] == ["done"] * 5
        assert (document["obligations"], document["question"], document["overrides"]) == ([], None, [])


def test_that_a_waiting_run_tells_machines_its_question(shell: Shell) -> None:
    shell.world.cluster = crashed("n1", "n2", "n3", ahead=5)
    document = shell("run", "bootstrap-after-crash", "--yes", "--json").document
    assert document["state"] == "waiting for you"
    assert document["question"]["ask"]["question"] != ""


# --- the lock -----------------------------------------------------------------------------------------------------


def test_that_a_held_lock_ends_with_1_and_says_whose_it_is_and_what_to_type(shell: Shell) -> None:
    shell.world.holder = HOLDER
    said = shell("run", *DESYNC, "--yes")
    assert said.code == 1
    assert "n1: eva@desk2 a1b2c3 runs add-node on this cluster since 2023-11-14 22:13:20 UTC (run 9)." in said.err
    assert "Nothing was changed." in said.err
    assert "pilothouse resume 1 --take-over 'eva@desk2 a1b2c3'" in said.err
    assert shell.world.cluster.log == []


def test_that_a_take_over_with_another_owner_is_refused(shell: Shell) -> None:
    shell.world.holder = HOLDER
    said = shell("run", *DESYNC, "--yes", "--take-over", "eva@desk2")
    assert said.code == 1
    assert shell.world.holder == HOLDER
    assert shell.world.cluster.log == []


def test_that_a_take_over_with_the_owner_typed_runs(shell: Shell) -> None:
    shell.world.holder = HOLDER
    assert shell("run", *DESYNC, "--yes").code == 1
    said = shell("resume", "1", "--yes", "--take-over", HOLDER.owner)
    assert (said.code, last_run(said)) == (0, "done")
    assert shell.world.holder is None


def test_that_a_lock_seen_by_the_preflight_is_taken_over_with_a_reason_and_its_owner(shell: Shell) -> None:
    shell.world.holder = HOLDER
    shell.world.changed = lambda facts: replace(facts, hosts=tuple(replace(h, lock=HOLDER) for h in facts.hosts))
    said = shell("run", *DESYNC, "--yes", "--take-over", HOLDER.owner)
    assert said.code == 1
    assert "Refused: LOCK-FREE. Nothing was changed.\n" in said.out
    assert "give both options: --override LOCK-FREE=REASON --take-over OWNER\n" in said.out
    words = ("--override", "LOCK-FREE=eva's laptop is broken", "--take-over", HOLDER.owner)
    assert shell("run", *DESYNC, "--yes", *words).code == 0
    assert shell.world.holder is None


def test_that_an_answer_which_a_run_made_wrong_is_refused_with_that_run_named_first(shell: Shell) -> None:
    """In the middle of a conversion its own new hosts were 'not one of' those offered, and nobody said why."""
    shell.world.changed = lambda facts: replace(facts, hosts=tuple(replace(h, lock=HOLDER) for h in facts.hosts))
    said = shell("plan", "desync-for-backup", "--input", "node=n9")
    assert said.code == 2
    tries = [line for line in said.err.splitlines() if line.startswith("Try: ")]
    assert f"{HOLDER.owner} runs {HOLDER.procedure} (run {HOLDER.run_id})" in tries[0]
    assert any("n9" in line for line in tries[1:])


def test_that_a_held_lock_is_one_document_for_machines(shell: Shell) -> None:
    shell.world.holder = dataclasses.replace(HOLDER, since=None)
    document = shell("run", *DESYNC, "--yes", "--json").document
    assert document["error"] == "lock-held"
    assert document["host"] == "n1"


def test_that_a_lock_of_this_consoles_own_run_names_the_way_out_by_its_number(shell: Shell) -> None:
    shell.world.cluster = crashed("n1", "n2", "n3", ahead=5)
    waits = shell("run", "bootstrap-after-crash", "--yes")
    assert "    pilothouse undo 1 " in waits.out  # where it rests, it says what can be done
    (listed,) = shell("procedures", "--runs", "--json").document
    assert [way["code"] for way in listed["ways"]][:2] == ["resume", "undo"]
    shell.world.holder = dataclasses.replace(HOLDER, owner=listed["owner"], run_id="1")
    lock = shell.world.holder
    shell.world.changed = lambda facts: replace(facts, hosts=tuple(replace(h, lock=lock) for h in facts.hosts))
    document = shell("plan", "bootstrap-after-crash", "--json").document
    (check,) = [check for check in document["checks"] if check["code"] == "LOCK-FREE"]
    assert check["commands"] == [way["command"] for way in listed["ways"]]
    refused = shell("run", "bootstrap-after-crash", "--yes")
    assert refused.code == 1
    assert "try: pilothouse undo 1\n" in refused.out
    assert "--take-over" not in refused.out
    shell.world.changed = lambda facts: facts  # the lock was taken after the checks
    met = shell("run", "bootstrap-after-crash", "--yes")
    assert met.code == 1
    assert "pilothouse undo 1" in met.err
    assert "--take-over" not in met.err


# --- another data folder ------------------------------------------------------------------------------------------


def test_that_a_run_of_another_data_folder_is_told_with_what_was_read_and_where_else_journals_lie(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usual = tmp_path / "share" / "pilothouse"
    monkeypatch.setenv("XDG_DATA_HOME", str(usual.parent))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SUDO_USER", raising=False)
    for words in (("resume", "7"), ("undo", "7"), ("report", "7")):
        said = shell(*words)
        assert said.code == 2
        assert f"There is no run '7' in this journal: {shell.folder / 'state.sqlite'}." in said.err
        assert "To use another one: --data DIR" in said.err
    usual.mkdir(parents=True)
    (usual / "state.sqlite").touch()
    named = f"There is another journal in {usual}: pilothouse procedures --runs --data {usual}"
    assert named in shell("resume", "7").err
    listed = shell("procedures", "--runs").out
    assert f"with this data folder: {shell.folder}." in listed
    assert named in listed
    assert list(usual.iterdir()) == [usual / "state.sqlite"], "nothing was opened there"
    below = tmp_path / "home" / ".local" / "share" / "pilothouse"
    below.mkdir(parents=True)
    (below / "state.sqlite").touch()
    assert str(below) in shell("resume", "7").err

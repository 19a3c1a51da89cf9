"""A person at the terminal, over the real service and engine on scripted hosts: what is asked, and what counts."""

from __future__ import annotations

import json

from tests.faults.scripted.cluster import crashed
from tests.unit.app.steering_service import DESYNC, Shell, last_run, nothing_was_changed


def test_that_a_plan_that_is_not_approved_is_not_run(shell: Shell) -> None:
    for word in ("no", "", "yess"):
        with shell.typing(word):
            said = shell("run", *DESYNC)
        assert said.code == 1
        assert said.out.endswith("Approve this plan? Type yes: Nothing was changed.\n")
    assert nothing_was_changed(shell)


def test_that_a_slip_of_the_pen_is_no_yes_and_is_asked_again(shell: Shell) -> None:
    with shell.typing("yes", "not yet", "yse", "yes"):
        said = shell("run", *DESYNC)
    assert (said.code, last_run(said)) == (0, "done")
    words = "is not a valid answer here and was ignored. The answers are: yes, stop.\n"
    assert said.out.count(f"'not yet' {words}") == said.out.count(f"'yse' {words}") == 1
    assert said.out.count("Is the backup on n3 done?\nAnswer yes if it is true, or stop.\n(asked at ") == 3


def test_that_a_stop_fails_the_step_and_the_person_chooses_the_way_back(shell: Shell) -> None:
    with shell.typing("yes", "stop", "back", "undo"):
        said = shell("run", *DESYNC)
    assert (said.code, last_run(said)) == (3, "undone")
    assert said.out.count("  undo: roll back the run\n") == 2


def test_that_the_end_of_the_input_suspends_the_run_as_it_is(shell: Shell) -> None:
    with shell.typing("yes", "stop"):
        said = shell("run", *DESYNC)
    assert (said.code, last_run(said)) == (4, "failed")
    with shell.typing("undo"):
        said = shell("resume", "1")
    assert said.code in {3, 4}


def test_that_the_rest_of_a_plan_is_shown_before_it_is_approved(shell: Shell) -> None:
    shell.world.cluster = crashed("n1", "n2", "n3", ahead=5)
    with shell.typing("yes", "yes", "approve", "n3", "yes"):
        said = shell("run", "bootstrap-after-crash", "--commands")
    assert (said.code, last_run(said)) == (0, "done")
    before, asked, _ = said.out.partition("Answer approve or stop.")
    assert asked
    assert "The rest of the plan, for your approval:\n" in before
    assert "n3       Bootstrap n3 at seqno 1005: its data becomes the cluster's   [cannot be undone, 15 s]" in before
    assert "$ n3: sudo galera_new_cluster" in before
    assert "Type n3 to confirm, or stop." in said.out
    rest = before.rpartition("The rest of the plan, for your approval:\n")[2]
    shown = [line.split() for line in rest.splitlines() if line.lstrip().startswith(("ok ", "warn ", "BLOCK "))]
    assert "POSITIONS" in {words[1] for words in shown}
    assert len(shown) == len(set(map(tuple, shown))), shown  # one check each, or one of each host


def test_that_a_run_that_waits_for_approval_shows_what_is_to_be_approved(shell: Shell) -> None:
    shell.world.cluster = crashed("n1", "n2", "n3", ahead=5)
    said = shell("run", "bootstrap-after-crash", "--yes", "--commands")
    assert "$ n3: sudo galera_new_cluster" in said.out
    assert "to be confirmed with --confirm n3" in said.out


def test_that_an_answer_on_the_command_line_comes_before_what_yes_would_answer(shell: Shell) -> None:
    with shell.typing("yes"):
        shell("run", *DESYNC)
    said = shell("resume", "1", "--yes", "--answer", "stop")
    assert (said.code, last_run(said)) == (3, "undone")


def test_that_an_answer_that_fits_no_question_is_told_and_not_taken(shell: Shell) -> None:
    shell.world.cluster = crashed("n1", "n2", "n3", ahead=5)
    shell("run", "bootstrap-after-crash", "--yes")
    said = shell("resume", "1", "--yes", "--answer", "maybe")
    assert (said.code, last_run(said)) == (4, "waiting for you")
    assert "'maybe' is not a valid answer to: " in said.err
    assert "The answers are: approve, stop." in said.err
    machine = shell("resume", "1", "--yes", "--answer", "maybe", "--json")
    document = json.loads(machine.out)
    assert (document["refused_answer"], document["answers"]) == ("maybe", ["approve", "stop"])

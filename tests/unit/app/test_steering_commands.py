"""The steering commands over the real desk, journal and engine on scripted hosts: exit codes, documents, refusals."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path

import pytest

from services.facts.model import Problem
from services.procedures.facts_model import Facts
from services.words import install
from tests.faults.scripted.cluster import crashed, whole
from tests.unit.app.steering_desk import HOLDER, Said, Shell

DESYNC = ("desync-for-backup", "--input", "node=n3")
ROLLING = ("rolling-restart", "--input", "pause=1 s")


def nothing_was_changed(shell: Shell) -> bool:
    """Return whether no act reached the cluster and no run was journalled."""
    return shell.world.cluster.log == [] and shell("procedures", "--runs").out.startswith("No procedure has been run")


# --- plan and refusals --------------------------------------------------------------------------------------------


def test_that_a_plan_is_printed_with_its_checks_and_changes_nothing(shell: Shell) -> None:
    said = shell("plan", *DESYNC)
    assert (said.code, said.err) == (0, "")
    assert "  ok    LOCK-FREE  No other console works on this cluster: no lock is held\n" in said.out
    assert "   1. n3       Desync n3   [changes, 1.0 s]\n        $ n3: SET GLOBAL wsrep_desync=ON;\n" in said.out
    assert nothing_was_changed(shell)


def test_that_a_plan_for_machines_is_one_document(shell: Shell) -> None:
    document = shell("plan", *DESYNC, "--json").document
    assert set(document) == {"procedure", "inputs", "checks", "plan", "nothing_to_do", "overrides", "refused"}
    assert (document["procedure"], document["inputs"]["node"]) == ("desync-for-backup", "n3")
    assert document["plan"]["steps"][0]["step_id"] == "desync"
    assert {check["verdict"] for check in document["checks"]} == {"pass"}
    assert (document["nothing_to_do"], document["refused"]) == (False, [])


@pytest.mark.parametrize("command", [("plan",), ("run", "--yes"), ("run", "--rehearse")])
@pytest.mark.parametrize("inputs", [("node=n9",), ("longest=soon",), ("colour=red",)])
def test_that_faults_of_the_inputs_end_with_2(shell: Shell, command: tuple[str, ...], inputs: tuple[str, ...]) -> None:
    words = [word for pair in inputs for word in ("--input", pair)]
    said = shell(command[0], "desync-for-backup", *command[1:], *words)
    assert said.code == 2
    assert said.err.startswith("The inputs are not complete or not right.\nNothing was changed.\nTry: ")
    assert inputs[0].partition("=")[0] in said.err
    assert nothing_was_changed(shell)


def test_that_a_missing_choice_comes_with_what_could_not_be_read(shell: Shell) -> None:
    problem = Problem("sql", "The variable DB_PASSWORD is not set.")
    shell.world.changed = lambda facts: replace(
        facts, hosts=tuple(replace(h, node=None, server_up=None, problems=(problem,)) for h in facts.hosts)
    )
    said = shell("plan", "desync-for-backup")
    assert said.code == 2
    assert "Try: n1: The variable DB_PASSWORD is not set." in said.err


def test_that_a_block_ends_with_1_and_changes_nothing(shell: Shell) -> None:
    shell.world.cluster = whole("n1", "n2")
    for command in (("plan",), ("run", "--yes"), ("run", "--rehearse")):
        said = shell(command[0], *ROLLING, *command[1:])
        assert said.code == 1, command
        assert "  BLOCK CLUSTER-SIZE  Three members or more: 2: n1, n2\n" in said.out
        assert "try: Add a node or an arbitrator first." in said.out
    assert "Refused: CLUSTER-SIZE. Nothing was changed." in shell("run", *ROLLING, "--yes").out
    assert shell("run", *ROLLING, "--yes", "--json").document["refused"] == ["CLUSTER-SIZE"]
    assert nothing_was_changed(shell)


def test_that_an_override_with_a_reason_lets_the_run_begin_and_stays_in_its_report(shell: Shell) -> None:
    shell.world.cluster = whole("n1", "n2")
    said = shell("run", *ROLLING, "--yes", "--override", "cluster-size=the third comes tomorrow")
    assert "overridden: the third comes tomorrow" in said.out
    assert "Run 1 begins." in said.out
    assert said.code == 0
    assert "the third comes tomorrow" in shell("report", "1").out


def test_that_an_override_of_an_absolute_block_counts_for_nothing(shell: Shell) -> None:
    for host in shell.world.cluster.hosts.values():
        host.frozen_at = None  # no provider here has the option
    words = ("--input", "node=n3", "--input", "donor=n1", "--override", "FREEZE-CAPABILITY=I know better")
    said = shell("run", "freeze-gcache", "--yes", *words)
    assert said.code == 1
    assert "This block can not be overridden." in said.out
    assert "overridden: " not in said.out
    assert "Refused: FREEZE-CAPABILITY. Nothing was changed." in said.out
    assert nothing_was_changed(shell)


def test_that_an_override_of_no_check_is_bad_input(shell: Shell) -> None:
    said = shell("run", *DESYNC, "--yes", "--override", "DISC-FREE=typed wrong")
    assert said.code == 2
    assert "There is no check called DISC-FREE." in said.err
    assert "The checks are: FOREIGN-PROVIDER, HEALTH-GATE" in said.err
    assert nothing_was_changed(shell)


def test_that_a_rehearsal_reads_everything_and_journals_nothing(shell: Shell) -> None:
    said = shell("run", *DESYNC, "--rehearse")
    assert said.code == 0
    assert "Rehearsal: every read was made, nothing was changed." in said.out
    assert "   1. n3       Desync n3: act\n" in said.out
    document = shell("run", *DESYNC, "--rehearse", "--json").document
    assert [step["would"] for step in document["rehearsal"]][:2] == ["act", "ask you"]
    assert (document["unread"], document["stops"]) == ([], [])
    assert nothing_was_changed(shell)


def test_that_a_rehearsal_that_finds_a_step_the_run_would_stop_at_ends_with_1(shell: Shell) -> None:
    def leaves_after_the_checks(facts: Facts) -> Facts:
        shell.world.cluster.hosts["n3"].primary = False
        return facts

    shell.world.changed = leaves_after_the_checks
    said = shell("run", *DESYNC, "--rehearse")
    assert said.code == 1
    assert "BLOCK" not in said.out
    assert "   1. n3       Desync n3: stop: what must hold before does not hold\n" in said.out
    assert said.out.splitlines()[-1].startswith("The run would stop at step 1: ")
    shell.world.cluster.hosts["n3"].primary = True
    machine = shell("run", *DESYNC, "--rehearse", "--json")
    assert machine.code == 1
    assert machine.document["stops"] == ["desync"]
    assert (machine.document["refused"], machine.document["unread"]) == ([], [])
    assert nothing_was_changed(shell)


def test_that_a_rehearsal_of_a_plan_that_would_be_refused_says_so_at_its_end(shell: Shell) -> None:
    shell.world.cluster = whole("n1", "n2")
    said = shell("run", *ROLLING, "--rehearse")
    assert said.code == 1
    assert "The run would be refused: CLUSTER-SIZE." in said.out.splitlines()


def test_that_where_nothing_is_to_do_nothing_is_journalled(shell: Shell) -> None:
    shell.world.cluster = whole("n1", "n2", "n3")
    said = shell("run", "add-node", "--yes", "--input", "joiner=n3")
    assert said.code == 0
    assert "Nothing is to be done: the cluster is as this procedure would leave it." in said.out
    assert nothing_was_changed(shell)


# --- runs: one exit code for each state ---------------------------------------------------------------------------


def last_run(said: Said) -> str:
    """Return the state in the last printed run's heading."""
    heading = [line for line in said.out.splitlines() if line.startswith("run ")][-1]
    return heading.rpartition("[")[2].rstrip("]")


def test_that_a_run_that_is_done_ends_with_0_and_has_a_report(shell: Shell) -> None:
    said = shell("run", *DESYNC, "--yes")
    assert (said.code, last_run(said)) == (0, "done")
    assert shell("procedures", "--runs").code == 0
    assert shell("report", "1").out.startswith("# ")


def test_that_a_failed_run_that_was_taken_back_ends_with_3(shell: Shell) -> None:
    shell.world.on_act = lambda step: stop_other(shell) if step == "desync" else None
    said = shell("run", *DESYNC, "--yes")
    assert (said.code, last_run(said)) == (3, "undone")
    assert "All that it changed was taken back." in said.out
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
    assert "Go on with resume 1, or back with undo 1." in listed.out


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
    shell.world.cluster.hosts["n2"].fails_to_start = True
    shell("run", *ROLLING, "--yes")
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
    assert "Run 1 can't be taken back: it is 'done'." in said.err
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
    assert "say both: --override LOCK-FREE=REASON --take-over OWNER\n" in said.out
    words = ("--override", "LOCK-FREE=eva's laptop is broken", "--take-over", HOLDER.owner)
    assert shell("run", *DESYNC, "--yes", *words).code == 0
    assert shell.world.holder is None


def test_that_a_held_lock_is_one_document_for_machines(shell: Shell) -> None:
    shell.world.holder = dataclasses.replace(HOLDER, since=None)
    document = shell("run", *DESYNC, "--yes", "--json").document
    assert document["error"] == "lock-held"
    assert document["host"] == "n1"


# --- a person at the terminal -------------------------------------------------------------------------------------


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
    assert said.out.count("Is the backup on n3 done?\nAnswer yes when it is so, or stop.\n> ") == 3


def test_that_a_stop_fails_the_step_and_the_person_chooses_the_way_back(shell: Shell) -> None:
    with shell.typing("yes", "stop", "back", "undo"):
        said = shell("run", *DESYNC)
    assert (said.code, last_run(said)) == (3, "undone")
    assert said.out.count("  undo: take the run back\n") == 2


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
        said = shell("run", "bootstrap-after-crash")
    assert (said.code, last_run(said)) == (0, "done")
    before, asked, _ = said.out.partition("Answer approve or stop.")
    assert asked
    assert "The rest of the plan, to be approved:\n" in before
    assert "n3       Bootstrap n3 at seqno 1005: its data becomes the cluster's   [can't be undone, 15 s]" in before
    assert "$ n3: sudo galera_new_cluster" in before
    assert "Type n3 to confirm, or stop." in said.out


def test_that_a_run_that_waits_for_approval_shows_what_is_to_be_approved(shell: Shell) -> None:
    shell.world.cluster = crashed("n1", "n2", "n3", ahead=5)
    said = shell("run", "bootstrap-after-crash", "--yes")
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
    assert "'maybe' is no answer to: " in said.err


# --- cards, questions, reports ------------------------------------------------------------------------------------


def test_that_the_cards_are_grouped_by_need_and_are_a_document_for_machines(shell: Shell) -> None:
    said = shell("procedures")
    assert (said.code, shell.world.gathered) == (0, 0)
    assert "\nAll nodes are down\n  bootstrap-after-crash  -  " in said.out
    cards = shell("procedures", "--json").document
    assert [card["name"] for card in cards] == [
        "add-node", "freeze-gcache", "rolling-restart", "bootstrap-after-crash", "desync-for-backup",
    ]  # fmt: skip
    assert {"title", "need", "what", "takes", "can_break"} < set(cards[0])


def test_that_the_questions_of_one_are_shown_with_their_defaults(shell: Shell) -> None:
    said = shell("procedures", "desync-for-backup")
    assert said.code == 0
    assert "  --input longest=4 h   " in said.out
    document = shell("procedures", "desync-for-backup", "--json").document
    assert document["about"]["name"] == "desync-for-backup"
    assert {field["name"]: field["kind"] for field in document["fields"]}["longest"] == "duration"


def test_that_a_report_overwrites_nothing_and_then_writes_nothing(shell: Shell, tmp_path: Path) -> None:
    shell("run", *DESYNC, "--yes")
    html, text = tmp_path / "run.html", tmp_path / "run.md"
    text.write_text("mine")
    said = shell("report", "1", "--html", str(html), "--markdown", str(text))
    assert said.code == 2
    assert f"{text} exists already.\nIt was left as it is." in said.err
    assert text.read_text() == "mine"
    assert not html.exists()


def test_that_both_reports_are_written_and_named(shell: Shell, tmp_path: Path) -> None:
    shell("run", *DESYNC, "--yes")
    html, text = tmp_path / "run.html", tmp_path / "run.md"
    document = shell("report", "1", "--html", str(html), "--markdown", str(text), "--json").document
    assert document == {"written": [str(html), str(text)]}
    assert html.read_text().startswith("<!")
    assert text.read_text() == shell("report", "1").out == shell("report", "1", "--json").document["markdown"]


def test_that_a_report_that_can_not_be_written_is_told(shell: Shell, tmp_path: Path) -> None:
    shell("run", *DESYNC, "--yes")
    said = shell("report", "1", "--html", str(tmp_path / "nowhere" / "run.html"))
    assert said.code == 2
    assert "can't be written" in said.err

"""Plans, cards and reports by command: the real service and journal on scripted hosts: what is said and refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from services.facts.model import NodeFacts, Problem
from services.procedures.catalogue import all_procedures
from services.procedures.plan.host_facts import Facts, HostFacts
from services.types import Reach
from tests.faults.scripted.cluster import whole
from tests.unit.app.steering_service import DESYNC, ROLLING, Shell, nothing_was_changed


def test_that_a_plan_is_printed_with_its_checks_and_changes_nothing(shell: Shell) -> None:
    said = shell("plan", *DESYNC)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Ready, with 2 things to read first.\n")
    assert "   1. n3       Desync n3   [changes, 1 s]\n" in said.out
    assert "LOCK-FREE" in said.out  # what passed is told by its code
    assert "$ " not in said.out
    assert nothing_was_changed(shell)


def test_that_every_word_of_a_plan_is_told_where_it_is_asked_for(shell: Shell) -> None:
    said = shell("plan", *DESYNC, "--commands")
    assert (said.code, said.err) == (0, "")
    assert "  ok    LOCK-FREE  No other console works on this cluster: no lock is held\n" in said.out
    assert "   1. n3       Desync n3   [changes, 1 s]\n        $ n3: SET GLOBAL wsrep_desync=ON;\n" in said.out
    assert nothing_was_changed(shell)


def test_that_a_plan_for_machines_is_one_document(shell: Shell) -> None:
    document = shell("plan", *DESYNC, "--json").document
    assert set(document) == {"procedure", "inputs", "checks", "plan", "nothing_to_do", "overrides", "refused"}
    assert (document["procedure"], document["inputs"]["node"]) == ("desync-for-backup", "n3")
    assert document["plan"]["steps"][0]["step_id"] == "desync"
    others = [(check["code"], check["verdict"]) for check in document["checks"] if check["verdict"] != "pass"]
    assert others == [("CLOCKS", "warn"), ("CLIENTS", "warn")]  # scripted hosts tell no clock; client sessions
    assert (document["nothing_to_do"], document["refused"]) == (False, [])


@pytest.mark.parametrize("command", [("plan",), ("run", "--yes"), ("run", "--rehearse")])
@pytest.mark.parametrize("inputs", [("node=n9",), ("longest=soon",), ("colour=red",)])
def test_that_faults_of_the_inputs_end_with_2(shell: Shell, command: tuple[str, ...], inputs: tuple[str, ...]) -> None:
    words = [word for pair in inputs for word in ("--input", pair)]
    said = shell(command[0], "desync-for-backup", *command[1:], *words)
    assert said.code == 2
    assert said.err.startswith("The inputs are incomplete or invalid.\nNothing was changed.\nTry: ")
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


@pytest.mark.parametrize("name", ["desync-for-backup", "rolling-restart", "bootstrap-after-crash"])
@pytest.mark.parametrize("command", [("plan",), ("run", "--yes"), ("run", "--rehearse")])
def test_that_no_plan_is_made_where_no_host_answered(shell: Shell, name: str, command: tuple[str, ...]) -> None:
    shell.world.changed = lambda facts: replace(facts, cluster=None, hosts=tuple(map(_unheard, facts.hosts)))
    said = shell(command[0], name, *command[1:])
    assert (said.code, said.out) == (1, "")
    first, *reasons, safe, tries = said.err.splitlines()
    assert first == "No host answered, so no plan can be made."
    assert reasons == [f"  {n}: Port 3306 refused the connection." for n in ("n1", "n2", "n3")]
    assert (safe, tries) == ("Nothing was changed.", "Try: Restore the connection to a host, then plan again.")
    assert shell(command[0], name, *command[1:], "--json").document["error"] == "no-answer"
    assert nothing_was_changed(shell)


def _unheard(host: HostFacts) -> HostFacts:
    refused = Problem("sql", "Port 3306 refused the connection.", "connection-refused")
    return HostFacts(host.host, host.address, NodeFacts(host.host, 0.0, Reach.NONE, problems=(refused,)))


def test_that_a_block_ends_with_1_and_changes_nothing(shell: Shell) -> None:
    shell.world.cluster = whole("n1", "n2")
    for command in (("plan",), ("run", "--yes"), ("run", "--rehearse")):
        said = shell(command[0], *ROLLING, *command[1:])
        assert said.code == 1, command
        assert "  BLOCK CLUSTER-SIZE  At least three members: 2: n1, n2\n" in said.out
        assert "try: Add a node or an arbitrator first." in said.out
    assert "Refused: CLUSTER-SIZE. Nothing was changed." in shell("run", *ROLLING, "--yes").out
    assert shell("run", *ROLLING, "--yes", "--json").document["refused"] == ["CLUSTER-SIZE"]
    assert nothing_was_changed(shell)


def test_that_an_override_with_a_reason_lets_the_run_begin_and_stays_in_its_report(shell: Shell) -> None:
    shell.world.cluster = whole("n1", "n2")
    said = shell("run", *ROLLING, "--yes", "--override", "cluster-size=the third comes tomorrow")
    assert "overridden: the third comes tomorrow" in said.out
    assert "Run 1 started." in said.out
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
    assert "The checks are: CLIENTS, CLOCKS, FOREIGN-PROVIDER, HEALTH-GATE" in said.err
    assert nothing_was_changed(shell)


def test_that_a_rehearsal_reads_everything_and_journals_nothing(shell: Shell) -> None:
    said = shell("run", *DESYNC, "--rehearse")
    assert said.code == 0
    assert "Rehearsal: all reads were made; nothing was changed." in said.out
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
    assert "   1. n3       Desync n3: stop: a precondition does not hold\n" in said.out
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
    assert "Nothing to do: the cluster is already as this procedure would leave it." in said.out
    assert nothing_was_changed(shell)


# --- cards, questions, reports ------------------------------------------------------------------------------------


def test_that_the_cards_are_grouped_by_need_and_are_a_document_for_machines(shell: Shell) -> None:
    said = shell("procedures")
    assert (said.code, shell.world.gathered) == (0, 0)
    assert "\nAll nodes are down\n  bootstrap-after-crash  -  " in said.out
    cards = shell("procedures", "--json").document
    names = [card["name"] for card in cards]
    assert {"add-node", "bootstrap-after-crash", "encrypt-sst", "sst-tuning"} < set(names)
    assert sorted(names) == sorted(one.about.name for one in all_procedures())
    needs = [need for need, _ in groupby(card["need"] for card in cards)]
    assert len(needs) == len(set(needs))
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
    assert f"{text} exists already.\nIt was not changed." in said.err
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
    assert "cannot be written" in said.err

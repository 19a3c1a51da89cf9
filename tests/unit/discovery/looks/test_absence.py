"""An empty answer is no word of a server: what shows that none runs, and what is said where nothing does."""

from __future__ import annotations

from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.connections.ssh.no_commands import no_commands
from services.discovery.looks.probe import probe
from services.discovery.snapshot import updated_estate
from services.errors import NoCommands
from services.facts.absence import HIDDEN, NO_SYSTEMD, UNIT_RUNS, doubt_of_units, lists_others, sees_others
from services.facts.model import NodeFacts
from services.types import Health, Reach
from tests.unit.discovery.scenes import AT
from tests.unit.recorded.replies import ReplaySession, load

KILLED: dict[str, Any] = load("situations/galera-killed.json")["hosts"]["n3"]
PROC: dict[str, dict[str, dict[str, Any]]] = load("hidden_processes.json")
FIRST = "ps -p 1 -o pid= -o uid= -o comm="
_ENDED = {"exit": 1, "stdout": "", "stderr": ""}


def looked(**commands: dict[str, Any]) -> NodeFacts:
    """Return the facts of a host whose server was killed, where these programs answer so (by their beginning)."""
    words = {
        name: next((answer for begin, answer in commands.items() if name.startswith(begin)), found)
        for name, found in KILLED["commands"].items()
    }
    if "first" in commands:
        words[FIRST] = commands["first"]
    if "everything" in commands:
        words = dict.fromkeys((*words, FIRST), commands["everything"])
    return probe(ReplaySession("n3", {**KILLED, "commands": words}), ManualClock(AT), address="10.213.1.13")


def drawn(facts: NodeFacts) -> tuple[str, Health, str]:
    """Return state, health and reason of the node."""
    estate = updated_estate(None, {"n3": facts}, AT)
    (node,) = estate.clusters[0].nodes
    return node.state, node.health, node.reason


def test_that_a_killed_server_is_not_running_where_others_processes_are_seen_and_its_unit_says_so() -> None:
    facts = looked()
    assert facts.machine is not None
    assert (facts.machine.process_state, facts.machine.process_doubt) == ("", "")
    assert "not running" in drawn(facts)[2]


@pytest.mark.parametrize("option", ["hidepid=1", "hidepid=2", "hidepid=ptraceable"])
def test_that_a_server_behind_a_real_hidepid_is_not_known_and_never_down(option: str) -> None:
    (first, processes) = PROC[option].values()
    facts = looked(first=first, **{"ps -C": processes})
    assert facts.machine is not None
    assert (facts.machine.process_state, facts.machine.process_doubt) == ("?", HIDDEN)
    assert "not running" not in " ".join(map(str, drawn(facts)))


def test_that_a_server_is_seen_by_another_login_where_nothing_hides_it() -> None:
    (first, processes) = PROC["defaults"].values()
    facts = looked(first=first, **{"ps -C": processes})
    assert facts.machine is not None
    assert (facts.machine.process_state, facts.machine.process_doubt) == ("S", "")


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (_ENDED, "hidepid=2, or subset=pid: process 1 is not there"),
        ({"exit": 0, "stdout": "", "stderr": ""}, "a ps of busybox that lists its own"),
        ({"exit": 1, "stdout": "", "stderr": "error: /proc must be mounted\n"}, "no /proc"),
        ({"exit": 0, "stdout": "      1  1000 bash\n", "stderr": ""}, "process 1 is the login's own: a rootless box"),
        ({"exit": 127, "stdout": "", "stderr": "sh: ps: not found\n"}, "no ps"),
    ],
)
def test_that_where_others_processes_are_hidden_it_is_not_known_whether_a_server_runs(
    first: dict[str, Any], why: str
) -> None:
    facts = looked(first=first)
    assert facts.machine is not None, why
    assert (facts.machine.process_state, facts.machine.process_doubt) == ("?", HIDDEN)
    state, health, reason = drawn(facts)
    assert "not running" not in f"{state} {reason}"
    assert "cannot see processes of other users" in reason
    # The port refuses: that is bad by its own word, whoever listens or does not.
    assert health in {Health.UNKNOWN, Health.BAD}


@pytest.mark.parametrize(
    ("systemctl", "doubt", "words"),
    [
        ({"exit": 127, "stdout": "", "stderr": "sh: systemctl: not found\n"}, NO_SYSTEMD, "systemd reports nothing"),
        ({"exit": 1, "stdout": "", "stderr": "Failed to connect to bus\n"}, NO_SYSTEMD, "systemd reports nothing"),
        ({"exit": 0, "stdout": "", "stderr": ""}, NO_SYSTEMD, "systemd reports nothing"),
        (
            {"exit": 0, "stdout": "Id=mariadb.service\nLoadState=loaded\nActiveState=active\nSubState=running\n"},
            UNIT_RUNS,
            "its unit as active/running",
        ),
    ],
)
def test_that_without_systemds_word_it_is_not_known_whether_a_server_runs(
    systemctl: dict[str, Any], doubt: str, words: str
) -> None:
    facts = looked(systemctl={"stderr": "", **systemctl})
    assert facts.machine is not None
    assert (facts.machine.process_state, facts.machine.process_doubt) == ("?", doubt)
    assert words in drawn(facts)[2]


@pytest.mark.parametrize(
    ("shown", "doubt"),
    [
        ("LoadState=not-found\nActiveState=inactive\nSubState=dead\n", ""),
        ("LoadState=loaded\nActiveState=failed\nSubState=failed\n", ""),
        ("LoadState=loaded\nActiveState=activating\nSubState=auto-restart\n", ""),
        ("LoadState=loaded\nActiveState=active\nSubState=exited\n", UNIT_RUNS),  # of a SysV script: not its own word
        ("LoadState=loaded\nActiveState=reloading\nSubState=reload\n", UNIT_RUNS),
        ("LoadState=loaded\nActiveState=deactivating\nSubState=stop-sigterm\n", UNIT_RUNS),
        ("LoadState=loaded\nActiveState=from-a-later-systemd\nSubState=dead\n", UNIT_RUNS),
        ("ActiveState=inactive\nSubState=dead\n\nActiveState=active\nSubState=running\n", UNIT_RUNS),
        ("This account is currently not available.\n", NO_SYSTEMD),
        ("", NO_SYSTEMD),
    ],
)
def test_that_only_units_that_say_so_run_no_server(shown: str, doubt: str) -> None:
    assert doubt_of_units(shown) == doubt


@pytest.mark.parametrize(
    "answer",
    [
        {"exit": 1, "stdout": "This account is currently not available.\n", "stderr": ""},  # nologin(8)
        {"exit": 1, "stdout": "", "stderr": ""},  # /bin/false
        {"exit": 0, "stdout": "", "stderr": ""},  # /bin/true, rssh
        {"exit": 0, "stdout": "Only backups here\n", "stderr": ""},  # command="echo Only backups here"
        {"exit": 255, "stdout": "", "stderr": "rrsync: SSH_ORIGINAL_COMMAND is not rsync\n"},
        {"exit": 0, "stdout": "1795256302\n", "stderr": ""},  # command="date +%s"
        {"exit": 0, "stdout": " 23:14:01 up 3 days,  1 user,  load average: 0.00\n", "stderr": ""},
        {"exit": 1, "stdout": "", "stderr": "This service allows sftp connections only.\n"},
        {"exit": 0, "stdout": "backup\n", "stderr": ""},  # one word: no name of a host either
    ],
)
def test_that_a_login_whose_commands_nobody_runs_is_said_to_be_one(answer: dict[str, Any]) -> None:
    facts = looked(everything=answer)
    assert [p.code for p in facts.problems if p.part == "ssh"] == [NoCommands.code]
    assert facts.reach is not Reach.SSH_ONLY
    state, _, reason = drawn(facts)
    assert "not running" not in f"{state} {reason}"
    said = " ".join((answer["stdout"] or answer["stderr"]).split())
    sentence = next(p.sentence for p in facts.problems if p.part == "ssh")
    assert "This login cannot run commands, although SSH accepts it:" in sentence
    assert said[:30] in sentence


def test_that_a_host_without_a_kernels_files_runs_commands_all_the_same() -> None:
    lacking = Output(1, b"", b"cat: /proc/stat: No such file or directory\n")
    assert no_commands(lacking, Output(0, b"1795256302.N\n", b""), host="bsd1") is None  # date of BSD


def test_that_a_table_of_processes_is_everybodys_with_process_1_in_it_only() -> None:
    assert lists_others("    1 9999 /sbin/init\n  412 77 /usr/sbin/mariadbd\n")
    for own in ("", "  901 1 ps -e -ww\n", "   11 3 sshd: dba\n", "This account is currently not available.\n"):
        assert not lists_others(own)
    assert sees_others(Output(0, b"      1     0 systemd\n", b""))
    assert not sees_others(Output(0, b"     10     0 systemd\n      1  1001 sh\n", b""))

"""What a run put on a host for a while is removed only where it still is what the run wrote."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.operator.files import REMOVE
from services.connections.ports import Output
from services.procedures.conditions.machine.files import FileWithout
from services.procedures.engine.ports import Acted
from services.procedures.execute.acting import RealActor
from services.procedures.plan.actions import RemoveFile, Several
from services.procedures.plan.looks import Past
from tests.unit.procedures.runs.test_untouched import Hosts, Session
from tests.unit.procedures.scripted_sessions import Attempt, ScriptedHosts, out

PATH = "/etc/mysql/conf.d/99-pilothouse-donor.cnf"
WROTE = "# Pilothouse names a donor.\n[mysqld]\nwsrep_sst_donor=n1,\n"
THEIRS = "[mysqld]\nwsrep_slave_threads=8\n"
GONE = RemoveFile(PATH, WROTE)


def acted(session: Session) -> Acted:
    actor = RealActor(Hosts(session), "7", ManualClock())  # type: ignore[arg-type]
    return actor.perform("forget", "r1", Several((GONE,)), {}, limit_s=30.0)


def removed(session: Session) -> bool:
    return any(REMOVE.splitlines()[-1] in line for line in session.ran)


def test_that_a_file_as_the_run_wrote_it_is_removed_without_a_word() -> None:
    session = Session({PATH: WROTE})
    assert acted(session).output == (f"remove {PATH}", told_of_others())
    assert removed(session)
    assert session.wrote == []


def told_of_others() -> str:
    return "  (if others changed it since: only the lines of this run are removed, or it is kept and reported)"


@pytest.mark.parametrize(
    ("stands", "left"),
    [
        (f"{WROTE}wsrep_slave_threads=8\n", THEIRS),
        ("# Pilothouse names a donor.\n[mysqld]\nwsrep_slave_threads=8\nwsrep_sst_donor=n1,\n", THEIRS),
        (f"{WROTE}\n[client]\nuser=me\n", "[mysqld]\n\n[client]\nuser=me\n"),
    ],
)
def test_that_of_a_file_with_lines_of_somebody_else_only_the_runs_go_and_that_is_told(stands: str, left: str) -> None:
    session = Session({PATH: stands})
    told = acted(session)
    assert session.files[PATH] == left
    assert not removed(session)
    assert told.output[-1] == (
        f"{PATH} was changed by someone else since: only the lines of this run were removed (# Pilothouse names a "
        "donor.; wsrep_sst_donor=n1,), the rest is kept"
    )
    assert not told.stays


def test_that_a_file_that_is_somebody_elses_alone_is_kept_and_that_is_told() -> None:
    """It was removed: a colleague had named another donor there, for good."""
    session = Session({PATH: "[mysqld]\nwsrep_sst_donor=n9\n"})
    told = acted(session)
    assert session.files[PATH] == "[mysqld]\nwsrep_sst_donor=n9\n"
    assert not removed(session)
    assert "it contained none" in told.output[-1]


def test_that_lines_of_which_nobody_knows_whose_they_are_stay_and_are_named() -> None:
    session = Session({PATH: f"{WROTE}[galera]\nwsrep_sst_donor=n1,\n"})
    told = acted(session)
    assert session.wrote == []
    assert not removed(session)
    assert told.stays == (
        f"Not restored: {PATH} on r1 was changed by someone else since. It still contains lines of the run: "
        "# Pilothouse names a donor.; wsrep_sst_donor=n1,"
    )


@pytest.mark.parametrize(
    ("stands", "holds", "told"),
    [
        (out(WROTE), False, "exists on n1"),
        (out("[mysqld]\n"), True, "belongs to someone else: it contains nothing of this run and is kept"),
        (out("[mysqld]\nwsrep_sst_donor=n9\n"), True, "belongs to someone else"),
        (out(f"{WROTE}[galera]\nwsrep_sst_donor=n1,\n"), False, "Remove these lines by hand: # Pilothouse"),
        (out(code=1, errors=f"stat: cannot statx '{PATH}': No such file or directory"), True, "does not exist on n1"),
        (out(code=1, errors=f"cat: {PATH}: Permission denied"), None, "Permission denied"),
    ],
)
def test_that_the_proof_asks_for_the_runs_own_lines_and_for_no_others(
    stands: Output, holds: bool | None, told: str
) -> None:
    """It waited for a file to go that a colleague keeps: no way on and none back."""
    hosts = ScriptedHosts("n1")
    gone = b"No such file" in stands.stderr
    hosts.sessions["n1"].programs = {"stat": stands if gone else out("regular file\n"), "cat": stands}
    answer = Attempt(hosts, ManualClock()).look(FileWithout("n1", PATH, WROTE), Past({}, {}))
    assert answer.holds is holds
    assert told in answer.evidence

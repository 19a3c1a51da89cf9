"""A server that somebody ran by hand on data that a run put in place: told by its files, never passed over."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.procedures.conditions.galera.data.at_rest import PositionMark
from services.procedures.conditions.galera.data.left_alone import LeftAlone
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Past
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, ScriptedHosts, out

FOLDER, ASIDE = "/var/lib/mysql", "/var/lib/mysql.pilothouse-aside"
ALONE = LeftAlone("n1", FOLDER, ASIDE, "left-look-n1", "start-n1")
STARTS = out("Id=mariadb.service\nInactiveExitTimestamp=Sun 2026-11-22 15:08 UTC\nInvocationID=aa\n")
STATE = out(f"# GALERA saved state\nversion: 2.1\nuuid:    {UUID}\nseqno:   -1\nsafe_to_bootstrap: 0\n")
THERE = out("directory\n")
GONE = out(code=1, errors=f"stat: cannot statx '{ASIDE}': No such file or directory")


def _files(redo: str, *more: str) -> Output:
    first = f"-rw-rw---- 1 100 101 100663296 2026-11-22 {redo} +0000 ib_logfile0"
    return out("\n".join(("total 1", first, *more)) + "\n")


def _after(aside: Output = THERE, began: dict[str, float] | None = None, **changes: Output) -> Answer:
    hosts = ScriptedHosts("n1")
    programs = {"cat": STATE, "ls": _files("15:10:00.5"), "systemctl": STARTS, "stat": aside}
    hosts.sessions["n1"].programs = dict(programs)
    prover = RealProver(hosts, ManualClock())
    kept = dict(prover.look(PositionMark("n1", FOLDER, "left-look-n1"), NOTHING).kept)
    hosts.sessions["n1"].programs |= changes
    return RealProver(hosts, ManualClock()).look(ALONE, Past(kept, began or {}))


def test_that_data_nobody_touched_are_as_they_were_proven() -> None:
    assert _after().holds is True


@pytest.mark.parametrize(
    "changes",
    [
        {"ls": _files("16:00:00.1")},
        {"ls": _files("15:10:00.5", "-rw-rw---- 1 100 101 12582912 2026-11-22 16:00:00.1 +0000 ibtmp1")},
        {"systemctl": out("Id=mariadb.service\nInactiveExitTimestamp=Sun 2026-11-22 16:00 UTC\nInvocationID=bb\n")},
    ],
)
def test_that_a_server_that_ran_since_leaves_what_was_proven_not_known(changes: dict[str, Output]) -> None:
    answer = _after(**changes)
    assert (answer.holds, answer.final) == (None, True)
    assert "a server ran on n1 since" in answer.evidence
    assert "Roll back the run" in answer.evidence


def test_that_files_that_can_not_be_listed_are_not_taken_as_untouched() -> None:
    assert _after(ls=out(code=2, errors="ls: cannot open directory: Permission denied")).holds is None


def test_that_old_data_that_lie_in_place_again_are_nobodys_business() -> None:
    assert _after(aside=GONE, ls=_files("16:00:00.1")).holds is True


def test_that_the_runs_own_start_may_move_them() -> None:
    assert _after(began={"start-n1": 5.0}, ls=_files("16:00:00.1")).holds is True


def test_that_without_a_mark_nothing_is_let_through() -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs = {"stat": THERE}
    assert RealProver(hosts, ManualClock()).look(ALONE, NOTHING).holds is False

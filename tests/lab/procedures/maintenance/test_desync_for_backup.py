"""desync-for-backup on real servers: from the command line to its proof, under writes, again, and with its way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.secret_search import SecretSearch
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members


def _desync(estate: Estate, host: str) -> str:
    return estate.sql(host, "SELECT @@GLOBAL.wsrep_desync")[0][0]


def test_that_a_node_is_taken_out_of_flow_control_and_brought_back_and_no_row_is_lost(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    with SecretSearch(steer, tmp_path, steer.client_dir) as search, Writer(steer, members(steer)) as writer:
        ran = console.run("desync-for-backup", node="s3")
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        assert [s.state for s in view.steps] == [StepState.DONE] * len(view.steps)
        again = console.run("desync-for-backup", node="s3")
        assert again.code == 0, again
        assert [s.state for s in console.assert_ended(RunState.DONE).steps] == [StepState.DONE] * len(view.steps)
        writer.assert_nothing_lost()
        search.assert_none(ran.out, ran.err, again.out, again.err)
    whole.assert_as_before()


@pytest.mark.long
def test_that_while_the_backup_is_made_the_node_is_desynced_and_undo_brings_it_back(
    steer: Estate, console: Console, whole: Whole
) -> None:
    ran = console.killed_run("backup=acting", "desync-for-backup", node="s2")
    assert ran.code == KILLED, ran
    assert _desync(steer, "s2") == "1"
    assert console.open_obligations() == ("desync:s2",)
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert _desync(steer, "s2") == "0"
    steer.wait_synced(size=3)
    whole.assert_as_before()


@pytest.mark.long
def test_that_a_rehearsal_prints_every_change_and_makes_none(steer: Estate, console: Console, whole: Whole) -> None:
    before = steer.sql("s3", "SHOW GLOBAL STATUS LIKE 'Com_set_option'")
    ran = console("run", "desync-for-backup", "--input", "node=s3", "--rehearse", "--commands")
    assert ran.code == 0, ran
    assert "SET GLOBAL wsrep_desync=ON" in ran.out.replace(" = ", "="), ran
    assert _desync(steer, "s3") == "0"
    assert before
    whole.assert_as_before()

"""The positions that a run comes to know outlive it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.connections.command import Command
from services.discovery.model import PrimariesApart
from services.history.state.store import StateStore
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.journal.entries import continued, step_state, value_kept
from services.procedures.journal.journal import StoredJournal
from services.procedures.journal.kept_positions import RememberingJournal, gave_up_side, position_in
from services.procedures.plan.actions import Detached, Run, WaitFor
from services.procedures.plan.model import Plan, Risk, Step
from services.procedures.plan.run_model import StepState

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
COMMAND = Command(("true",))
RECOVER = Step("recover-n1", "n1", "Recover", Detached(COMMAND, name="r", keep="recovered-n1", pattern="x"))
TAIL = Step("tail-n1", "n1", "Read", Detached(COMMAND, name="t", keep="binlog-n1", pattern="x"))
STOPPED = (CleanPosition("n1", "/var/lib/mysql", UUID, keep="position-n1"),)
STOP = Step("stop-n1", "n1", "Stop", Run(COMMAND), proof=STOPPED)
SHORT = Plan("x", "X", "", UUID, "lab", hosts=("n1",), quorums=(("n1",),), inputs=(), steps=())
PLAN = replace(SHORT, steps=(RECOVER, TAIL, STOP))


@pytest.mark.parametrize(
    ("step", "name", "value", "found"),
    [
        ("recover-n1", "recovered-n1", f"{UUID}:5", ("n1", UUID, "recovered", 5)),
        ("recover-n1", "recovered-n1", f"{UUID}:-1", None),
        ("recover-n1", "recovered-n1", "00000000-0000-0000-0000-000000000000:5", None),
        ("recover-n1", "recovered-n2", f"{UUID}:5", None),
        ("tail-n1", "binlog-n1", "18", ("n1", UUID, "binlog", 18)),
        ("tail-n1", "binlog-n1", "none", None),
        ("stop-n1", "position-n1", "12", ("n1", UUID, "grastate", 12)),
        ("stop-n1", "frozen_at", "12", None),
        ("nowhere", "recovered-n1", f"{UUID}:5", None),
    ],
)
def test_that_a_kept_value_is_a_position_only_where_it_is_one(
    step: str, name: str, value: str, found: tuple[str, str, str, int] | None
) -> None:
    assert position_in(PLAN, step, name, value) == found


def test_that_what_a_run_recovered_is_known_after_it_and_by_whom(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "s") as store:
        journal = RememberingJournal(StoredJournal(store), store, SHORT)
        run_id = journal.new_run("x", UUID, "X")
        journal.append(run_id, *value_kept("recover-n1", "recovered-n1", f"{UUID}:4"))
        assert store.positions("n1") == ()  # no step of the plan
        journal.append(run_id, *continued("go-on", PLAN, ()))
        journal.append(run_id, *value_kept("recover-n1", "recovered-n1", f"{UUID}:275"))
        assert len(journal.entries(run_id)) == 3
        assert journal.runs() == (run_id,)
    with StateStore.open(tmp_path / "s") as store:
        (memory,) = store.positions("n1")
        assert (memory.source, memory.seqno, memory.read_by) == ("recovered", 275, f"run {run_id}")


@pytest.mark.parametrize("typed", [True, False])
def test_that_a_typed_loser_whose_sst_is_proven_settles_its_side_and_no_other_run_does(
    tmp_path: Path, typed: bool
) -> None:
    lose = Step("only-sst-n3", "n3", "Lose", Run(COMMAND), risk=Risk.IRREVERSIBLE, confirm="n3")
    came = Step("transfer-n3", "n3", "Prove", WaitFor((TransferWas("n3", "SST", "", "start-n3"),), "the log of n3"))
    plan = replace(SHORT, inputs=(("node_name", "node-3"),), steps=(lose, came) if typed else (came,))
    assert gave_up_side(plan, "transfer-n3") == ("n3" if typed else "")
    assert gave_up_side(plan, "only-sst-n3") == ""
    with StateStore.open(tmp_path / "s") as store:
        store.splits().note(PrimariesApart(UUID, "lab", 1.0, (("n1", "n2"), ("node-3",)), "both"), "watch")
        journal = RememberingJournal(StoredJournal(store), store, plan)
        run_id = journal.new_run("add-node", UUID, "Add")
        journal.append(run_id, *step_state("transfer-n3", StepState.ACTING))
        assert len(store.splits().open(UUID)) == 1
        journal.append(run_id, *step_state("transfer-n3", StepState.DONE))
        assert (store.splits().open(UUID) == ()) is typed

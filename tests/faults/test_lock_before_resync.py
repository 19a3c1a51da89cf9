"""A console is killed while its read lock is held on a donor, on scripted hosts: the lock ends before all else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES, Case
from tests.faults.scripted.cluster import SNAPSHOT
from tests.faults.scripted.running import Bench, Killed

CASE = next(case for case in CASES if case.title == "snapshot")


def held(case: Case = CASE) -> tuple[Bench, str]:
    """Return a run whose console was killed under the lock, its script still at work, and the lock's scope."""
    bench = case.bench_begun()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step snapshot acting)" in what:
            raise Killed

    bench.journal.told = told
    with pytest.raises(Killed):
        bench.run()
    bench.journal.told = None
    plan, donor = bench.engine().view.plan, bench.cluster.hosts["n1"]
    name = dict(plan.inputs)["snapshot"]
    scope = f"pilothouse-lock-{name}.scope"
    donor.units[scope] = "active"
    donor.files |= {f"/var/lib/pilothouse/snapshot-{name}": "", SNAPSHOT: "half"}
    assert donor.variables["wsrep_desync"] == "ON"
    return bench, scope


def test_that_a_snapshot_that_no_command_removes_is_told_when_the_run_is_taken_back() -> None:
    bench, _ = held(replace(CASE, inputs=tuple(one for one in CASE.inputs if one[0] != "remove")))
    assert bench.engine().undo() is RunState.UNDONE
    assert SNAPSHOT in bench.cluster.hosts["n1"].files
    said = bench.engine().view.sentence
    assert "All changes of the run were rolled back" not in said, said
    assert "This remains:" in said, said


def test_that_a_lock_that_is_held_ends_before_the_snapshot_goes_and_before_the_donor_is_back_in_flow_control() -> None:
    bench, scope = held()
    before = len(bench.cluster.log)
    assert bench.engine().undo() is RunState.UNDONE
    did = bench.cluster.log[before:]
    assert did[:2] == ["n1: undo:snapshot", "n1: undo:mark"]
    assert did.index("n1: undo:mark") < did.index("n1: undo:desync")
    donor = bench.cluster.hosts["n1"]
    assert scope not in donor.units
    assert SNAPSHOT not in donor.files
    assert "wsrep_desync" not in donor.variables


def test_that_a_watch_rule_that_releases_the_desync_alone_ends_the_lock_first() -> None:
    bench, scope = held()
    # The scripted server asserts that no lock is held when it goes back into flow control.
    assert bench.engine().release("desync:n1")
    assert scope not in bench.cluster.hosts["n1"].units


def test_that_a_lock_that_can_not_be_ended_keeps_the_snapshot_and_the_desync_as_they_are() -> None:
    bench, scope = held()
    donor = bench.cluster.hosts["n1"]
    donor.refuses = True
    assert bench.engine().undo() is RunState.UNDO_FAILED
    assert donor.units[scope] == "active"
    assert donor.variables["wsrep_desync"] == "ON"
    assert SNAPSHOT in donor.files
    donor.refuses = False
    assert bench.engine().undo() is RunState.UNDONE
    assert SNAPSHOT not in donor.files

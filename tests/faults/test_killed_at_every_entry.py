"""The console killed at every journal entry of every procedure, on scripted hosts, then resumed.

What must come out: the same end as an unbroken run, nothing done twice that must not be, nothing left switched on.
"""

from __future__ import annotations

from collections import Counter

import pytest

from services.procedures.run_model import RunState
from tests.faults.cases import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.title)
def test_that_an_unbroken_run_ends_well_on_scripted_hosts(case: Case) -> None:
    bench = case.bench()
    bench.begin()
    assert bench.run() is RunState.DONE, bench.engine().view.sentence
    view = bench.engine().view
    assert view.obligations == ()
    assert bench.hosts.armed == ()
    assert len(bench.cluster.primaries()) == len(view.plan.quorum)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.title)
def test_that_a_run_killed_at_any_entry_and_resumed_ends_as_an_unbroken_one_on_scripted_hosts(
    case: Case, before: bool
) -> None:
    unbroken = case.bench()
    unbroken.begin()
    unbroken.run()
    wanted, log = unbroken.cluster.state(), Counter(unbroken.cluster.log)
    entries = len(unbroken.journal.entries(unbroken.run_id))
    once = {f"{s.host}: {s.step_id}" for s in unbroken.engine().view.plan.steps if not s.repeatable}
    for number in range(3, entries + 1):
        bench = case.bench()
        bench.begin()
        killed = bench.run_killed_at(number, before=before)
        state = bench.run()
        assert state is RunState.DONE, f"killed at {number} ({killed}): {state}: {bench.engine().view.sentence}"
        assert bench.engine().view.obligations == ()
        assert bench.cluster.state() == wanted, f"killed at {number}"
        twice = [line for line, count in Counter(bench.cluster.log).items() if count > log[line] and line in once]
        assert twice == [], f"killed at {number}"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.title)
def test_that_a_run_killed_at_any_entry_can_be_taken_back_and_leaves_nothing_on_scripted_hosts(case: Case) -> None:
    unbroken = case.bench()
    unbroken.begin()
    unbroken.run()
    entries = len(unbroken.journal.entries(unbroken.run_id))
    for number in range(3, entries):
        bench = case.bench()
        untouched = bench.cluster.state()
        bench.begin()
        if not bench.run_killed_at(number, before=False) or bench.engine().view.state is RunState.DONE:
            continue
        state = bench.engine().undo()
        view = bench.engine().view
        assert state is RunState.UNDONE, f"killed at {number}: {view.sentence}"
        assert view.obligations == ()
        if case.name != "bootstrap-after-crash":
            assert bench.cluster.state() == untouched, f"killed at {number}"

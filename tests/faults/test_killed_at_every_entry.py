"""The console killed at every journal entry of every procedure, on scripted hosts, then resumed or taken back.

A kill is what it leaves: the journal and the hosts as they were just before and just after each entry, and between the
parts of an act that has several. What must come out: the same end as an unbroken run, nothing done twice that must not
be, nothing left switched on; and after an undo the hosts as they were.

Each run of the tests takes a sample of the kills (spread.py): of every case the first and the last, those around its
point of no return, and one with each kind of action under way; of a procedure's own case one behind each kind of entry
as well. `test everything` kills every run, and every undo, at each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import pytest

from services.errors import Refused
from services.procedures.engine.engine import Engine
from services.procedures.plan.model import Risk
from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES, Case
from tests.faults.scripted.cluster import copied
from tests.faults.scripted.running import Bench, Moment
from tests.faults.spread import IN_PARTS, Part, action_of, of_kills

_BY_TITLE = pytest.mark.parametrize("case", CASES, ids=lambda c: c.title, scope="module")
"""Of a module's scope: a case's tests follow each other, and its unbroken run is kept for no longer than that."""

_LONG = pytest.mark.timeout(1_200)
"""Such a case takes half a minute of a processor: many times that on a slow machine that does other work too."""

_Unbroken = tuple[Bench, tuple[Moment, ...]]


@pytest.fixture
def unbroken(case: Case) -> Iterator[_Unbroken]:
    """Return a case's unbroken run: its tests only read it, which is looked at behind each of them."""
    bench, moments, known = _run_unbroken(case)
    yield bench, moments
    assert _read(bench, moments) == known, "the test changed the unbroken run"


@lru_cache(maxsize=1)
def _run_unbroken(case: Case) -> tuple[Bench, tuple[Moment, ...], tuple[object, ...]]:
    """Run a case; return that with a copy of what is read of it. No fixture: what it logs is its first test's."""
    bench = case.bench()
    bench.begin()
    moments = bench.moments(bench.run)
    return bench, moments, copied(_read(bench, moments))


def _read(bench: Bench, moments: tuple[Moment, ...]) -> tuple[object, ...]:
    """Return what the tests read of an unbroken run; the moments' entries are the first of its own."""
    clusters = [moment.cluster for moment in moments]
    return bench.journal.entries(bench.run_id), bench.cluster, bench.inputs, bench.confirmed, clusters


@_BY_TITLE
def test_that_an_unbroken_run_ends_well_on_scripted_hosts(case: Case, unbroken: _Unbroken) -> None:
    bench, moments = unbroken
    view = bench.engine().view
    assert view.state is RunState.DONE, view.sentence
    assert len(moments) >= len(bench.journal.entries(bench.run_id)) - 2
    assert view.obligations == ()
    assert bench.hosts.armed == ()
    assert len(bench.cluster.primaries()) == len(view.plan.voters)


@_BY_TITLE
def test_that_the_sample_kills_in_each_kind_of_action_and_around_the_point_of_no_return(
    case: Case, unbroken: _Unbroken
) -> None:
    whole, moments = unbroken
    plan = whole.engine().view.plan
    sample = of_kills(case, plan, moments)
    assert {0, len(moments) - 1} <= sample
    assert {action_of(moments[at], plan) for at in sample} >= {action_of(moment, plan) for moment in moments}
    if any(step.no_return for step in plan.steps):
        passed = {at: bool(whole.after_kill(moments[at]).engine().view.no_return) for at in sample}
        assert any(not passed[at] and passed.get(at + 1) for at in sample)


@_BY_TITLE
@IN_PARTS
@_LONG
def test_that_a_run_killed_at_any_entry_and_resumed_ends_as_an_unbroken_one_on_scripted_hosts(
    case: Case, unbroken: _Unbroken, part: Part
) -> None:
    whole, moments = unbroken
    wanted, log = whole.cluster.state(), Counter(whole.cluster.log)
    once = {f"{s.host}: {s.step_id}" for s in whole.engine().view.plan.steps if not s.repeatable}
    for moment in _of(part, case, whole, moments):
        bench = whole.after_kill(moment)
        state = bench.run()
        assert state is RunState.DONE, f"killed {moment.name}: {state}: {bench.engine().view.sentence}"
        assert bench.engine().view.obligations == (), f"killed {moment.name}"
        assert bench.cluster.state() == wanted, f"killed {moment.name}"
        twice = [line for line, count in Counter(bench.cluster.log).items() if count > log[line] and line in once]
        assert twice == [], f"killed {moment.name}"


def _of(part: Part, case: Case, bench: Bench, moments: tuple[Moment, ...]) -> Iterator[Moment]:
    sample = of_kills(case, bench.engine().view.plan, moments)
    return (moment for place, moment in enumerate(moments) if part.has(place, sample))


@_BY_TITLE
@IN_PARTS
@_LONG
def test_that_a_run_killed_at_any_entry_can_be_taken_back_and_leaves_nothing_on_scripted_hosts(
    case: Case, unbroken: _Unbroken, part: Part
) -> None:
    untouched = case.bench().cluster.state()
    whole, moments = unbroken
    for moment in _of(part, case, whole, moments[:-1]):
        bench = whole.after_kill(moment)
        bench.confirmed |= case.accepts
        engine = bench.engine()
        if engine.view.state not in {RunState.DONE, RunState.NOT_STARTED}:
            _take_back(case, bench, engine, moment.name, untouched)


@_BY_TITLE
@IN_PARTS
@_LONG
def test_that_an_undo_killed_at_any_entry_is_gone_through_with_by_the_next_console_on_scripted_hosts(
    case: Case, unbroken: _Unbroken, part: Part
) -> None:
    untouched = case.bench().cluster.state()
    whole, moments = unbroken
    views = ((m, whole.after_kill(m).engine().view) for m in reversed(moments))
    last = next(m for m, view in views if view.state is RunState.RUNNING and not view.no_return)
    undoing = whole.after_kill(last)
    undoing.confirmed |= case.accepts
    back = undoing.moments(lambda: undoing.engine().undo())[:-1]
    for moment in _of(part, case, whole, back):
        bench = undoing.after_kill(moment)
        bench.confirmed |= case.accepts
        engine = bench.engine()
        if engine.view.state is not RunState.UNDONE:
            _take_back(case, bench, engine, moment.name, untouched)


def _take_back(case: Case, bench: Bench, engine: Engine, killed: str, untouched: dict[str, object]) -> None:
    """Take the run back by the console that was started behind the kill, and look at it with another one."""
    if engine.view.no_return:
        _goes_forward_only(bench, killed)
        return
    state = engine.undo()
    view = bench.engine().view
    assert state is RunState.UNDONE, f"killed {killed}: {view.sentence}"
    assert view.obligations == (), f"killed {killed}"
    final = [s.step for s in view.steps if s.step.risk is Risk.IRREVERSIBLE and s.step.undo is None]
    if bench.cluster.state() != untouched and not (case.marks and bench.cluster.only_marked(untouched)):
        assert final, f"killed {killed}"
        assert all(step.title in view.sentence or step.done in view.sentence for step in final), view.sentence
    if case.name == "bootstrap-after-crash":
        assert bench.cluster.kept_rows(), f"killed {killed}"


def _goes_forward_only(bench: Bench, killed: str) -> None:
    """Past its point of no return nothing of a run is taken back: it is refused, and the run can still go on."""
    before = bench.cluster.state()
    with pytest.raises(Refused, match="point of no return"):
        bench.engine().undo()
    assert bench.cluster.state() == before, f"killed {killed}"
    assert bench.run() is RunState.DONE, f"killed {killed}"


@_BY_TITLE
@pytest.mark.parametrize("entries", [pytest.param(8, marks=pytest.mark.long), 13])
def test_that_consoles_which_all_die_after_a_few_entries_still_come_to_the_end_on_scripted_hosts(
    case: Case, unbroken: _Unbroken, entries: int
) -> None:
    whole, _ = unbroken
    bench = case.bench()
    bench.begin()
    for _ in range(200):
        known = len(bench.journal.entries(bench.run_id))
        if not bench.run_killed_at(known + entries, before=False):
            break
    view = bench.engine().view
    assert view.state is RunState.DONE, view.sentence
    assert bench.cluster.state() == whole.cluster.state()

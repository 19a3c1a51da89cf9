"""A console killed while long work runs, and the run taken back at once: the work is ended before anything is moved."""

from __future__ import annotations

import pytest

from services.procedures.plan.actions import Detached
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES, Case
from tests.faults.scripted.running import Bench


def _works(case: Case) -> tuple[Step, ...]:
    return tuple(step for step in case.bench().plan()[1].steps if isinstance(step.action, Detached))


WORKING = tuple(
    pytest.param(case, step, id=f"{case.title}: {step.step_id}")
    for case in CASES
    if case.name != "bootstrap-after-crash"  # its work only starts a server, and is over by then
    for step in _works(case)
)


def _killed_at_work(case: Case, step: Step) -> Bench:
    """Return a bench whose console died right after it had begun the work: it goes on."""
    unbroken = case.bench_begun()
    moments = unbroken.moments(unbroken.run)
    began = next(m for m in moments if m.name.startswith("after") and f"(step {step.step_id} acting)" in m.name)
    bench = unbroken.after_kill(began)
    assert isinstance(step.action, Detached)
    bench.cluster.hosts[step.host].at_work[step.action.name] = list(step.action.command.argv)
    return bench


@pytest.mark.parametrize(("case", "step"), WORKING)
def test_that_an_undo_ends_the_job_that_goes_on_before_it_moves_anything_on_scripted_hosts(
    case: Case, step: Step
) -> None:
    untouched = case.bench().cluster.state()
    bench = _killed_at_work(case, step)
    bench.confirmed |= case.accepts
    state = bench.engine().undo()
    assert state is RunState.UNDONE, bench.engine().view.sentence
    assert bench.cluster.hosts[step.host].at_work == {}
    ended = [e for e in bench.journal.entries(bench.run_id) if (e.data or {}).get("about") == "work-ended"]
    assert [e.step_id for e in ended] == [step.step_id]
    bench.actor.go_on()
    assert bench.cluster.state() == untouched


@pytest.mark.parametrize(("case", "step"), WORKING)
def test_that_an_undo_moves_nothing_where_the_job_can_not_be_asked_for_on_scripted_hosts(
    case: Case, step: Step
) -> None:
    bench = _killed_at_work(case, step)
    bench.confirmed |= case.accepts
    host = bench.cluster.hosts[step.host]
    host.refuses = True
    before = bench.cluster.state()[step.host]
    assert bench.engine().undo() is RunState.UNDO_FAILED
    assert bench.cluster.state()[step.host] == before  # what was on elsewhere is let go all the same
    assert host.at_work
    assert step.title in bench.engine().view.sentence
    host.refuses = False
    assert bench.engine().undo() is RunState.UNDONE
    assert host.at_work == {}


@pytest.mark.parametrize(("case", "step"), WORKING)
def test_that_a_run_left_as_it_is_leaves_no_job_behind_or_says_which_and_where_on_scripted_hosts(
    case: Case, step: Step
) -> None:
    for answers in (True, False):
        bench = _killed_at_work(case, step)
        host = bench.cluster.hosts[step.host]
        host.refuses = not answers
        assert bench.engine().leave("enough") is RunState.LEFT
        told = f"whether this still runs on {step.host}: {step.title}" in bench.engine().view.sentence
        assert (bool(host.at_work), told) == (not answers, not answers)


@pytest.mark.parametrize(("case", "step"), WORKING)
def test_that_a_run_gone_on_with_attends_to_the_job_that_goes_on_on_scripted_hosts(case: Case, step: Step) -> None:
    unbroken = case.bench_begun()
    unbroken.run()
    bench = _killed_at_work(case, step)
    assert bench.run() is RunState.DONE, bench.engine().view.sentence
    assert bench.cluster.state() == unbroken.cluster.state()


@pytest.mark.parametrize("case", [c for c in CASES if c.name == "snapshot-node"], ids=lambda c: c.title)
def test_that_leaving_a_run_ends_the_scope_of_an_operators_command_on_scripted_hosts(case: Case) -> None:
    """The scope outlives the work that began it: with that alone ended, the command would go on in the data folder."""
    step = next(step for step in _works(case) if step.step_id.startswith("bring-"))
    bench = _killed_at_work(case, step)
    assert isinstance(step.action, Detached)
    scope = next(word for word in step.action.command.argv if word.startswith("--unit=")).partition("=")[2]
    bench.cluster.hosts[step.host].units[scope] = "active"
    assert bench.engine().leave("enough") is RunState.LEFT
    assert scope not in bench.cluster.hosts[step.host].units
    on = {o.obligation.key for o in bench.engine().view.obligations}
    assert on == {f"hold:{step.host}", f"held-out:{step.host}"}

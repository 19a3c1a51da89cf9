"""What others change between a step and the end of its run is found, on scripted hosts: it is not told as done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.plan.actions import WaitFor
from services.procedures.plan.last_look import last_look_is_taken
from services.procedures.plan.run_model import RunState, StepState
from tests.faults.breaking_runs import BROKEN_CASES
from tests.faults.cases import CASES, Case
from tests.faults.scripted.config_servers import SERVERS, derived
from tests.faults.scripted.names import CAME_MONGOS, CAME_SHARD
from tests.faults.scripted.running import Bench

_OLD = ",".join(f"{name}:27019" for name in SERVERS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_that_every_procedure_ends_with_a_look_at_whatever_others_may_have_changed_on_scripted_hosts(
    case: Case,
) -> None:
    _, plan = case.bench().plan()
    assert tuple(last_look_is_taken(plan)) == ()
    for number in range(1, len(plan.steps)):
        cut = replace(plan, steps=plan.steps[:number])
        proven = [one for step in cut.steps if step.takes is None for one in step.proof if one.declared().stands]
        ends = isinstance(cut.steps[-1].action, WaitFor)
        assert ends or not proven or tuple(last_look_is_taken(cut)), "a plan that is cut short is found out"


def _titled(title: str) -> Case:
    return next(case for case in BROKEN_CASES if case.title == title)


@pytest.mark.parametrize("behind", ["r2:catalog-converted", "c2:retired"])
def test_that_a_mongos_that_is_restarted_with_the_old_string_keeps_the_old_servers_from_being_retired(
    behind: str,
) -> None:
    bench = _titled("config servers").bench_begun()
    used = {}

    def told(when: str, what: str) -> None:
        if when == "after" and f"(step {behind} done)" in what:
            used.update(bench.cluster.hosts["r1"].variables)
            bench.cluster.hosts["r1"].variables["string"] = _OLD
            derived(bench.cluster)

    bench.journal.told = told
    assert bench.run() is RunState.FAILED
    bench.journal.told = None
    view = bench.engine().view
    failed = next(one for one in view.steps if one.state is StepState.FAILED)
    assert failed.step.step_id == ("c2:retired" if behind.startswith("r2") else "c3:retired")
    assert "start" in failed.error
    assert bench.cluster.hosts[failed.step.host].running or failed.step.host == "c3"
    bench.cluster.hosts["r1"].variables.update(used)
    derived(bench.cluster)
    bench.person.answers["failed"] = "again"
    assert bench.run() is RunState.DONE, bench.engine().view.sentence


@pytest.mark.parametrize("came", [CAME_SHARD, CAME_MONGOS])
@pytest.mark.parametrize(("behind", "at"), [("shards", "c2:retired"), ("c2:retired", "c3:retired")])
def test_that_a_shard_or_a_mongos_that_is_added_beside_keeps_the_old_servers_from_being_retired(
    came: str, behind: str, at: str
) -> None:
    bench = _titled("config servers").bench_begun()

    def told(when: str, what: str) -> None:
        if when == "after" and f"(step {behind} done)" in what:
            bench.cluster.replica_set[came] = 1

    bench.journal.told = told
    assert bench.run() is RunState.FAILED
    bench.journal.told = None
    failed = next(one for one in bench.engine().view.steps if one.state is StepState.FAILED)
    assert failed.step.step_id == at
    assert bench.cluster.hosts[failed.step.host].running or at == "c3:retired"  # its copy was made of it: it is down
    del bench.cluster.replica_set[came]
    bench.person.answers["failed"] = "again"
    assert bench.run() is RunState.DONE, bench.engine().view.sentence


def _comes(bench: Bench, came: str, behind: str) -> None:
    """Somebody adds a shard, or starts a mongos, behind a step."""

    def told(when: str, what: str) -> None:
        if when == "after" and f"(step {behind} done)" in what:
            bench.cluster.replica_set[came] = 1

    bench.journal.told = told


@pytest.mark.parametrize(
    ("title", "behind", "at"),
    [
        ("config servers", "n1:up", "c3:down"),
        ("config servers", "c3:down", "c1:converted"),
        ("config servers, in a window", "rests-before", "r1:down"),
        ("config servers, in a window", "noted", "c1:down"),
    ],
)
def test_that_a_shard_that_is_added_before_the_point_of_no_return_ends_the_run_at_once_with_all_as_it_was(
    title: str, behind: str, at: str
) -> None:
    """No check has seen it, and no step is for it: waiting helps as little as going on."""
    bench = _titled(title).bench_begun()
    _comes(bench, CAME_SHARD, behind)
    waited_from = bench.clock.monotonic()
    assert bench.run() is RunState.UNDONE
    view = bench.engine().view
    failed = next(one for one in view.steps if "no shard outside the plan" in one.error)
    assert failed.step.step_id == at
    assert not view.no_return
    assert bench.clock.monotonic() - waited_from < failed.step.limit_s, "nobody waits for it to go"
    assert all(bench.cluster.hosts[name].running for name in (*SERVERS, "r1", "r2"))


@pytest.mark.parametrize("came", [CAME_SHARD, CAME_MONGOS])
@pytest.mark.parametrize("title", ["config servers", "config servers, in a window"])
def test_that_a_shard_or_a_mongos_that_comes_past_the_point_is_asked_about_and_the_run_goes_on_by_a_word(
    title: str, came: str
) -> None:
    """The run can't be planned anew by then, and has no way to what came."""
    bench = _titled(title).bench_begun()
    _comes(bench, came, "r2:catalog-converted")
    assert bench.run() is RunState.WAITING
    bench.journal.told = None
    view = bench.engine().view
    assert view.question is not None
    assert view.question.step_id == "others"
    assert "Continue only once each of them uses cfg/" in view.question.ask.question
    assert bench.cluster.hosts["c2"].running, "nothing is retired before the word"
    said = ["no", "yes"]
    bench.does = lambda *_: None  # somebody sits there
    bench.person.does = lambda _: said.pop(0)
    bench.person.answers["failed"] = "again"
    assert bench.run() is RunState.DONE, bench.engine().view.sentence
    assert said == [], "a 'no' leads back to the question"


def test_that_what_somebody_changed_in_the_end_is_told_and_takes_nothing_finished_back() -> None:
    bench = _titled("rolling option").bench_begun()

    def told(when: str, what: str) -> None:
        if when == "after" and "(step n3:accept-n3 done)" in what:
            bench.cluster.hosts["n1"].variables["max_connections"] = "151"

    bench.journal.told = told
    assert bench.run() is RunState.FAILED
    bench.journal.told = None
    view = bench.engine().view
    assert view.steps[-1].state is StepState.FAILED
    assert {one.state for one in view.steps[:-1]} <= {StepState.DONE, StepState.ALREADY}
    bench.cluster.hosts["n1"].variables["max_connections"] = "321"
    bench.person.answers["failed"] = "again"
    assert bench.run() is RunState.DONE, bench.engine().view.sentence

"""What the time axis is told of a run, and which procedures fit a node. Pure: no window."""

from __future__ import annotations

from dataclasses import replace

from services.facts.model import Problem
from services.procedures.catalogue import all_procedures
from services.procedures.plan.model import Breach
from services.procedures.plan.run_model import Broken, RunState, StepState
from services.procedures.service.offers import first_find_out, fitting, login_refused, situations
from services.procedures.service.run_events import run_events
from services.types import Health
from tests.widgets import builders as b
from tests.widgets import builders_procedures as p

ABOUTS = tuple(procedure.about for procedure in all_procedures())


def test_that_beginning_changing_steps_and_end_are_told_once_each() -> None:
    run = p.run(11, RunState.DONE, ended=p.NOW)
    events = tuple(run_events(run))
    assert [e.kind for e in events] == ["run", *["step"] * (len(events) - 2), "run"]
    assert len({e.key for e in events}) == len(events)
    assert not any("Prove the capability" in e.text for e in events)  # it only reads
    assert tuple(run_events(replace(run, journal_at=p.NOW + 9.0))) == events


def test_that_a_failed_step_is_told_with_its_reason_and_the_run_has_no_end_yet() -> None:
    events = tuple(run_events(p.failed()))
    assert events[-1].kind == "step"
    assert events[-1].health is Health.BAD
    assert "could not connect to db1 on port 4568" in events[-1].text


def test_that_a_watch_rule_that_broke_is_told_and_that_it_holds_again() -> None:
    run = p.run(11, RunState.WAITING)
    broken = Broken(p.NOW - 9.0, "QUORUM", "One is no full member.", "1 of 3", Breach.PAUSE)
    before = {event.key for event in run_events(run)}
    (told,) = [e for e in run_events(replace(run, broken=(broken,))) if e.key not in before]
    assert (told.at, told.health) == (p.NOW - 9.0, Health.WARN)
    assert "QUORUM: One is no full member. (1 of 3)" in told.text
    mended = replace(broken, over=p.NOW - 2.0, holds="3 of 3")
    (again,) = [e for e in run_events(replace(run, broken=(mended,))) if e.key not in {*before, told.key}]
    assert (again.at, again.health) == (p.NOW - 2.0, Health.GOOD)
    assert again.text.endswith("holds again: 3 of 3")


def test_that_a_run_that_never_began_is_not_told() -> None:
    assert tuple(run_events(p.run(0, RunState.NOT_STARTED, started=None))) == ()


def test_that_a_step_that_was_already_so_is_not_told() -> None:
    run = p.run(3)
    steps = tuple(replace(step, state=StepState.ALREADY) if i == 1 else step for i, step in enumerate(run.steps))
    assert len(tuple(run_events(replace(run, steps=steps)))) == len(tuple(run_events(run))) - 1


def names(cluster: object, host: str) -> set[str]:
    node = next(n for n in cluster.nodes if n.name == host)  # type: ignore[attr-defined]
    return {about.name for about in fitting(ABOUTS, cluster, node)}  # type: ignore[arg-type]


def test_that_a_synced_node_is_offered_what_takes_it_away_for_a_while() -> None:
    assert names(b.healthy(), "db2") == p.OF_MEMBERS


def test_that_a_node_that_is_down_beside_a_primary_is_offered_its_return_and_no_bootstrap() -> None:
    cluster = b.killed()
    down = next(n for n in cluster.nodes if "down" in situations(cluster, n))
    assert names(cluster, down.name) == p.OF_LOST


def test_that_without_a_primary_component_the_bootstrap_is_offered() -> None:
    cluster = b.no_primary()
    assert "bootstrap-after-crash" in names(cluster, cluster.nodes[0].name)
    assert first_find_out(cluster) == ""


def test_that_a_member_whose_login_is_refused_is_not_offered_to_be_brought_back() -> None:
    cluster = b.killed()
    down = next(n for n in cluster.nodes if "down" in situations(cluster, n))
    assert down.facts is not None
    assert down.facts.machine is not None
    refused = (Problem("sql", "Access denied.", "auth-failed"),)
    runs = replace(down.facts.machine, process_state="S")
    node = replace(down, facts=replace(down.facts, machine=runs, problems=refused))
    assert login_refused(node)
    assert situations(cluster, node) == frozenset()
    gone = replace(node, facts=replace(down.facts, machine=replace(runs, process_state=""), problems=refused))
    assert situations(cluster, gone) == {"down"}, "its host says that no server runs"


def test_that_a_silent_member_is_to_be_found_out_about_before_a_start_from_nothing() -> None:
    cluster = replace(b.no_primary(), silent=("db3",))
    assert "bootstrap-after-crash" in names(cluster, cluster.nodes[0].name)
    assert first_find_out(cluster) == "First check db3"
    assert first_find_out(replace(b.killed(), silent=("db2",))) == ""


def test_that_an_asynchronous_server_is_offered_nothing_of_galera() -> None:
    cluster = b.ring()
    assert names(cluster, cluster.nodes[0].name) == set()

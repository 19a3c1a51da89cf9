"""What somebody set on a node before a run that restarts it: seen in the plan, and left as it was found."""

from __future__ import annotations

import pytest

from services.procedures.catalogue import procedure_named
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import RunState
from tests.faults.scripted.cluster import Cluster, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.running import Bench

REJECT, DONOR = "wsrep_reject_queries", "wsrep_sst_donor"
ROLLING = {"nodes": "n2", "pause": "1 s"}


def drained(**also: str) -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.hosts["n2"].variables.update({REJECT: "ALL", **also})
    return cluster


def bench_of(cluster: Cluster, name: str = "rolling-restart", **inputs: str) -> Bench:
    given = {**ROLLING, **inputs} if name == "rolling-restart" else inputs
    bench = Bench(cluster, name, given)
    bench.begin()
    return bench


def planned(cluster: Cluster, **inputs: str) -> tuple[Check, Plan]:
    procedure, seen = procedure_named("rolling-restart"), facts_of(cluster)
    plan, checks = procedure.plan(seen, {**ROLLING, **inputs}), procedure.preflight(seen, {**ROLLING, **inputs})
    assert violations(plan) == ()
    return next(check for check in checks if check.code == "DRAINED-BEFORE"), plan


def test_that_a_node_drained_before_is_told_and_no_obligation_of_ours_is_taken() -> None:
    check, plan = planned(drained())
    assert check.verdict is Verdict.WARN
    assert check.evidence == "n2: wsrep_reject_queries = ALL, it refuses clients again after its restart"
    assert [(one.field, one.values) for one in check.answers] == [("drained", ("serve",))]
    ids = [step.step_id for step in plan.steps]
    assert "n2:reject-n2" not in ids
    assert "n2:accept-n2" not in ids
    assert ids.index("n2:refuse-again-n2") == ids.index("n2:start-n2") + 1
    assert not any(step.takes and step.takes.key == "reject:n2" for step in plan.steps)
    assert "serves clients after its restart" in planned(drained(), drained="serve")[0].evidence


def test_that_nothing_is_asked_or_told_where_nobody_drained_a_node() -> None:
    check, plan = planned(whole("n1", "n2", "n3"))
    assert check.verdict is Verdict.PASS
    assert not any("refuse" in step.step_id for step in plan.steps)
    fields = procedure_named("rolling-restart").fields(facts_of(whole("n1", "n2", "n3")), {})
    assert "drained" not in {field.name for field in fields}


@pytest.mark.parametrize("drain", ["server", "person", "none"])
@pytest.mark.parametrize(("drained_", "mode"), [("keep", "ALL"), ("serve", None)])
def test_that_a_drained_node_is_left_as_found_or_serves_as_the_person_chose(
    drain: str, drained_: str, mode: str | None
) -> None:
    bench = bench_of(drained(), drain=drain, drained=drained_, option="max_connections", value="321")
    assert bench.run() is RunState.DONE
    assert bench.cluster.hosts["n2"].variables.get(REJECT) == mode
    assert bench.engine().view.obligations == ()


@pytest.mark.parametrize("drained_", ["keep", "serve"])
def test_that_a_run_taken_back_leaves_a_drained_node_and_its_donor_as_they_were_found(drained_: str) -> None:
    cluster = drained(**{DONOR: "n1,"})
    bench = bench_of(cluster, drained=drained_, option="max_connections", value="321")
    told = bench.moments(bench.run)
    moments = [
        one for one in told if any(f"(step n2:{at} acting)" in one.name for at in ("drain-n2", "settle-n2", "whole"))
    ]
    assert len(moments) >= 3
    for moment in moments:
        again = bench.after_kill(moment)
        assert again.engine().undo() is RunState.UNDONE
        assert again.cluster.hosts["n2"].variables == {REJECT: "ALL", DONOR: "n1,"}, moment.name


def test_that_a_node_drained_between_the_plan_and_its_turn_is_not_taken_over() -> None:
    bench = bench_of(whole("n1", "n2", "n3"))
    bench.on_failure = "ask"
    bench.cluster.hosts["n2"].variables[REJECT] = "ALL"
    assert bench.run() is RunState.FAILED
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.cluster.hosts["n2"].variables == {REJECT: "ALL"}


def test_that_a_node_that_a_freeze_keeps_a_cache_for_is_left_as_found_too() -> None:
    bench = bench_of(drained(), "freeze-gcache", node="n2", donor="n1")
    assert bench.run() is RunState.DONE
    assert bench.cluster.hosts["n2"].variables == {REJECT: "ALL"}

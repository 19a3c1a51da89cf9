"""The donor that a run names: on every way out a server asks again whom it asked before. On scripted hosts."""

from __future__ import annotations

import pytest

from services.procedures.catalogue import procedure_named
from services.procedures.conditions.machine.files import FileWithout
from services.procedures.conditions.server.set_back import SetBack
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import RunState, StepState
from tests.faults.scripted.cluster import Cluster, whole
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.running import Bench

DONOR = "wsrep_sst_donor"
ROLLING = {"nodes": "n2", "pause": "1 s"}


def bench_of(cluster: Cluster | None = None, **inputs: str) -> Bench:
    bench = Bench(cluster or whole("n1", "n2", "n3"), "rolling-restart", {**ROLLING, **inputs})
    bench.on_failure = "ask"
    bench.begin()
    return bench


def broken_at(bench: Bench, step: str) -> Bench:
    """The next console, after this one was killed just when the step began."""
    told = next(m for m in bench.moments(bench.run) if f"(step {step} acting)" in m.name and m.name.startswith("after"))
    return bench.after_kill(told)


def named_still(bench: Bench) -> bool:
    return any(one.obligation.key == "donor:n2" for one in bench.engine().view.obligations)


def donor_now(bench: Bench, host: str = "n2") -> str:
    return bench.cluster.hosts[host].variables.get(DONOR, "")


@pytest.mark.parametrize("step", ["n2:drain-n2", "n2:stop-n2", "n2:start-n2", "n2:transfer-n2"])
@pytest.mark.parametrize("found", ["", "n1"])
def test_that_an_undo_has_the_server_ask_whom_it_asked_before_the_run(step: str, found: str) -> None:
    cluster = whole("n1", "n2", "n3")
    if found:
        cluster.hosts["n2"].variables[DONOR] = found
    again = broken_at(bench_of(cluster), step)
    assert again.engine().undo() is RunState.UNDONE
    assert again.cluster.hosts["n2"].running
    assert donor_now(again) == found
    named = next(s for s in again.engine().view.steps if s.step.step_id == "n2:name-donor-n2")
    assert named.state is StepState.UNDONE


def test_that_a_release_alone_sets_the_running_server_back_too() -> None:
    again = broken_at(bench_of(), "n2:transfer-n2")
    assert donor_now(again) == "n3,"
    again.engine().release()
    assert donor_now(again) == ""
    assert not named_still(again)


def test_that_the_name_is_gone_with_its_file_where_no_server_runs() -> None:
    again = broken_at(bench_of(), "n2:start-n2")
    host = again.cluster.hosts["n2"]
    again.cluster.stop(host)
    again.engine().release()
    assert not named_still(again)
    assert not any(DONOR in text for text in host.files.values())


def test_that_what_somebody_set_meanwhile_is_left_alone() -> None:
    again = broken_at(bench_of(), "n2:transfer-n2")
    again.cluster.hosts["n2"].variables[DONOR] = "n1,n3"
    assert again.engine().undo() is RunState.UNDONE
    assert donor_now(again) == "n1,n3"


def test_that_a_server_which_somebody_restarted_with_the_file_is_set_back() -> None:
    again = broken_at(bench_of(), "n2:stop-n2")
    host = again.cluster.hosts["n2"]
    again.cluster.stop(host)
    again.cluster.start(host)
    assert donor_now(again) == "n3,"
    assert again.engine().undo() is RunState.UNDONE
    assert donor_now(again) == ""


def test_that_a_donor_set_between_the_plan_and_its_turn_stops_the_run_before_it_writes_the_name() -> None:
    bench = bench_of()
    bench.cluster.hosts["n2"].variables[DONOR] = "n1"
    assert bench.run() is RunState.FAILED
    assert "n2: n2:name-donor-n2" not in bench.cluster.log
    assert bench.engine().undo() is RunState.UNDONE
    assert donor_now(bench) == "n1"


def planned(name: str, cluster: Cluster, inputs: dict[str, str]) -> Plan:
    return procedure_named(name).plan(facts_of(cluster), inputs)


@pytest.mark.parametrize(("name", "inputs"), [("rolling-restart", ROLLING), ("freeze-gcache", {"node": "n2"})])
def test_that_a_plan_names_what_the_server_ran_with_and_reads_it_again_before_it_acts(
    name: str, inputs: dict[str, str]
) -> None:
    cluster = whole("n1", "n2", "n3")
    cluster.hosts["n2"].variables[DONOR] = "n1"
    plan = planned(name, cluster, {**inputs, "donor": "n3"} if "node" in inputs else inputs)
    step = next(s for s in plan.steps if s.step_id.endswith("name-donor-n2"))
    assert step.before == (VariableIs("n2", DONOR, "n1"),)
    assert step.undo is not None
    assert [type(one) for one in step.undo.proof] == [FileWithout, SetBack]
    assert step.undo.proof[1] == SetBack("n2", DONOR, "n3,", "n1")
    assert step.takes is not None
    assert step.takes.release_proof == step.undo.proof

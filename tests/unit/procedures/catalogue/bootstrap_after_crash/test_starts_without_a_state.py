"""A server whose state is gone is never started into an SST that nobody accepted. On scripted hosts."""

from __future__ import annotations

import pytest

from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.bootstrap_after_crash.joining import bootstrap_and_join
from services.procedures.catalogue.galera.bootstrap_after_crash.party import party
from services.procedures.conditions.galera.data.state_named import StateNamed
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.plan.actions import Ask
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES, Case
from tests.faults.scripted.cluster import ZERO, whole
from tests.faults.scripted.running import Bench
from tests.unit.procedures.facts_of_three import NAMES, UUID, down, facts
from tests.unit.procedures.host_of import changed


def left_by_the_run(step: Step) -> bool:
    """Whether the run stopped the node before: then its history holds though its state is gone.

    Not where the run itself took the state away, so that nothing but an SST can come: that was asked for by name.
    """
    return any(isinstance(one, SameHistory) and one.stopped_at is not None and not one.by_sst for one in step.before)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.title)
def test_that_every_start_of_a_node_that_a_run_stopped_reads_whether_its_state_is_still_named(case: Case) -> None:
    bench = case.bench_begun()
    bench.run()
    for step in bench.engine().view.plan.steps:
        if left_by_the_run(step):
            assert any(isinstance(one, StateNamed) for one in step.before), step.step_id
        undo = step.undo
        if undo is not None and any(isinstance(one, SameHistory) and one.stopped_at for one in undo.before):
            # Either it asks before the way back, or the name was typed before the node went down at all.
            assert undo.consent is not None or step.confirm == step.host, step.step_id


@pytest.mark.parametrize(("name", "prefix"), [("freeze-gcache", ""), ("rolling-restart", "n3:")])
def test_that_a_start_begun_again_after_it_lost_the_state_is_refused(name: str, prefix: str) -> None:
    given = {"node": "n3", "donor": "n1"} if name == "freeze-gcache" else {"nodes": "n3", "pause": "1 s"}
    bench = Bench(whole("n1", "n2", "n3"), name, given)
    bench.on_failure = "ask"
    bench.begin()
    told = bench.moments(bench.run)
    begun = next(m for m in told if m.name.startswith("after") and f"(step {prefix}start-n3 acting)" in m.name)
    again = bench.after_kill(begun)
    again.on_failure = "ask"
    host = again.cluster.hosts["n3"]
    host.grastate_uuid = ZERO  # the start had failed early, and taken the state out of the file
    assert again.run() is RunState.FAILED
    assert (host.running, host.came_by) == (False, "")
    assert again.engine().undo() is RunState.UNDO_FAILED
    assert not host.running
    again.confirmed |= {"n3"}
    assert again.engine().undo() is RunState.UNDONE
    assert host.came_by == "SST"


def joining(host: HostFacts, recovered: str) -> list[str]:
    killed = [down(n, grastate=Grastate(UUID, -1, safe_to_bootstrap=False)) for n in NAMES if n != host.host]
    kept = (("recovered-n1", f"{UUID}:10"), ("recovered-n2", f"{UUID}:10"), ("recovered-n3", recovered))
    seen = facts(*killed, host, kept=kept)
    steps = bootstrap_and_join(party(seen, NAMES, ()), "n1", 10, ("n2", "n3"))
    return [s.step_id for s in steps if isinstance(s.action, Ask) and s.action.kind == "typed"]


LOST = down("n3", grastate=Grastate(ZERO_UUID, -1, safe_to_bootstrap=False))


@pytest.mark.parametrize(
    ("host", "recovered", "asked"),
    [
        (LOST, f"{UUID}:10", ["sst-n3"]),
        (changed(LOST, grastate=None, grastate_absent=True), f"{UUID}:9", ["sst-n3"]),
        (changed(LOST, grastate=None, grastate_damaged=True), f"{UUID}:9", []),  # a whole file is written: IST may come
        (changed(LOST, grastate=Grastate(UUID, -1, safe_to_bootstrap=False)), f"{UUID}:9", []),
        (changed(LOST, sst_in_progress=True, tablespace=False), f"{UUID}:9", []),
        (LOST, f"{ZERO_UUID}:-1", []),  # its position is not known: that is typed before
    ],
)
def test_that_a_node_whose_state_file_is_lost_joins_after_a_crash_only_by_its_typed_name(
    host: HostFacts, recovered: str, asked: list[str]
) -> None:
    assert joining(host, recovered) == asked


def test_that_no_backup_starts_a_server() -> None:
    procedure = procedure_named("desync-for-backup")
    assert procedure.about.name == "desync-for-backup"
    bench = next(case for case in CASES if case.name == "desync-for-backup").bench_begun()
    bench.run()
    assert not any("start" in line for line in bench.cluster.log)

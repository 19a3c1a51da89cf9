"""A colleague starts a server meanwhile: a node bootstrapped beside the others is not back, one called off is named.

Before, the undo said that a node was back while it was a Primary Component of one beside the majority; and a run of
which a node came in by itself waited for its last proof without naming it.
"""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import container
from tests.lab.procedures.console.steering import KILLED, Console, Ran
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states.balancer import balanced
from tests.lab.procedures.states.forks import LEDGER, acknowledge, forget, kill_all, make_ledger
from tests.lab.procedures.states.obstacles import GRASTATE
from tests.lab.procedures.whole import Whole

_FOUND = f"sed -i 's/safe_to_bootstrap: 0/safe_to_bootstrap: 1/' {GRASTATE}; timeout 60 galera_new_cluster"


def _on(steer: Estate, host: str) -> set[int]:
    return {int(row[0]) for row in steer.sql(host, f"SELECT id FROM {LEDGER}")}


@pytest.mark.long
@pytest.mark.slow
def test_that_a_node_which_a_colleague_bootstrapped_while_it_was_down_is_not_called_back_and_gets_no_clients(
    steer: Estate, console: Console, whole: Whole
) -> None:
    shared = make_ledger(steer)
    inputs: dict[str, object] = {"nodes": "s3", "work": "yes", "pause": "1 s", "soak": "3 s", "downtime": "20 s"}
    with balanced(steer) as haproxy:
        try:
            killed = console.killed_run("s3:work=acting", "rolling-restart", **inputs)
            assert killed.code == KILLED, killed
            container.sh(steer.spec, "s3", _FOUND, limit_s=70)
            steer.wait_synced(("s3",), size=1, limit_s=40)
            own = {"s1": acknowledge(steer, "s1", 1_000, 7), "s3": acknowledge(steer, "s3", 5_000, 5)}
            undone = console("undo", console.runs()[0], "--yes")
            assert undone.code != 0, undone
            _assert_told_as_two(console, undone)
            assert [_on(steer, name) for name in ("s1", "s2", "s3")] == [
                {*shared, *own["s1"]}, {*shared, *own["s1"]}, {*shared, *own["s3"]},
            ]  # fmt: skip
            assert haproxy.states()["s3"][0] == "DRAIN", undone
            forget(steer, "s3")
            released = console("undo", console.runs()[0], "--release", "--yes")
            assert haproxy.states()["s3"][0] == "DOWN", released  # drained no more: its server is stopped
        finally:
            console("undo", console.runs()[0], "--leave", "--yes")
            forget(steer, "s3")


def _assert_told_as_two(console: Console, undone: Ran) -> None:
    view = console.view()
    stop = next(s for s in view.steps if s.step.step_id == "s3:stop-s3")
    assert (view.state is RunState.UNDONE, stop.state is StepState.UNDONE) == (False, False), undone
    for said in (
        "s3 is a Primary Component of its own (one of 1), s1, s2 are another: two Primary Components",
        "bring it back with add-node",
    ):
        assert said in undone.out, f"{undone}\n{view.state} {view.sentence}\n{stop.state} {stop.error}"
    report = console("report", console.runs()[0])
    assert "rows of one side may be lost" in report.out, report


@pytest.mark.slow
@pytest.mark.long
def test_that_a_node_called_off_that_came_in_by_itself_is_named_and_the_run_is_not_done(
    steer: Estate, console: Console, whole: Whole
) -> None:
    shared = make_ledger(steer)
    kill_all(steer)
    steer.cut(["s3"])
    killed = console.killed_run(
        "bootstrap=done", "bootstrap-after-crash", *CONFIRM, "--confirm", "without s3", nodes="s1,s2", gone="s3"
    )
    assert killed.code == KILLED, killed
    steer.heal()
    steer.host("s3").sh("systemctl start mariadb", limit_s=90)
    ran = console("resume", console.runs()[0], "--yes", *CONFIRM)
    assert ran.code != 0, ran
    view = console.view()
    assert view.state is not RunState.DONE, ran
    assert "s3 is a member too, which this plan does not count" in view.sentence, f"{ran}\n{view.sentence}"
    assert "is not known" in view.sentence
    assert [_on(steer, name) for name in ("s1", "s3")] == [set(shared)] * 2
    console("undo", console.runs()[0], "--leave", "--yes")

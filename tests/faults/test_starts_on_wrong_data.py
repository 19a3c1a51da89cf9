"""The data that a run put in place were found to be wrong: nobody starts them, whatever way out is taken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES
from tests.faults.scripted.running import Bench

_CASES = {case.title: case for case in CASES if case.name in {"rejoin-from-incrementals", "snapshot-node"}}


def _released(bench: Bench) -> None:
    bench.engine().release()


def _left(bench: Bench) -> None:
    bench.engine().leave("a test")


def _failed_at_the_position(name: str) -> tuple[Bench, str]:
    """Run until the server tells another position than its data should have; the data are its account's by then."""
    bench = _CASES[name].bench()
    bench.on_failure = "ask"
    bench.begin()
    joiner = next(s.host for s in bench.engine().view.plan.steps if s.step_id.startswith("owner-"))

    def told(when: str, what: str) -> None:
        if when == "after" and f"(step owner-{joiner} done)" in what:
            bench.cluster.hosts[joiner].seqno = 7

    bench.journal.told = told
    assert bench.run() is RunState.FAILED
    failed = [v.step.step_id for v in bench.engine().view.steps if v.error]
    assert failed == [f"position-{joiner}"]
    return bench, joiner


@pytest.mark.parametrize("name", sorted(_CASES))
@pytest.mark.parametrize("way_out", [_released, _left], ids=["released", "left"])
def test_that_data_at_a_wrong_position_can_not_be_started_on_scripted_hosts(
    name: str, way_out: Callable[[Bench], None]
) -> None:
    bench, joiner = _failed_at_the_position(name)
    way_out(bench)
    host = bench.cluster.hosts[joiner]
    bench.cluster.start(host)
    assert not host.running
    (hold,) = [o for o in bench.engine().view.obligations if o.obligation.key == f"hold:{joiner}"]
    assert "whole data in the data folder" in hold.release_failed


@pytest.mark.parametrize("name", sorted(_CASES))
def test_that_the_hold_goes_with_the_undo_that_puts_the_old_data_back_on_scripted_hosts(name: str) -> None:
    bench, _ = _failed_at_the_position(name)
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.engine().view.obligations == ()

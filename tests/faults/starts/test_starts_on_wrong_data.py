"""The data that a run put in place were found to be wrong: nobody starts them, whatever way out is taken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES
from tests.faults.scripted.running import Bench

_NAMES = {"rejoin-from-incrementals", "snapshot-node"}
_BACK = {case.title: case for case in CASES if case.name in {*_NAMES, "rejoin-from-binlogs"}}
_CASES = {title: case for title, case in _BACK.items() if case.name in _NAMES}


def _released(bench: Bench) -> None:
    bench.engine().release()


def _left(bench: Bench) -> None:
    bench.engine().leave("a test")


def _joiner(bench: Bench) -> str:
    return bench.inputs["joiner"]


def _failed_at_the_position(name: str) -> tuple[Bench, str]:
    """Run until the server tells another position than its data should have; the data are its account's by then."""
    bench = _CASES[name].bench()
    bench.on_failure = "ask"
    bench.begin()
    joiner = _joiner(bench)

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
    assert "complete data in the data folder" in hold.release_failed


@pytest.mark.parametrize("name", sorted(_CASES))
def test_that_the_hold_goes_with_the_undo_that_puts_the_old_data_back_on_scripted_hosts(name: str) -> None:
    bench, _ = _failed_at_the_position(name)
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.engine().view.obligations == ()


def test_that_a_snapshot_taken_back_leaves_nothing_and_says_so_on_scripted_hosts() -> None:
    """The look at the copy and the recovered position went with the folder: it was told that they stay."""
    bench, _ = _failed_at_the_position("snapshot")
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.engine().view.sentence == "All changes of the run were rolled back."


@pytest.mark.parametrize("title", sorted(_BACK))
def test_that_a_start_that_is_refused_leaves_a_node_that_no_boot_starts_on_scripted_hosts(title: str) -> None:
    """The last member that cached what follows lost it right before the start: a start would be an SST."""
    bench = _BACK[title].bench()
    bench.on_failure = "ask"
    bench.begin()
    joiner = _joiner(bench)

    def told(when: str, what: str) -> None:
        if when == "after" and f"(step name-donor-{joiner} done)" in what:
            for host in bench.cluster.hosts.values():
                host.cached_from = 10**9

    bench.journal.told = told
    assert bench.run() is RunState.FAILED
    assert [v.step.step_id for v in bench.engine().view.steps if v.error] == [f"start-{joiner}"]
    assert f"hold:{joiner}" in {o.obligation.key for o in bench.engine().view.obligations}
    host = bench.cluster.hosts[joiner]
    bench.cluster.start(host)
    assert not host.running
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.engine().view.obligations == ()

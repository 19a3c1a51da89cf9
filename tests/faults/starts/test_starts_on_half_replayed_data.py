"""Somebody starts the server of a rejoin from binary logs, whatever became of the run: never on half of its data."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES
from tests.faults.scripted.cluster import CLUSTER
from tests.faults.scripted.running import Bench

_CASE = next(case for case in CASES if case.name == "rejoin-from-binlogs")
_MARK = "/var/lib/pilothouse/replay/state"


def _half(bench: Bench) -> bool:
    """The old data are kept aside, and what lies in their place is not proven to be whole."""
    host = bench.cluster.hosts["n3"]
    return bool(host.aside) and (host.grastate_uuid != CLUSTER or _MARK in host.files)


def _nothing(bench: Bench) -> None:
    """The console is gone, and stays so."""


def _released(bench: Bench) -> None:
    bench.engine().release()


def _left(bench: Bench) -> None:
    bench.engine().leave("a test")


@pytest.mark.parametrize("way_out", [_nothing, _released, _left], ids=["killed", "released", "left"])
def test_that_a_start_by_hand_is_refused_wherever_the_console_died_on_scripted_hosts(
    way_out: Callable[[Bench], None],
) -> None:
    unbroken = _CASE.bench()
    unbroken.begin()
    halves = wholes = 0
    for moment in unbroken.moments(unbroken.run):
        bench = unbroken.after_kill(moment)
        way_out(bench)
        host = bench.cluster.hosts["n3"]
        running, half = host.running, _half(bench)
        bench.cluster.start(host)
        if half:
            halves += 1
            assert not host.running, moment.name
            assert "hold:n3" in {o.obligation.key for o in bench.engine().view.obligations}, moment.name
        elif way_out is not _nothing and not running:
            wholes += 1
            assert host.running, moment.name
    assert halves > 40
    assert wholes > 10 or way_out is _nothing


@pytest.mark.parametrize("way_out", [_released, _left], ids=["released", "left"])
def test_that_a_hold_that_stayed_says_why_and_goes_with_the_undo_on_scripted_hosts(
    way_out: Callable[[Bench], None],
) -> None:
    unbroken = _CASE.bench()
    unbroken.begin()
    moment = next(m for m in unbroken.moments(unbroken.run) if "(step replay-n3 done)" in m.name)
    bench = unbroken.after_kill(moment)
    way_out(bench)
    (hold,) = [o for o in bench.engine().view.obligations if o.obligation.key == "hold:n3"]
    assert "complete data in the data folder of n3: not yet" in hold.release_failed
    if way_out is _released:
        assert bench.engine().undo() is RunState.UNDONE
        assert bench.engine().view.obligations == ()
        assert "All changes of the run were rolled back" in bench.engine().view.sentence

"""A colleague runs a server by hand (`mariadbd --wsrep-on=OFF`) on data that a run put in place, its unit being held.

It leaves the position as it was: only its files tell. The run rests for a person, wherever it was.
"""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES
from tests.faults.scripted.running import Bench

_NAMES = ("rejoin-from-binlogs", "rejoin-from-incrementals", "snapshot-node")
_BACK = {case.title: case for case in CASES if case.name in _NAMES}
_NEXT = {
    "owner": {"rejoin-from-binlogs": "replay", "rejoin-from-incrementals": "recover", "snapshot-node": "recover"},
    "replay": {"rejoin-from-binlogs": "set-position"},
    "set-position": {"rejoin-from-binlogs": "recover"},
    "recover": dict.fromkeys(_NAMES, "look"),
    "look": dict.fromkeys(_NAMES, "start"),
    "name-donor": dict.fromkeys(_NAMES, "start"),
}
_WHERE = [(title, behind) for title, case in _BACK.items() for behind, then in _NEXT.items() if case.name in then]


def _ran_by_hand(title: str, behind: str, on_failure: str) -> tuple[Bench, str]:
    bench = _BACK[title].bench()
    bench.on_failure = on_failure  # type: ignore[assignment]
    bench.begin()
    joiner = bench.inputs["joiner"]

    def told(when: str, what: str) -> None:
        if when == "after" and f"(step {behind}-{joiner} done)" in what:
            bench.cluster.hosts[joiner].starts += 1

    bench.journal.told = told
    return bench, joiner


@pytest.mark.parametrize(("title", "behind"), _WHERE)
def test_that_the_run_rests_and_is_taken_back_by_a_person_on_scripted_hosts(title: str, behind: str) -> None:
    bench, joiner = _ran_by_hand(title, behind, "undo")
    state = bench.run()
    then = f"{_NEXT[behind][_BACK[title].name]}-{joiner}"
    failed = [view for view in bench.engine().view.steps if view.error]
    assert (state, [view.step.step_id for view in failed]) == (RunState.FAILED, [then])
    assert "what it wrote is not known" in failed[0].error
    assert not bench.cluster.hosts[joiner].running
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.engine().view.obligations == ()


@pytest.mark.parametrize("title", sorted(_BACK))
def test_that_the_hold_stays_while_such_data_lie_there_on_scripted_hosts(title: str) -> None:
    bench, joiner = _ran_by_hand(title, "name-donor", "ask")
    assert bench.run() is RunState.FAILED
    bench.engine().release()
    host = bench.cluster.hosts[joiner]
    bench.cluster.start(host)
    assert not host.running
    assert f"hold:{joiner}" in {o.obligation.key for o in bench.engine().view.obligations}

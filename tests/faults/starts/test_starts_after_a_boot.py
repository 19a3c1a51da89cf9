"""The host was booted in the middle of a run: what lay under /run is gone, and the run goes on."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES, Case
from tests.faults.scripted.running import Killed

_NAMES = {"rejoin-from-incrementals", "rejoin-from-binlogs", "snapshot-node"}


@pytest.mark.parametrize("case", [case for case in CASES if case.name in _NAMES], ids=lambda case: case.title)
def test_that_a_node_is_not_restarted_behind_its_start_on_restored_data_on_scripted_hosts(case: Case) -> None:
    """The second start of a node that aborts on its data would take an SST over them."""
    bench = case.bench_begun()
    name = bench.inputs["joiner"]
    joiner, kept = bench.cluster.hosts[name], list[bool]()

    def killed(when: str, what: str) -> None:
        if when == "after" and f"(step position-{name} done)" in what:
            raise Killed

    def seen(when: str, what: str) -> None:
        if when == "before" and f"(step start-{name} proving)" in what:
            kept.append(joiner.no_restart)

    bench.journal.told = killed
    with pytest.raises(Killed):
        bench.run()
    joiner.files = {path: text for path, text in joiner.files.items() if not path.startswith("/run/")}
    joiner.loaded = joiner.drop_ins
    bench.journal.told = seen
    assert bench.run() is RunState.DONE
    assert kept == [True]
    assert not joiner.no_restart

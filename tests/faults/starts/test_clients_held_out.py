"""A node that came back without an SST refuses clients from its start on until its data are compared with a member's.

On scripted hosts; on real servers: tests/lab/procedures/rejoin/test_clients_held_out.py.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.procedures.catalogue.steps.traffic import HELD_OUT_FILE, REJECT
from services.procedures.conditions.server.same_sums import SameSums
from services.procedures.plan.run_model import RunState
from tests.faults.cases import CASES
from tests.faults.scripted.cluster import Host
from tests.faults.scripted.running import Bench

_NAMES = ("rejoin-from-binlogs", "rejoin-from-incrementals", "snapshot-node")
_BACK = {case.title: case for case in CASES if case.name in _NAMES}
_TITLES = sorted(_BACK)


def _bench(title: str) -> tuple[Bench, Host]:
    bench = _BACK[title].bench()
    bench.on_failure = "ask"
    bench.begin()
    return bench, bench.cluster.hosts[bench.inputs["joiner"]]


def _refuses(host: Host) -> bool:
    return host.variables.get(REJECT, "NONE") == "ALL"


def _filed(host: Host) -> bool:
    return any(path.endswith(HELD_OUT_FILE) for path in host.files)


def _on(bench: Bench) -> bool:
    return any(one.obligation.key.startswith("held-out:") for one in bench.engine().view.obligations)


def _released(bench: Bench) -> None:
    bench.engine().release()


def _left(bench: Bench) -> None:
    bench.engine().leave("a test")


@pytest.mark.parametrize("title", _TITLES)
def test_that_it_serves_nobody_before_the_last_comparison_and_everybody_behind_it_on_scripted_hosts(title: str) -> None:
    bench, host = _bench(title)
    served: list[str] = []

    def told(when: str, what: str) -> None:
        if when == "after" and "(step " in what and host.primary and not _refuses(host):
            served.append(what.partition("(step ")[2].rstrip(")"))

    bench.journal.told = told
    assert bench.run() is RunState.DONE
    let_in = f"let-in-{host.name}"
    assert served[0].startswith(let_in), served[:3]
    steps = [step.step_id for step in bench.engine().view.plan.steps]
    wanted = {f"{what}-{host.name}" for what in ("same-defined", "same-rows", "compare")}
    compared = [one for one in steps if one in wanted]
    assert steps[steps.index(let_in) - 1] == compared[-1]
    assert (_refuses(host), _filed(host), _on(bench)) == (False, False, False)


def _not_compared(bench: Bench, host: Host) -> None:
    """Rest where the rows can't be told."""
    donor = dict(bench.engine().view.plan.inputs)["donor"]
    bench.unreadable.append(SameSums(host.name, donor, 2**30))
    assert bench.run() is not RunState.DONE
    view = bench.engine().view
    assert [step.step.step_id for step in view.steps if step.error or step.said] != []
    assert [_refuses(host), _filed(host), _on(bench)] == [True, True, True]


@pytest.mark.parametrize("title", _TITLES)
def test_that_an_undo_in_the_comparison_leaves_no_node_that_refuses_on_scripted_hosts(title: str) -> None:
    bench, host = _bench(title)
    _not_compared(bench, host)
    assert bench.engine().undo() is RunState.UNDONE
    bench.cluster.start(host)
    assert [_refuses(host), _filed(host), _on(bench)] == [False, False, False]


@pytest.mark.parametrize("title", _TITLES)
@pytest.mark.parametrize("way_out", [_released, _left], ids=["released", "left"])
def test_that_no_way_out_lets_clients_to_data_that_were_not_compared_on_scripted_hosts(
    title: str, way_out: Callable[[Bench], None]
) -> None:
    bench, host = _bench(title)
    _not_compared(bench, host)
    way_out(bench)
    assert _refuses(host)
    (held,) = [o for o in bench.engine().view.obligations if o.obligation.key == f"held-out:{host.name}"]
    assert "to be compared with a member's: not yet" in held.release_failed
    assert HELD_OUT_FILE in held.obligation.danger, "how it is done by hand"

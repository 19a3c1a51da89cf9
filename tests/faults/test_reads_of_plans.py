"""What plans wait for can be read: scripted hosts answer anything, the Observer road only what it knows."""

from __future__ import annotations

import pytest

from services.connections.observer.paths import is_readable
from services.procedures.conditions.machine.files import FileSays
from services.procedures.plan.model import Step
from tests.faults.cases import CASES, Case


def _waited_for(step: Step) -> tuple[object, ...]:
    undo = (*step.undo.before, *step.undo.proof, *step.undo.waits) if step.undo is not None else ()
    return (*step.before, *step.already, *step.proof, *undo)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.title))
def test_that_every_file_that_a_plan_looks_into_may_be_read_on_the_observer_road(case: Case) -> None:
    bench = case.bench_begun()
    bench.run()  # what is planned on the way too
    steps = bench.engine().view.plan.steps
    looked_into = {one.path for step in steps for one in _waited_for(step) if isinstance(one, FileSays)}
    assert [path for path in sorted(looked_into) if not is_readable(path)] == []

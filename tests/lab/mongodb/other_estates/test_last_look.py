"""What was proven once and others changed since is seen before the mirrors go, and before the run says 'done'."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb
from tests.lab.mongodb.other_estates.changing import restarted, text_of, write
from tests.lab.mongodb.procedures.conversion import (
    NAME,
    ROLLING,
    as_words,
    hashes,
    is_a_set_of,
    load,
    rows_are_there,
)
from tests.lab.procedures.console.steering import Console


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_that_a_mongos_which_is_given_the_old_string_again_keeps_the_mirrors_from_being_retired(
    mirrored: Estate, console: Console
) -> None:
    """A configuration tool restarts r1 with the mirrors' string between its own step and the end."""
    before, old = hashes(mirrored, "c1"), text_of(mirrored, "r1")
    with load(mirrored) as loads:
        with console.running("run", NAME, *as_words(ROLLING), "--yes", "--confirm", "c1", limit_s=600) as running:
            running.wait_for_step("r2:new-string", "acting")
            new = text_of(mirrored, "r1")
            assert "csrs/" in new
            write(mirrored, "r1", old)
            restarted(mirrored, "r1")
            ran = running.end()
        assert ran.code != 0, ran
        assert "Every mongos uses" not in ran.out, ran
        view = console.view()
        states = {one.step.step_id: one.state for one in view.steps}
        assert states["c2:retired"] is not StepState.DONE, ran
        assert view.state in {RunState.FAILED, RunState.WAITING}, ran
        assert "r1" in view.sentence, view.sentence
        assert database.pid(mirrored.spec, "c2") is not None
        write(mirrored, "r1", new)
        restarted(mirrored, "r1")
        ends = console("resume", console.runs()[0], "--yes", "--confirm", "c1", limit_s=600)
    assert ends.code == 0, ends
    console.assert_ended(RunState.DONE, ends)
    for one in loads.values():
        rows_are_there(mirrored, one.done)
    before.pop("chunks", None)
    is_a_set_of(mirrored, ("c1", "n1", "n2"), before)
    mongodb.wait_answers(mirrored.spec, "r1")

"""An option on a unit's command line wins over the file: seen before a conversion, and proven after each start."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import mongodb
from tests.lab.mongodb.other_estates.changing import option_given, option_on, option_taken, restarted
from tests.lab.mongodb.procedures.conversion import (
    NAME,
    WINDOW,
    as_words,
    files,
    hashes,
    is_mirrored,
    is_mirrored_as,
    load,
    rows_are_there,
)
from tests.lab.procedures.console.steering import Console


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", ["c2", "r2"])
def test_that_an_option_of_a_unit_is_found_before_anything_is_stopped(
    mirrored: Estate, console: Console, host: str
) -> None:
    option = "--dbpath /var/lib/mysql/db" if host == "c2" else f"--configdb {mongodb.config_string(mirrored.spec)}"
    with option_on(mirrored, host, option):
        ran = console.run(NAME, "--json", "--confirm", "r1", **WINDOW)
        said = " ".join((ran.out + ran.err).split())
        assert ran.code == 1, ran
        assert "CONFIG-FILES" in said, ran
        assert f"{host}: {option.partition(' ')[0]}" in said, ran
        assert console.runs() == ()
        assert is_mirrored(mirrored)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_that_a_server_which_starts_on_its_old_folder_all_the_same_is_never_told_as_converted(
    mirrored: Estate, console: Console
) -> None:
    """A configuration tool gives the unit of c2 --dbpath behind the checks: its file is edited, and loses."""
    before, configured = hashes(mirrored, "c1"), files(mirrored)
    with load(mirrored) as loads:
        with console.running("run", NAME, *as_words(WINDOW), "--yes", "--confirm", "r1", limit_s=600) as running:
            running.wait_for_step("c3:copied", "acting")
            option_given(mirrored, "c2", "--dbpath /var/lib/mysql/db")
            ran = running.end()
        try:
            states = {one.step.step_id: one.state for one in console.view().steps}
            assert states["c2:set-up"] not in {StepState.DONE, StepState.ALREADY}, ran
            assert ran.code != 0, ran
            assert "--dbpath" in ran.out + ran.err or "storage.dbPath" in ran.out + ran.err, ran
        finally:
            option_taken(mirrored, "c2")
        if console.view().state is not RunState.UNDONE:
            undone = console("undo", console.runs()[0], "--yes", limit_s=600)
            assert undone.code == 0, undone
    restarted(mirrored, "c2")  # it ran with the option still: without it the same folder comes from its file
    console.assert_ended(RunState.UNDONE, ran)
    assert files(mirrored) == configured
    is_mirrored_as(mirrored, before)
    for one in loads.values():
        rows_are_there(mirrored, one.done)

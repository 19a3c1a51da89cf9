"""A conversion of config servers wants room on every host: asked for before, and freed first where it ran out."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.mongodb.procedures.conversion import (
    MIRRORS,
    NAME,
    ROLLING,
    ROUTERS,
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
@pytest.mark.parametrize(("host", "answers"), [("c2", WINDOW), ("n1", ROLLING)], ids=["window", "rolling"])
def test_that_a_small_disk_of_another_host_is_found_before_anything_is_stopped(
    mirrored: Estate, console: Console, host: str, answers: dict[str, str]
) -> None:
    mirrored.fill(host, leave_mb=100)
    try:
        ran = console.run(NAME, "--json", "--confirm", "c1", **answers)
        said = " ".join((ran.out + ran.err).split())
        assert ran.code == 1, ran
        assert "BACKUP-ROOM" in said, ran
        assert f"on {host}, " in said, ran
        assert console.runs() == ()
        assert is_mirrored(mirrored)
    finally:
        mirrored.unfill(host)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_that_a_disk_which_fills_during_the_run_is_freed_first_and_the_servers_start_on_it(
    mirrored: Estate, console: Console
) -> None:
    """Behind the last look at the room: the copy of c1 breaks off with everything stopped, and its disk stays full."""
    before, configured = hashes(mirrored, "c1"), files(mirrored)
    size = int(mirrored.host("c1").sh("du -sm /var/lib/mysql/db").out.split()[0])
    with load(mirrored) as loads:
        with console.running("run", NAME, *as_words(WINDOW), "--yes", "--confirm", "r1", limit_s=600) as running:
            running.wait_for_step("c1:down", "acting")
            mirrored.fill("c1", leave_mb=max(size // 2, 20))
            ran = running.end()
        try:
            states = {one.step.step_id: one.state for one in console.view().steps}
            assert ran.code != 0, ran
            assert states["c1:copied"] is not StepState.DONE, ran
            if console.view().state is not RunState.UNDONE:
                undone = console("undo", console.runs()[0], "--yes", limit_s=600)
                assert undone.code == 0, undone
            console.assert_ended(RunState.UNDONE, ran)
            assert all(database.pid(mirrored.spec, host) is not None for host in (*MIRRORS, *ROUTERS))
            assert not mirrored.host("c1").sh("ls -d /var/lib/mysql/db-csrs*", check=False).ok
        finally:
            mirrored.unfill("c1")
    assert files(mirrored) == configured
    is_mirrored_as(mirrored, before)
    for one in loads.values():
        rows_are_there(mirrored, one.done)

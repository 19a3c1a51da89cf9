"""An edit that is refused before it changed anything passes no point of no return: the way back stays open."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb
from tests.lab.mongodb.procedures.conversion import (
    NAME,
    ROUTERS,
    WINDOW,
    as_words,
    balancer_is_on,
    hashes,
    is_mirrored_as,
    load,
    rows_are_there,
    started_with,
)
from tests.lab.procedures.console.steering import Console

_TOOLS = "/srv/tool"


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_that_an_edit_refused_at_the_point_of_no_return_is_taken_back_and_everybody_served_again(
    mirrored: Estate, console: Console
) -> None:
    """A configuration tool makes the file of r1 a link to a link of its own account's behind the checks: a mongos
    starts by it, and root follows no link that another user laid."""
    before, router = hashes(mirrored, "c1"), mirrored.host("r1")
    with load(mirrored) as loads:
        with console.running("run", NAME, *as_words(WINDOW), "--yes", "--confirm", "r1", limit_s=600) as running:
            running.wait_for_step("c1:set-up", "acting")
            router.sh(
                f"install -d -o dba {_TOOLS}; mv /etc/mongos.conf {_TOOLS}/today.conf; "
                f"ln -s today.conf {_TOOLS}/mongos.conf; ln -s {_TOOLS}/mongos.conf /etc/"
            )
            ran = running.end()
        try:
            said = " ".join((ran.out + ran.err).split())
            assert ran.code != 0, ran
            assert "/etc/mongos.conf" in said, ran
            assert console.view().no_return == "", ran
            if console.view().state is not RunState.UNDONE:
                undone = console("undo", console.runs()[0], "--yes", limit_s=600)
                assert undone.code == 0, undone
        finally:
            router.sh(f"[ ! -L /etc/mongos.conf ] || mv -f {_TOOLS}/today.conf /etc/mongos.conf; rm -rf {_TOOLS}")
    console.assert_ended(RunState.UNDONE, ran)
    is_mirrored_as(mirrored, before)
    for name in ROUTERS:
        assert database.pid(mirrored.spec, name) is not None
        assert started_with(mirrored, name) == mongodb.config_string(mirrored.spec)
    assert balancer_is_on(mirrored)
    for one in loads.values():
        rows_are_there(mirrored, one.done)

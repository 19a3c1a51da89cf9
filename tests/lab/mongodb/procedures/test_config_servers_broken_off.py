"""mongo-config-rs on real servers of 3.2, broken off: taken back, killed at every entry, a host that stays away."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb
from tests.lab.estate.waiting import wait_until
from tests.lab.mongodb.procedures.conversion import (
    MIRRORS,
    NAME,
    ROLLING,
    ROUTERS,
    WINDOW,
    balancer_is_on,
    config_of,
    files,
    hashes,
    is_a_set_of,
    is_mirrored,
    leads_again,
    load,
    rows_are_there,
    shard_uses,
    started_with,
)
from tests.lab.procedures.console.steering import KILLED, Console

_SET = {"c1": ("c1", "n1", "n2"), "r1": MIRRORS}
"""Who is in the set at the end, by the name that is typed at the point of no return of each way."""


@pytest.fixture
def console(mirrored: Estate, tmp_path: Path) -> Console:
    return Console(mirrored, tmp_path / "data")


_BACK = [
    pytest.param(ROLLING, "c1", "step-down=proving", id="rolling, right before the point"),
    pytest.param(ROLLING, "c1", "c1:mirrored-set=proving", id="rolling, as a mirrored set", marks=pytest.mark.long),
    pytest.param(ROLLING, "c1", "n2:add=proving", id="rolling, with new members", marks=pytest.mark.long),
    pytest.param(ROLLING, "c1", "c3:copied=acting", id="rolling, in the copy", marks=pytest.mark.long),
    pytest.param(ROLLING, "c1", "scratch-up=proving", id="rolling, with the scratch server", marks=pytest.mark.long),
    pytest.param(WINDOW, "r1", "compared-set=acting", id="window, right before the point", marks=pytest.mark.long),
    pytest.param(WINDOW, "r1", "c1:set-up=acting", id="window, on the new folder", marks=pytest.mark.long),
    pytest.param(WINDOW, "r1", "c3:add=proving", id="window, with members", marks=pytest.mark.long),
]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("answers", "confirm", "when"), _BACK)
def test_that_before_the_point_of_no_return_all_is_taken_back(
    mirrored: Estate, console: Console, answers: dict[str, str], confirm: str, when: str
) -> None:
    before, configured, used = hashes(mirrored, "c1"), files(mirrored), shard_uses(mirrored)
    ran = console.killed_run(when, NAME, "--confirm", confirm, **answers)
    assert ran.code == KILLED, ran
    if when == "step-down=proving":
        _is_refused_half_way(console)
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert files(mirrored) == configured
    assert [hashes(mirrored, host) for host in MIRRORS] == [before] * 3
    assert is_mirrored(mirrored)
    assert balancer_is_on(mirrored)
    assert all("/" not in config_of(mirrored, router) for router in ROUTERS)
    leads_again(mirrored)  # a member that was started again lost the lead, and takes it back: clients see both
    for router in ROUTERS:
        _finds_the_primary(mirrored, router)
    _serves(mirrored)
    assert shard_uses(mirrored) == used  # by now: a shard that was restarted uses none until a mongos asks it
    for host in ("n1", "n2"):
        assert mirrored.host(host).sh("ls -A /var/lib/mysql/db").out.strip() == ""
    for host in MIRRORS:
        assert not mirrored.host(host).sh("ls -d /var/lib/mysql/db-csrs", check=False).ok


@pytest.mark.timeout(600)
def test_that_the_balancer_is_switched_on_again_though_the_mongos_of_the_plan_is_gone(
    mirrored: Estate, console: Console
) -> None:
    """An undo left it off until that one was back."""
    ran = console.killed_run("nothing-moves=acting", NAME, "--confirm", "c1", **ROLLING)
    assert ran.code == KILLED, ran
    assert not balancer_is_on(mirrored, "r2")
    database.stop(mirrored.spec, "r1")
    try:
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code == 0, undone
        console.assert_ended(RunState.UNDONE, undone)
        assert balancer_is_on(mirrored, "r2")
    finally:
        database.start(mirrored.spec, "r1")
        mongodb.wait_answers(mirrored.spec, "r1")


def _is_refused_half_way(console: Console) -> None:
    """The first config server is mirrored, and a member: an upgrade had two turns for it."""
    ran = console.run("mongo-rolling-upgrade", "--json", version="3.2.22", clients="yes", backup="yes")
    assert ran.code == 1, ran
    assert "CONFIG-HALF-WAY" in ran.out + ran.err, ran
    assert len(console.runs()) == 1


def _finds_the_primary(estate: Estate, router: str) -> None:
    """A mongos that nobody asked meanwhile learns of an election by its first write: 'not master', once."""
    row = {"insert": "found", "documents": [{"n": 1}]}

    def refused() -> str | None:
        said = mongodb.ask(estate.spec, router, row, database="shop", limit_s=15)
        return str(said["writeErrors"]) if "writeErrors" in said else None

    wait_until(f"{router} to write", refused, limit_s=60)


def _serves(estate: Estate) -> None:
    """Rows through every mongos at once: a shard that stayed with the set would refuse each read. The catalog soon.

    A mongos finds a restarted config server again in about 3 s, and refuses changes of the catalog until then.
    """
    with load(estate) as loads:
        time.sleep(12)
        late = time.time() - 4
    assert [one.refused for one in loads.values()] == [[], []]
    assert all(one.done for one in loads.values())
    refused = [(when, said) for one in loads.values() for when, said in one.catalog]
    assert [said for when, said in refused if when > late] == [], refused


@pytest.mark.timeout(900)
def test_that_a_run_killed_at_its_point_of_no_return_is_not_taken_back_and_goes_on(
    mirrored: Estate, console: Console
) -> None:
    before = hashes(mirrored, "c1")
    ran = console.killed_run("c1:converted=acting", NAME, "--confirm", "c1", **ROLLING)
    assert ran.code == KILLED, ran
    refused = console("undo", console.runs()[0], "--yes")
    assert refused.code == 1, refused
    assert "point of no return" in refused.out + refused.err
    again = console("resume", console.runs()[0], "--yes", "--confirm", "c1")
    assert again.code == 0, again
    console.assert_ended(RunState.DONE)
    is_a_set_of(mirrored, _SET["c1"], before)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("answers", "confirm"), [(ROLLING, "c1"), (WINDOW, "r1")], ids=["rolling", "window"])
def test_that_a_run_whose_console_is_killed_at_every_entry_in_turn_ends_like_an_unbroken_one(
    mirrored: Estate, console: Console, answers: dict[str, str], confirm: str
) -> None:
    """Each console writes what it can't help writing, one entry more, and is killed; under load by the rolling way."""
    before = hashes(mirrored, "c1")
    if answers is ROLLING:
        with load(mirrored) as loads:
            kills = _killed_in_turn(console, confirm, answers)
        assert [one.refused for one in loads.values()] == [[], []]
        for one in loads.values():
            rows_are_there(mirrored, one.done)
        del before["chunks"]  # a mongos splits one when it likes
    else:
        kills = _killed_in_turn(console, confirm, answers)
    console.assert_ended(RunState.DONE)
    is_a_set_of(mirrored, _SET[confirm], before)
    steps = {one.step.step_id for one in console.view().steps}
    assert {step for step, _ in kills} >= steps
    assert len(kills) > 2 * len(steps)


def _killed_in_turn(console: Console, confirm: str, answers: dict[str, str]) -> set[tuple[str, str]]:
    """Return (step, state) of the entries behind which a console was killed.

    A resumed console does again what is not proven: killed always behind its first entries it would never get on. So
    it is given an entry more as long as nothing comes of it; its first three are of the lock, and tried once.
    """
    ran, most = console.killed_run(1, NAME, "--confirm", confirm, **answers), 1
    kills: set[tuple[str, str]] = set()
    for _ in range(600):
        if ran.code != KILLED:
            assert ran.code == 0, ran
            return kills
        view = console.view()
        last = next((one for one in reversed(view.steps) if one.state is not StepState.PENDING), None)
        entry = (last.step.step_id, last.state.value) if last is not None else ("", view.state.value)
        most = most + 1 if entry in kills else 4
        kills.add(entry)
        ran = console.killed(most, "resume", console.runs()[0], "--yes", "--confirm", confirm)
    raise AssertionError("it never came to its end")


@pytest.mark.timeout(900)
def test_that_where_the_first_server_does_not_start_again_the_others_go_first_and_it_is_not_forgotten(
    mirrored: Estate, console: Console
) -> None:
    """Its program is made one that can't be run, which a running server does not notice."""
    before = hashes(mirrored, "c1")
    ran = console.killed_run("step-down=proving", NAME, "--confirm", "c1", **ROLLING)
    assert ran.code == KILLED, ran
    run = console.runs()[0]
    mirrored.host("c1").sh("chmod a-x /usr/local/bin/mongod")
    try:
        rests = console("resume", run, "--yes", "--confirm", "c1")
        assert rests.code == 4, rests
        assert {config_of(mirrored, router).partition("/")[0] for router in ROUTERS} != {"csrs"}
        with load(mirrored) as loads:
            rests = console("resume", run, "--yes", "--confirm", "c1", "--answer", "later", limit_s=600)
        assert rests.code == 4, rests
        assert [one.refused for one in loads.values()] == [[], []]
        view = console.view()
        states = {one.step.step_id: one.state for one in view.steps}
        assert states["r2:new-string"] is StepState.DONE, rests
        assert states["shards"] is StepState.PENDING, rests
        assert "c1:converted" in {one.step.step_id for one in view.steps if one.state is StepState.FAILED}
        assert all(started_with(mirrored, router).startswith("csrs/") for router in ROUTERS)
    finally:
        mirrored.host("c1").sh("chmod a+x /usr/local/bin/mongod")
    ends = console("resume", run, "--yes", "--confirm", "c1")
    assert ends.code == 0, ends
    console.assert_ended(RunState.DONE)
    is_a_set_of(mirrored, _SET["c1"], before)
    assert balancer_is_on(mirrored)

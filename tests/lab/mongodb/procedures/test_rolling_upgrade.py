"""mongo-rolling-upgrade on real servers: a set, server by server, the person's own steps answered as a person does.

No second release of 3.2 can be built here in a test's time: the new one is the same program that calls itself 3.2.6.
What is shown is the procedure (its order, its gates, that only the version a server tells ends a step), no release.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import container
from tests.lab.estate.servers import database, mongodb
from tests.lab.mongodb.by_hand import knowing
from tests.lab.procedures.console.steering import Console, Ran

NAME = "mongo-rolling-upgrade"
OLD, NEW = "3.2.5", "3.2.6"
ANSWERS = {"version": NEW, "calm": "5 s", "clients": "yes", "backup": "yes"}
_PROGRAM = "/usr/local/bin/mongod"
MEMBERS = ("d1", "d2", "d3")


@pytest.fixture
def old(mongo_rs: Estate) -> Iterator[Estate]:
    """The set, with the old programs again afterwards."""
    yield mongo_rs
    for host in MEMBERS:
        if _version(mongo_rs, host) != OLD:
            _replace(mongo_rs, host, NEW, OLD)
    mongodb.wait_set(mongo_rs.spec, list(MEMBERS))


@pytest.fixture
def console(old: Estate, tmp_path: Path) -> Console:
    return Console(old, tmp_path / "data")


def _version(estate: Estate, host: str) -> str:
    return str(mongodb.ask(estate.spec, host, {"buildInfo": 1})["version"])


def _replace(estate: Estate, host: str, before: str, after: str) -> None:
    """Do as the operator does: stop it, put the other program there, start it."""
    database.stop(estate.spec, host)
    container.sh(estate.spec, host, f"sed -i 's/{before}/{after}/g' {_PROGRAM}")
    database.start(estate.spec, host)
    mongodb.wait_answers(estate.spec, host)
    assert _version(estate, host) == after


def _asked(console: Console) -> str:
    """The step whose question stands."""
    view = console.view()
    assert view.state is RunState.WAITING, view.sentence
    assert view.question is not None
    return view.question.step_id


def _goes_on(console: Console) -> Ran:
    return console("resume", console.runs()[0], "--answer", "yes", "--yes")


def test_that_every_server_is_replaced_the_primary_last_and_only_its_version_ends_a_step(
    old: Estate, console: Console
) -> None:
    ran = console.run(NAME, **ANSWERS)
    assert ran.code == 4, ran
    turn = []
    for _ in MEMBERS:
        step = _asked(console)
        host = step.partition(":")[0]
        turn.append(host)
        assert mongodb.primary(old.spec) != host
        _replace(old, host, OLD, NEW)
        ran = _goes_on(console)
    assert turn == ["d2", "d3", "d1"]
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    assert {_version(old, host) for host in MEMBERS} == {NEW}
    console.assert_nothing_to_do(NAME, **ANSWERS)


def test_that_an_answer_without_the_new_program_does_not_end_the_step(old: Estate, console: Console) -> None:
    ran = console.run(NAME, **ANSWERS)
    assert ran.code == 4, ran
    assert _asked(console) == "d2:replace"
    with console.running("resume", console.runs()[0], "--answer", "yes", "--yes") as running:
        running.wait_for_step("d2:back", "acting")
        _replace(old, "d2", OLD, NEW)  # they said yes too soon
        running.end()
    assert _asked(console) == "d3:replace"
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    assert f"This remains: d2 runs {NEW}." in console.view().sentence, console.view().sentence


def test_that_two_releases_further_is_refused(old: Estate, console: Console) -> None:
    ran = console.run(NAME, "--json", **{**ANSWERS, "version": "3.6.0"})
    assert ran.code == 1, ran
    assert "ONE-RELEASE" in ran.out + ran.err, ran
    assert console.runs() == ()


def test_that_mirrored_config_servers_are_converted_before_3_4(mongo_sccc_estate: Estate, tmp_path: Path) -> None:
    console = Console(mongo_sccc_estate, tmp_path / "data")
    ran = console.run(NAME, "--json", **{**ANSWERS, "version": "3.4.24"})
    assert ran.code == 1, ran
    assert "TOO-OLD" in ran.out + ran.err, ran
    assert console.runs() == ()


def test_that_a_console_that_knows_the_shard_alone_meets_the_run_of_one_that_knows_its_mongos(
    mongo_sccc_estate: Estate, tmp_path: Path
) -> None:
    """To it the shard is a cluster of its own, by another id."""
    whole = Console(mongo_sccc_estate, tmp_path / "whole")
    part = tmp_path / "shard.toml"
    part.write_text(knowing(whole.inventory.read_text(encoding="utf-8"), *MEMBERS), encoding="utf-8")
    shard = Console(mongo_sccc_estate, tmp_path / "shard", part)
    ran = whole.run(NAME, **ANSWERS)
    assert ran.code == 4, ran
    try:
        refused = shard.run(NAME, "--json", **ANSWERS)
        assert refused.code == 1, refused
        assert "LOCK-FREE" in refused.out + refused.err, refused
        assert shard.runs() == ()
    finally:
        undone = whole("undo", whole.runs()[0], "--yes")
    assert undone.code == 0, undone
    begun = shard.run(NAME, **ANSWERS)
    assert begun.code == 4, begun
    assert shard("undo", shard.runs()[0], "--yes").code == 0

"""mongo-config-rs in a window on real servers, with a colleague beside it: a mongos, edited files, many chunks."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb
from tests.lab.estate.waiting import wait_until
from tests.lab.mongodb.procedures.conversion import (
    MIRRORS,
    NAME,
    ROUTERS,
    WINDOW,
    balancer_is_on,
    config_of,
    documents,
    files,
    hashes,
    is_a_set_of,
    is_mirrored,
    load,
    rows_are_there,
)
from tests.lab.procedures.console.steering import KILLED, Console, Running

pytestmark = [pytest.mark.timeout(900)]
_CHUNKS = 2_000
_SEEN_S = 180.0
"""A console on a very busy machine has started, and looked, by then."""


@pytest.fixture
def console(mirrored: Estate, tmp_path: Path) -> Console:
    return Console(mirrored, tmp_path / "data")


def test_that_a_mongos_started_meanwhile_is_told_and_no_undo_throws_away_what_it_changed(
    mirrored: Estate, console: Console
) -> None:
    """It goes over to the set by itself, and serves: a database made through it is in the set alone."""
    ran = console.killed_run("followed=done", NAME, "--confirm", "r1", **WINDOW)
    assert ran.code == KILLED, ran
    run = console.runs()[0]
    database.start(mirrored.spec, "r2")
    mongodb.wait_answers(mirrored.spec, "r2")
    stops = console("resume", run, "--yes", "--confirm", "r1")
    assert stops.code == 4, stops
    assert "a mongos runs on r2" in stops.out + stops.err, stops
    mongodb.ask(mirrored.spec, "r2", {"enableSharding": "colleague"})
    refused = console("undo", run, "--yes")
    assert refused.code == 4, refused
    assert console.view().state is RunState.FAILED, "it can still go on"
    assert "colleague" in {one["_id"] for one in documents(mirrored, "r2", "databases")}, "nothing was stopped"
    # As one who sees an outage may do: by this string a mongos would wait for ever for a set that is gone.
    members = ",".join(mongodb.place(mirrored.spec, mirrored.spec.host(one)) for one in MIRRORS)
    mirrored.host("r2").sh(f"sed -i 's|configDB:.*|configDB: csrs/{members}|' /etc/mongos.conf")
    undone = console("undo", run, "--yes", "--confirm", "c1")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert "databases (new: colleague)" in console.view().sentence, "what was given up is named"
    assert is_mirrored(mirrored)
    assert all("/" not in config_of(mirrored, router) for router in ROUTERS)
    assert balancer_is_on(mirrored)
    for router in ROUTERS:  # a shard that had gone over takes none, for good
        row = {"insert": "behind", "documents": [{"_id": router}]}
        assert mongodb.ask(mirrored.spec, router, row, database="shop")["n"] == 1


def test_that_it_goes_on_with_what_was_changed_through_it_where_nobody_gives_that_up(
    mirrored: Estate, console: Console
) -> None:
    ran = console.killed_run("followed=done", NAME, "--confirm", "r1", **WINDOW)
    assert ran.code == KILLED, ran
    run = console.runs()[0]
    database.start(mirrored.spec, "r2")
    mongodb.wait_answers(mirrored.spec, "r2")
    mongodb.ask(mirrored.spec, "r2", {"enableSharding": "colleague"})
    refused = console("undo", run, "--yes")
    assert refused.code == 4, refused
    database.stop(mirrored.spec, "r2")
    silent = console("undo", run, "--yes")  # no mongos runs any more: only the metadata tell of what it changed
    assert silent.code == 4, silent
    assert "databases (new: colleague)" in " ".join(silent.out.split()), silent
    asked = console("resume", run, "--yes", "--confirm", "r1")
    assert asked.code == 4, asked
    assert console.view().question is not None
    gone_on = console("resume", run, "--yes", "--confirm", "r1", "--answer", "yes")
    assert gone_on.code == 0, gone_on
    console.assert_ended(RunState.DONE, gone_on)
    for router in ROUTERS:
        assert "colleague" in {one["_id"] for one in documents(mirrored, router, "databases")}


@pytest.mark.long
def test_that_no_config_server_is_stopped_while_a_mongos_runs(mirrored: Estate, console: Console) -> None:
    ran = console.killed_run("same-behind=done", NAME, "--confirm", "r1", **WINDOW)
    assert ran.code == KILLED, ran
    database.start(mirrored.spec, "r2")
    mongodb.wait_answers(mirrored.spec, "r2")
    mongodb.ask(mirrored.spec, "r2", {"enableSharding": "colleague"})
    stops = console("resume", console.runs()[0], "--yes", "--confirm", "r1")
    assert stops.code in {3, 4}, stops
    states = {one.step.step_id: one.state for one in console.view().steps}
    assert states["c1:down"] is not StepState.DONE
    if console.view().state is not RunState.UNDONE:
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code == 0, undone
    assert "colleague" in {one["_id"] for one in documents(mirrored, "r1", "databases")}
    assert is_mirrored(mirrored)


def _untold(running: Running, words: str) -> str | None:
    """Return what a console has said so far, None once these words are in it: a line may be broken anywhere."""
    assert running.terminal is not None
    said = " ".join(running.terminal.text.split())
    return None if words in said else f"it said {said[-300:]}"


@pytest.mark.long
def test_that_a_copy_never_begun_whose_server_was_started_again_is_told_at_once_and_made_once_it_is_stopped(
    mirrored: Estate, console: Console
) -> None:
    ran = console.killed_run("c3:copied=acting", NAME, "--confirm", "r1", **WINDOW)
    assert ran.code == KILLED, ran
    database.start(mirrored.spec, "c3")
    with console.running("resume", console.runs()[0], "--yes", "--confirm", "r1", attended=True) as resumed:
        wait_until("the console to tell why", lambda: _untold(resumed, "It cannot start now: pid "), limit_s=_SEEN_S)
        database.stop(mirrored.spec, "c3")
        ended = resumed.end()
    assert ended.code == 0, ended
    console.assert_ended(RunState.DONE, ended)


@pytest.mark.long
def test_that_an_undo_keeps_what_a_colleague_wrote_into_the_files_meanwhile(mirrored: Estate, console: Console) -> None:
    before, configured = hashes(mirrored, "c1"), files(mirrored)
    ran = console.killed_run("compared-set=acting", NAME, "--confirm", "r1", **WINDOW)
    assert ran.code == KILLED, ran
    own = {"c2": "# a colleague was here\n", "c3": "operationProfiling:\n  slowOpThresholdMs: 77\n"}
    for host, text in own.items():
        mirrored.host(host).sh(f"cat >> /etc/mongod.conf <<'END'\n{text}END")
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    assert files(mirrored) == configured | {host: configured[host] + text for host, text in own.items()}
    assert [hashes(mirrored, host) for host in MIRRORS] == [before] * 3
    assert is_mirrored(mirrored)


@pytest.mark.long
def test_that_two_thousand_chunks_go_over_and_no_row_is_lost(mirrored: Estate, console: Console) -> None:
    for asked in ({"enableSharding": "big"}, {"shardCollection": "big.many", "key": {"_id": 1}}):
        mongodb.ask(mirrored.spec, "r1", asked)
    for number in range(1, _CHUNKS):
        mongodb.ask(mirrored.spec, "r1", {"split": "big.many", "middle": {"_id": number * 10}})
    before = hashes(mirrored, "c1")
    with load(mirrored) as loads:
        ran = console.run(NAME, "--confirm", "r1", **WINDOW)
    assert ran.code == 0, ran
    del before["chunks"]  # a mongos splits one of the rows' own collection when it likes
    is_a_set_of(mirrored, MIRRORS, before)
    for one in loads.values():
        rows_are_there(mirrored, one.done)
    found = mongodb.ask(mirrored.spec, "r2", {"count": "chunks", "query": {"ns": "big.many"}}, database="config")
    assert found["n"] == _CHUNKS

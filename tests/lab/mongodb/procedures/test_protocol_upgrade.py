"""mongo-protocol-upgrade on real replica sets: to its end under writes, refused, killed and resumed, taken back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import mongodb
from tests.lab.mongodb.by_hand import reconfigure
from tests.lab.mongodb.procedures.conversion import anew
from tests.lab.procedures.console.steering import KILLED, Console

NAME = "mongo-protocol-upgrade"
MEMBERS = ("d1", "d2", "d3")
ANSWERS = {"steady": "6 s", "clients": "yes", "backup": "yes"}
SCRATCH = "pilothouse_trial"


@pytest.fixture
def old(mongo_rs: Estate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Estate]:
    """The set at protocolVersion 0, made so as before 3.2: one that was moved back keeps its terms. At 1 afterwards."""
    monkeypatch.setattr(mongodb, "PROTOCOL", 0)
    anew(mongo_rs)
    monkeypatch.undo()
    # The preferred member leads soon; its first entries reach everybody.
    _until(lambda: mongodb.states(mongo_rs.spec, "d1").get("d1") == "PRIMARY", limit_s=60)
    _insert(mongo_rs, 1)
    yield mongo_rs
    if set(_protocols(mongo_rs).values()) != {1}:
        anew(mongo_rs)  # not by a change: one that elected by terms before would lose its primary
    mongodb.wait_set(mongo_rs.spec, list(MEMBERS))


@pytest.fixture
def console(old: Estate, tmp_path: Path) -> Console:
    return Console(old, tmp_path / "data")


def _protocol(estate: Estate, version: int) -> None:
    reconfigure(estate, lambda config: config.update(protocolVersion=version))
    _until(lambda: _inserted(estate))
    _until(lambda: set(_protocols(estate).values()) == {version} and _same_form(estate, version))


def _inserted(estate: Estate) -> bool:
    """Whether somebody leads and takes a row: a change of the protocol may bring an election with it."""
    try:
        _insert(estate, 1)
    except LabError:
        return False
    return True


def _until(holds: Callable[[], bool], limit_s: float = 30.0) -> None:
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def _config(estate: Estate, host: str = "d1") -> dict[str, Any]:
    found: dict[str, Any] = mongodb.ask(estate.spec, host, {"replSetGetConfig": 1})["config"]
    return found


def _protocols(estate: Estate) -> dict[str, int]:
    return {host: _config(estate, host).get("protocolVersion", 0) for host in MEMBERS}


def _same_form(estate: Estate, version: int) -> bool:
    """Whether each member's newest entry is one of the protocol."""
    for host in MEMBERS:
        status = mongodb.ask(estate.spec, host, {"replSetGetStatus": 1})
        own = next(one for one in status["members"] if one.get("self"))
        optime = own["optime"]
        if (isinstance(optime, dict) and optime.get("t", -1) != -1) != (version == 1):
            return False
    return True


def _insert(estate: Estate, number: int, w: int | str = "majority") -> None:
    asked = {
        "insert": "rows",
        "documents": [{"_id": f"{time.time_ns()}-{number}"}],
        "writeConcern": {"w": w, "wtimeout": 10_000},
    }
    said = mongodb.ask(estate.spec, mongodb.primary(estate.spec), asked, database="lab", limit_s=15)
    assert said["n"] == 1, said
    assert "writeConcernError" not in said, said


@contextmanager
def _writes(estate: Estate) -> Iterator[list[str]]:
    """Writes every 50 ms on the primary, each acknowledged by the majority; yields those that were refused."""
    refused: list[str] = []
    done: list[int] = []
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.05) and len(done) < 2_000:
            try:
                _insert(estate, len(done))
            except (LabError, AssertionError) as problem:
                refused.append(str(problem))
            done.append(1)

    thread = threading.Thread(target=work, name="writer")
    before = _count(estate)
    thread.start()
    try:
        yield refused
    finally:
        over.set()
        thread.join(60)
    assert _count(estate) == before + len(done) - len(refused)
    assert len(done) > 20


def _count(estate: Estate) -> int:
    return int(mongodb.ask(estate.spec, mongodb.primary(estate.spec), {"count": "rows"}, database="lab")["n"])


def _databases(estate: Estate) -> set[str]:
    said = mongodb.ask(estate.spec, mongodb.primary(estate.spec), {"listDatabases": 1})
    return {one["name"] for one in said["databases"]}


def test_that_a_set_is_moved_to_protocol_1_without_a_refused_write_and_then_there_is_nothing_to_do(
    old: Estate, console: Console
) -> None:
    before = _config(old)
    with _writes(old) as refused:
        ran = console.run(NAME, **ANSWERS)
        assert ran.code == 0, ran
    assert refused == []
    console.assert_ended(RunState.DONE, ran)
    assert set(_protocols(old).values()) == {1}
    assert _config(old) == {**before, "version": before["version"] + 1, "protocolVersion": 1}
    assert _scratch(old) == set()
    console.assert_nothing_to_do(NAME)


def _scratch(estate: Estate) -> set[str]:
    return {name for name in _databases(estate) if name.startswith(SCRATCH)}


def test_that_a_database_of_a_persons_which_is_called_as_the_trials_begin_is_never_dropped(
    old: Estate, console: Console
) -> None:
    row = {"insert": "kept", "documents": [{"_id": 1}], "writeConcern": {"w": "majority"}}
    mongodb.ask(old.spec, mongodb.primary(old.spec), row, database=SCRATCH)
    try:
        ran = console.killed_run("steady=acting", NAME, **ANSWERS)
        assert ran.code == KILLED, ran
        assert _scratch(old) == {SCRATCH}
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code == 0, undone
        assert mongodb.ask(old.spec, mongodb.primary(old.spec), {"count": "kept"}, database=SCRATCH)["n"] == 1
    finally:
        mongodb.ask(old.spec, mongodb.primary(old.spec), {"dropDatabase": 1}, database=SCRATCH)


def test_that_nothing_begins_while_a_member_is_away(old: Estate, console: Console) -> None:
    before = _config(old)
    old.kill9("d3")
    try:
        ran = console.run(NAME, "--json", **ANSWERS)
        assert ran.code == 1, ran
        assert "SET-WHOLE" in ran.out + ran.err, ran
        assert console.runs() == ()
        assert _config(old) == before
    finally:
        old.start("d3")
    mongodb.wait_set(old.spec, list(MEMBERS))


def test_that_a_set_that_elected_by_terms_before_is_refused(old: Estate, console: Console) -> None:
    """3.2.5 would end the primary at its next step-down: terms begin at 0 again, and its members remember others."""
    _protocol(old, 1)
    with suppress(LabError):  # it ends the connection that asked for it
        mongodb.ask(old.spec, "d1", {"replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 3})
    for leads in (False, True):  # the preferred member leads again soon
        _until(lambda leads=leads: (mongodb.states(old.spec, "d1").get("d1") == "PRIMARY") is leads, limit_s=60)
    mongodb.wait_set(old.spec, list(MEMBERS))
    _protocol(old, 0)
    ran = console.run(NAME, "--json", **ANSWERS)
    assert ran.code == 1, ran
    assert "TERMS-BEFORE" in ran.out + ran.err, ran
    assert console.runs() == ()


@pytest.mark.parametrize(
    "when",
    [
        "protocol-rs0=acting",
        pytest.param("protocol-rs0=proving", marks=pytest.mark.long),
        pytest.param("entries-rs0=acting", marks=pytest.mark.long),
        "majority-rs0=acting",
        pytest.param("majority-rs0=proving", marks=pytest.mark.long),
        pytest.param("steady=acting", marks=pytest.mark.long),
        *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 24)),
    ],
)
def test_that_a_run_whose_console_was_killed_ends_like_an_unbroken_one(
    old: Estate, console: Console, when: int | str
) -> None:
    before = _config(old)
    ran = console.killed_run(when, NAME, **ANSWERS)
    if ran.code != KILLED:
        assert isinstance(when, int), ran
        assert ran.code == 0, ran  # it has fewer entries than this one
        return
    if console.runs() and console.view().state is not RunState.DONE:
        again = console("resume", console.runs()[0], "--yes")
        assert again.code == 0, again
    elif not console.runs():
        assert console.run(NAME, **ANSWERS).code == 0
    console.assert_ended(RunState.DONE)
    assert _config(old) == {**before, "version": before["version"] + 1, "protocolVersion": 1}
    assert _scratch(old) == set()


def test_that_a_run_is_taken_back_to_protocol_0_with_everything_else_as_it_was(old: Estate, console: Console) -> None:
    before = _config(old)
    ran = console.killed_run("steady=acting", NAME, **ANSWERS)
    assert ran.code == KILLED, ran
    assert set(_protocols(old).values()) == {1}
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert _config(old) == {**before, "version": before["version"] + 2}
    assert _scratch(old) == set()


@pytest.mark.parametrize("confirmed", [False, True])
def test_that_a_run_is_taken_back_at_another_member_that_was_elected_since(
    old: Estate, console: Console, *, confirmed: bool
) -> None:
    """It elected by terms: back at 0 it would be barred from 1, so a person has to say so."""
    ran = console.killed_run("steady=acting", NAME, **ANSWERS)
    assert ran.code == KILLED, ran
    before = mongodb.primary(old.spec)
    with suppress(LabError):  # it ends the connection that asked for it
        mongodb.ask(old.spec, before, {"replSetStepDown": 120, "secondaryCatchUpPeriodSecs": 10})
    _until(lambda: mongodb.states(old.spec, before).get(before) == "SECONDARY", limit_s=60)
    mongodb.wait_set(old.spec, list(MEMBERS))
    undone = console("undo", console.runs()[0], *(("--confirm", "rs0") if confirmed else ()), "--yes")
    console.assert_ended(RunState.UNDONE, undone)
    assert ("stays at protocolVersion 1" in undone.out + undone.err) is not confirmed, undone
    assert set(_protocols(old).values()) == ({0} if confirmed else {1})


def test_that_what_a_colleague_reconfigured_since_the_plan_is_not_overwritten(old: Estate, console: Console) -> None:
    ran = console.killed_run("protocol-rs0=acting", NAME, **ANSWERS)
    assert ran.code == KILLED, ran
    if set(_protocols(old).values()) == {1}:
        pytest.fail("the act was made before the entry: the journal is written first")
    reconfigure(old, lambda config: config["members"][2].update(tags={"by": "a colleague"}))
    theirs = _config(old)
    again = console("resume", console.runs()[0], "--yes")
    assert again.code in {3, 4}, again
    assert "somebody else changed it" in again.out + again.err, again
    assert _config(old) == theirs
    reconfigure(old, lambda config: config["members"][2].pop("tags", None))

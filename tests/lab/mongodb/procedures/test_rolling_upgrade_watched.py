"""While somebody has a member of a real set in hand the others are watched: one dies, is back, dies again, is late.

What a newcomer met: the banner said 'stop d2' while d3 was dead, and again once its first warning had been told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.procedures.plan.run_model import Broken, RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb
from tests.lab.procedures.console.steering import Console

NAME = "mongo-rolling-upgrade"
ANSWERS = ("version=3.2.6", "calm=5 s", "clients=yes", "backup=yes")
_SEEN_S, _MENDED_S, _LATE_S = 40.0, 60.0, 120.0
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def whole(mongo_rs: Estate) -> Iterator[Estate]:
    """The set, whole again afterwards."""
    yield mongo_rs
    if database.pid(mongo_rs.spec, "d3") is None:
        database.start(mongo_rs.spec, "d3")
    mongodb.wait_set(mongo_rs.spec, ["d1", "d2", "d3"])


def _waits(console: Console, until: Callable[[tuple[Broken, ...]], bool], limit_s: float) -> None:
    end = time.monotonic() + limit_s
    while not until(console.view().broken):
        assert time.monotonic() < end, console.view().broken
        time.sleep(0.5)


def _of(broken: tuple[Broken, ...], code: str) -> list[bool]:
    return [one.over is not None for one in broken if one.code == code]


def test_that_each_death_of_another_member_is_told_and_each_return(whole: Estate, tmp_path: Path) -> None:
    console = Console(whole, tmp_path / "data")
    inputs = [word for one in ANSWERS for word in ("--input", one)]
    with console.running("run", NAME, *inputs, "--yes", attended=True) as running:
        running.wait_for_step("d2:replace")
        for deaths in (1, 2):
            database.kill(whole.spec, "d3")
            _waits(console, lambda b, n=deaths: _of(b, "MAJORITY-D2") == [True] * (n - 1) + [False], _SEEN_S)  # type: ignore[misc]
            database.start(whole.spec, "d3")
            _waits(console, lambda b, n=deaths: _of(b, "MAJORITY-D2") == [True] * n, _MENDED_S)  # type: ignore[misc]
        assert console.view().state is RunState.WAITING
        assert running.terminal is not None
        assert running.terminal.text.count("MAJORITY-D2: rs0 has no majority without d2 now") == 4, (
            "both, broken and over"
        )
        running.kill()
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone


def test_that_a_member_that_falls_behind_is_told_before_another_one_is_stopped(whole: Estate, tmp_path: Path) -> None:
    console = Console(whole, tmp_path / "data")
    inputs = [word for one in ANSWERS for word in ("--input", one)]
    with console.running("run", NAME, *inputs, "--yes", attended=True) as running:
        running.wait_for_step("d2:replace")
        mongodb.ask(whole.spec, "d3", {"fsync": 1, "lock": True})  # it takes no write: as a full disk, or a slow one
        try:
            end = time.monotonic() + _LATE_S
            while _of(console.view().broken, "BEHIND-D2") != [False]:
                row = {"insert": "late", "documents": [{"at": time.time()}], "writeConcern": {"w": 1}}
                mongodb.ask(whole.spec, mongodb.primary(whole.spec), row, database="watched")
                assert time.monotonic() < end, console.view().broken
                time.sleep(1.0)
        finally:
            mongodb.ask(whole.spec, "d3", {"fsyncUnlock": 1})
        _waits(console, lambda b: _of(b, "BEHIND-D2") == [True], _MENDED_S)
        assert _of(console.view().broken, "MAJORITY-D2") == []
        running.kill()
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone

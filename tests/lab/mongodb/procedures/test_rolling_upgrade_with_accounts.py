"""mongo-rolling-upgrade on a real set with a keyfile, SCRAM and an arbiter that tells nobody its set: it comes first.

As in test_rolling_upgrade.py the new release is the same program that calls itself 3.2.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import container
from tests.lab.estate.servers import database, mongodb
from tests.lab.mongodb.by_hand import as_pilot, inventory_of, wait_led_by
from tests.lab.procedures.console.steering import Console

NAME = "mongo-rolling-upgrade"
OLD, NEW = "3.2.5", "3.2.6"
ANSWERS = {"version": NEW, "calm": "5 s", "clients": "yes", "backup": "yes"}
MEMBERS = ("a1", "d1", "d2")
_PROGRAM = "/usr/local/bin/mongod"


def _version(estate: Estate, host: str) -> str:
    return str(mongodb.ask(estate.spec, host, {"buildInfo": 1})["version"])


def _replace(estate: Estate, host: str, before: str, after: str) -> None:
    database.stop(estate.spec, host)
    container.sh(estate.spec, host, f"sed -i 's/{before}/{after}/g' {_PROGRAM}")
    database.start(estate.spec, host)
    mongodb.wait_answers(estate.spec, host)
    assert _version(estate, host) == after


@pytest.fixture
def old(mongo_auth_estate: Estate) -> Iterator[Estate]:
    """The set, with the old programs again afterwards, and d1 as its primary."""
    wait_led_by(mongo_auth_estate, "d1")
    yield mongo_auth_estate
    for host in MEMBERS:
        if _version(mongo_auth_estate, host) != OLD:
            _replace(mongo_auth_estate, host, NEW, OLD)
    wait_led_by(mongo_auth_estate, "d1")


def test_that_an_arbiter_that_tells_nobody_is_replaced_first_and_the_primary_last(old: Estate, tmp_path: Path) -> None:
    console = Console(old, tmp_path / "data", inventory_of(old, tmp_path))
    ran = console.run(NAME, **ANSWERS)
    turn = []
    for _ in MEMBERS:
        assert ran.code == 4, ran
        view = console.view()
        assert view.state is RunState.WAITING, view.sentence
        assert view.question is not None
        host = view.question.step_id.partition(":")[0]
        turn.append(host)
        assert not mongodb.ask(old.spec, host, {"isMaster": 1})["ismaster"]
        _replace(old, host, OLD, NEW)
        ran = console("resume", console.runs()[0], "--answer", "yes", "--yes")
    assert turn == ["a1", "d2", "d1"]
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    assert {_version(old, host) for host in MEMBERS} == {NEW}
    wait_led_by(old, "d1")  # it has the higher priority, and takes the lead again
    row = {"insert": "rows", "documents": [{"by": "hand"}], "writeConcern": {"w": 2, "wtimeout": 20_000}}
    as_pilot(old, "d1", "lab", row)  # its first entry after the pause is no lag of the other one
    console.assert_nothing_to_do(NAME, **ANSWERS)

"""mongo-protocol-upgrade on a real set with a keyfile, SCRAM and an arbiter: who may change it, and who may not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import mongodb
from tests.lab.mongodb.by_hand import as_pilot, inventory_of, wait_led_by
from tests.lab.mongodb.procedures.conversion import anew
from tests.lab.procedures.console.steering import Console

NAME = "mongo-protocol-upgrade"
ANSWERS = {"steady": "5 s", "clients": "yes", "backup": "yes"}


@pytest.fixture
def old(mongo_auth_estate: Estate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Estate]:
    """The set at protocolVersion 0, made so; at 1 afterwards."""
    monkeypatch.setattr(mongodb, "PROTOCOL", 0)
    anew(mongo_auth_estate)
    monkeypatch.undo()
    wait_led_by(mongo_auth_estate, "d1")
    yield mongo_auth_estate
    if _protocol(mongo_auth_estate) != 1:
        anew(mongo_auth_estate)
        wait_led_by(mongo_auth_estate, "d1")


def _console(estate: Estate, tmp_path: Path, *, may_change: bool) -> Console:
    return Console(estate, tmp_path / "data", inventory_of(estate, tmp_path, may_change=may_change))


def _protocol(estate: Estate) -> int:
    config = as_pilot(estate, "d1", "admin", {"replSetGetConfig": 1})["config"]
    return int(config.get("protocolVersion", 0))


def test_that_the_account_for_changes_moves_a_set_with_an_arbiter_that_tells_nobody(
    old: Estate, tmp_path: Path
) -> None:
    console = _console(old, tmp_path, may_change=True)
    ran = console.run(NAME, **ANSWERS)
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    assert _protocol(old) == 1
    assert "arbiters: 10.213.18.14:27018" in " ".join(ran.out.split())  # 3.2 elects less well with one: it was told


def test_that_an_account_that_may_only_watch_changes_nothing_and_the_role_it_lacks_is_named(
    old: Estate, tmp_path: Path
) -> None:
    console = _console(old, tmp_path, may_change=False)
    ran = console.run(NAME, **ANSWERS)
    assert ran.code == 1, ran
    assert console.runs() == ()
    assert "OPERATOR-RIGHTS" in ran.out + ran.err, ran
    assert "clusterManager" in ran.out + ran.err, ran
    accepted = console.run(NAME, "--override", "OPERATOR-RIGHTS=a test", **ANSWERS)
    assert accepted.code == 3, accepted  # the server has the last word
    console.assert_ended(RunState.UNDONE, accepted)
    assert _protocol(old) == 0

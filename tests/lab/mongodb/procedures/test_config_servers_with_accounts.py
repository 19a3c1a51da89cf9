"""mongo-config-rs on real servers with a keyfile and SCRAM: by an account for changes, and not by one that watches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.connections.reads.mongo import HASHED
from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.mongodb.by_hand import as_pilot, inventory_of
from tests.lab.mongodb.procedures.conversion import files
from tests.lab.procedures.console.steering import KILLED, Console

NAME = "mongo-config-rs"
ANSWERS = {"new": "n1,n2", "name": "csrs", "no_ddl": "yes", "no_others": "yes"}


@pytest.fixture
def locked(mongo_keys_estate: Estate) -> Iterator[Estate]:
    """The cluster with access control; made anew where a test has converted it."""
    before = files(mongo_keys_estate)
    yield mongo_keys_estate
    if files(mongo_keys_estate) != before or _rest(mongo_keys_estate):
        mongo_keys_estate.down()
        mongo_keys_estate.up()
    mongo_keys_estate.host("c3").sh("rm -rf /var/lib/mysql/pilothouse-config-backup*")


def _rest(estate: Estate) -> list[str]:
    """Names of sets whose configuration lies in the data of the first config server."""
    found = as_pilot(estate, "c1", "local", {"find": "system.replset"})["cursor"]["firstBatch"]
    return [one["_id"] for one in found]


def _hashes(estate: Estate, host: str) -> dict[str, Any]:
    found = as_pilot(estate, host, "config", {"dbHash": 1, "collections": list(HASHED)})["collections"]
    return {name: found[name] for name in HASHED if name in found}


def _users(estate: Estate, host: str) -> set[str]:
    return {one["user"] for one in as_pilot(estate, host, "admin", {"usersInfo": 1})["users"]}


@pytest.mark.timeout(900)
def test_that_the_rolling_way_brings_users_and_metadata_to_members_with_the_key(locked: Estate, tmp_path: Path) -> None:
    console = Console(locked, tmp_path / "data", inventory_of(locked, tmp_path))
    before, users = _hashes(locked, "c1"), _users(locked, "c1")
    ran = console.run(NAME, "--confirm", "c1", **ANSWERS)
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    for host in ("c1", "n1", "n2"):
        assert _hashes(locked, host) == before
        assert _users(locked, host) == users >= {"watch", "pilot", "blind"}
    for router in ("r1", "r2"):
        told = as_pilot(locked, router, "admin", {"getShardMap": 1})["map"]["config"]
        assert told.startswith("csrs/")
        said = as_pilot(locked, router, "shop", {"insert": "orders", "documents": [{"_id": f"by {router}"}]})
        assert said["n"] == 1, said


def _may_clear(estate: Estate) -> None:
    """Give the account what no built-in role has."""
    where = {"db": "local", "collection": "system.replset"}
    role = {"createRole": "clears", "privileges": [{"resource": where, "actions": ["remove"]}], "roles": []}
    as_pilot(estate, "r1", "admin", role)
    as_pilot(estate, "r1", "admin", {"grantRolesToUser": "pilot", "roles": ["clears"]})


@pytest.mark.timeout(900)
@pytest.mark.parametrize("may_clear", [False, True])
def test_that_a_run_is_taken_back_and_what_no_built_in_role_may_remove_is_told(
    locked: Estate,
    tmp_path: Path,
    may_clear: bool,
) -> None:
    if may_clear:
        _may_clear(locked)
    console = Console(locked, tmp_path / "data", inventory_of(locked, tmp_path))
    before, configured = _hashes(locked, "c1"), files(locked)
    ran = console.killed_run("step-down=proving", NAME, "--confirm", "c1", **ANSWERS)
    assert ran.code == KILLED, ran
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert files(locked) == configured
    assert [_hashes(locked, host) for host in ("c1", "c2", "c3")] == [before] * 3
    assert _rest(locked) == ([] if may_clear else ["csrs"])
    words = " ".join(undone.out.split())
    assert ("The configuration of csrs is in the data of c1" in words.partition("This remains: ")[2]) is not may_clear
    if not may_clear:  # it is seen before the next run, which would build on it
        again = console.run(NAME, "--confirm", "c1", **{**ANSWERS, "backup": "/var/lib/mysql/other"})
        assert again.code == 1, again
        assert "the data of c1 contain the configuration of csrs" in " ".join(again.out.split()), again


def test_that_an_account_that_may_only_watch_begins_nothing(locked: Estate, tmp_path: Path) -> None:
    console = Console(locked, tmp_path / "data")
    ran = console.run(NAME, "--confirm", "c1", **ANSWERS)
    assert ran.code == 1, ran
    assert "OPERATOR-RIGHTS" in ran.out + ran.err, ran
    assert console.runs() == ()

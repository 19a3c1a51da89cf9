"""mongo-config-rs: what is looked at on a new host is what the run writes there, and what its server starts with."""

from __future__ import annotations

import pytest

from services.facts.yaml_files.settings import settings_of
from services.procedures.catalogue.mongodb.config_servers.member import file_of
from services.procedures.catalogue.mongodb.config_servers.party import party_of
from services.procedures.catalogue.mongodb.config_servers.room import copies_of
from services.procedures.conditions.machine.there import FolderEmpty
from services.procedures.plan.actions import PutFile, Several
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.parts.mongodb.key_files import KeyFile, KeyFiles
from services.procedures.plan.parts.mongodb.process import MongoProcess
from tests.unit.procedures.catalogue.mongodb.test_mongo_config_rs import (
    PROCEDURE,
    ROLLING,
    _blocks,
    _data,
    _facts,
    _plan,
    _process,
    _with,
)

KEY = "/etc/mongodb/key"
OWN_KEY = KeyFile(KEY, "a1", owner=100, shared=False)


def _up(plan: Plan) -> Step:
    return next(step for step in plan.steps if step.step_id == "n1:up")


def test_that_a_new_member_gets_the_folder_that_was_looked_at() -> None:
    """The config servers' folders differ: the one of the first was never looked at on the new host, and root emptied
    it there with the account of another folder."""
    facts = _data(_facts(), "n1", path="/data/other")
    party = party_of(facts, {**ROLLING, "way": "rolling"})
    assert FolderEmpty("n1", "/data/other") in _up(_plan(facts)).before
    assert "dbPath: /data/other" in file_of(party, "n1")
    assert [one.path for one in copies_of(party) if one.host == "n1"] == ["/data/other"]


def test_that_the_file_is_written_that_the_new_hosts_unit_names() -> None:
    """By the first config server's name for it the new one started with the package's own file, with servers stopped
    before: the run failed there."""
    facts = _process(_facts(), "n1", path="/etc/mongodb/mongod.conf", given=(("config", "/etc/mongodb/mongod.conf"),))
    assert _blocks(facts) == []
    action = _up(_plan(facts)).action
    assert isinstance(action, Several)
    put = action.actions[0]
    assert isinstance(put, PutFile)
    assert put.path == "/etc/mongodb/mongod.conf"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"path": "", "given": (("config", ""),)}, "starts its server without a configuration file"),
        (
            {"path": "/opt/mongodb/mongod.conf", "open_way": "others than root may write into /opt/mongodb"},
            "root does not write",
        ),
        (
            {"given": (("config", "/etc/mongod.conf"), ("storage.dbPath", "/elsewhere"))},
            "--dbpath /elsewhere on",
        ),
        ({"given": (("config", "/etc/mongod.conf"), ("net.port", "27017"))}, "--port 27017 on"),
        ({"given": (("sharding.clusterRole", "shardsvr"),)}, "sharding.clusterRole shardsvr on"),
        ({"given": (("net.bindIp", "127.0.0.1"),)}, "--bind_ip 127.0.0.1 on"),
        ({"given": (("security.keyFile", "/etc/other"),)}, "--keyFile /etc/other on"),
        ({"given": (("sharding.configsvrMode", "sccc"),)}, "--configsvrMode sccc on"),
    ],
)
def test_that_a_unit_which_starts_with_something_else_blocks_before_anything_is_stopped(
    more: dict[str, object], told: str
) -> None:
    facts = _process(_facts(), "n1", **more)
    assert _blocks(facts) == ["NEW-HOSTS"]
    check = next(one for one in PROCEDURE.preflight(facts, ROLLING) if one.code == "NEW-HOSTS")
    assert told in check.evidence
    assert "On n1: " in check.try_[0]


def test_that_an_option_which_says_the_same_as_the_file_is_no_fault() -> None:
    given = (("config", "/etc/mongod.conf"), ("net.port", "27019"), ("sharding.clusterRole", "configsvr"))
    assert _blocks(_process(_facts(), "n1", given=given)) == []


@pytest.mark.parametrize("more", [{"owner_name": "mysql", "owner": 101}, {"owner_name": "", "owner": 101}])
def test_that_a_folder_of_another_account_than_the_units_blocks(more: dict[str, object]) -> None:
    """The server did not start there, with the first config server restarted before."""
    facts = _data(_facts(), "n1", **more)
    assert _blocks(facts) == ["CONFIG-FOLDERS"]
    check = next(one for one in PROCEDURE.preflight(facts, ROLLING) if one.code == "CONFIG-FOLDERS")
    assert "mongod.service runs its server as mongod" in check.evidence
    assert _blocks(_process(facts, "n1", user="101")) == [], "a unit may name it by its number"


def _check(facts: Facts) -> Check:
    return next(one for one in PROCEDURE.preflight(facts, ROLLING) if one.code == "NEW-HOSTS")


def _settings(facts: Facts, host: str, **more: str | int | bool) -> Facts:
    told = tuple(
        sorted((*facts.host(host)[MongoProcess].settings, *((k.replace("_", "."), v) for k, v in more.items())))
    )
    return _process(facts, host, settings=told)


def test_that_whether_it_forks_and_where_it_logs_stays_as_the_new_hosts_own_file_has_it() -> None:
    """A unit that waits for a fork ended its server after 90 s, with the first config server restarted before."""
    facts = _settings(_facts(), "c1", processManagement_fork=True, systemLog_path="/data/log/mongod.log")
    own = _settings(facts, "n1", systemLog_path="/var/log/mongodb/mongod.log", storage_dbPath="/data/db")
    party = party_of(own, {**ROLLING, "way": "rolling"})
    settings = settings_of(file_of(party, "n1"))
    assert "processManagement.fork" not in settings
    assert settings["systemLog.path"] == "/var/log/mongodb/mongod.log"
    assert settings_of(file_of(party, "n2"))["processManagement.fork"] is True, "it has no file: as the first one"


def test_that_what_stands_on_the_first_ones_command_line_is_written_for_the_new_ones() -> None:
    """Its key stood there alone: the new member started without one, and could not join."""
    given = (("config", "/etc/mongod.conf"), ("net.bindIp", "127.0.0.1,10.0.0.1"), ("security.keyFile", KEY))
    facts = _process(_facts(), "c1", given=given)
    settings = settings_of(file_of(party_of(facts, {**ROLLING, "way": "rolling"}), "n1"))
    assert settings["security.keyFile"] == KEY
    assert settings["net.bindIp"] == "127.0.0.1,n1"
    assert "config" not in settings


@pytest.mark.parametrize("more", [{"others": ("setParameter.x",)}, {"given": (("net.ssl.mode", "requireSSL"),)}])
def test_that_what_is_not_carried_over_blocks_and_names_the_way_that_needs_no_new_host(
    more: dict[str, object],
) -> None:
    facts = _process(_facts(), "c1", **more)
    assert _blocks(facts) == ["NEW-HOSTS"]
    assert "Choose the maintenance window" in _check(facts).try_[0]


def _keyed(there: KeyFile | None, own: KeyFile | None = OWN_KEY) -> Facts:
    facts = _settings(_facts(), "c1", security_keyFile=KEY)
    for host, one in (("c1", own), ("n1", there), ("n2", OWN_KEY)):
        part = KeyFiles((one,) if one is not None else ())
        facts = _with(facts, host, lambda had, part=part: had.with_part(part))
    return facts


@pytest.mark.parametrize(
    ("there", "own", "told"),
    [
        (KeyFile(KEY, absent=True), OWN_KEY, f"n1: {KEY} does not exist"),
        (KeyFile(KEY, "b2", owner=100, shared=False), OWN_KEY, "differs from the file on c1"),
        (KeyFile(KEY, "a1", owner=100, shared=True), OWN_KEY, "accounts other than its owner can access"),
        (KeyFile(KEY, "a1", owner=0, shared=False), OWN_KEY, "belongs to the account 0"),
        (KeyFile(KEY, owner=100, shared=False), OWN_KEY, f"{KEY} of n1 could not be read"),
        (None, OWN_KEY, f"{KEY} of n1 could not be read"),
        (OWN_KEY, None, f"{KEY} of c1 could not be read"),
    ],
)
def test_that_a_new_host_without_the_clusters_own_key_blocks_before_anything_is_stopped(
    there: KeyFile | None, own: KeyFile | None, told: str
) -> None:
    """It was only named: without it the new server did not start, with another one it could not join."""
    facts = _keyed(there, own)
    assert _blocks(facts) == ["NEW-HOSTS"]
    assert told in _check(facts).evidence
    assert any(f"Copy {KEY} of c1 to n1" in way for way in _check(facts).try_)


def test_that_the_same_key_of_the_servers_own_is_told() -> None:
    facts = _keyed(OWN_KEY)
    assert _blocks(facts) == []
    assert f"{KEY} is the same on each" in _check(facts).evidence

"""Semi-synchronous replication: what recorded servers tell of it, what is drawn, and what is not made up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.discovery.looks.probe import probe
from services.discovery.model import ClusterSnapshot, NodeView
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts, SemiSyncFacts
from services.facts.replication.semi_sync import parse_semi_sync
from services.types import Health
from tests.unit.discovery import scenes as s
from tests.unit.recorded.replies import ReplaySession, load


def _facts(name: str) -> dict[str, NodeFacts]:
    found = load(f"mysql/9.7.4-{name}.json")
    clock = ManualClock(found["at"] + 1)
    return {h: probe(ReplaySession(h, a), clock, address=a["address"]) for h, a in found["hosts"].items()}


def _drawn(facts: dict[str, NodeFacts]) -> ClusterSnapshot:
    at = max(one.at for one in facts.values())
    return next(c for c in updated_estate(None, facts, at).clusters if c.replication)


def _number(node: NodeView | None) -> tuple[str, str, Health] | None:
    assert node is not None
    return next((number for number in node.numbers if number[0] == "semi-sync"), None)


def test_that_a_real_source_its_semi_synchronous_and_its_plain_replica_are_told_apart() -> None:
    facts = _facts("async-healthy")
    source, replica = facts["a1"].semi_sync, facts["a2"].semi_sync
    assert source is not None
    assert (source.source_enabled, source.source_active, source.clients, source.wanted) == (True, True, 1, 1)
    assert (source.timeout_ms, source.wait_point) == (10_000, "AFTER_SYNC")
    assert (source.acknowledged, source.not_acknowledged) == (100, 11)
    assert replica is not None
    assert (replica.source_enabled, replica.replica_enabled, replica.replica_active) == (False, True, True)
    assert facts["a3"].semi_sync is None
    drawn = _drawn(facts)
    assert {e.replica_id: e.semi_sync for e in drawn.replication} == {"a2": True, "a3": None}
    assert _number(drawn.node("a1")) == ("semi-sync", "1 of 1", Health.GOOD)
    assert drawn.health is Health.GOOD


def test_that_a_real_source_that_went_on_without_its_replica_is_no_good_source() -> None:
    drawn = _drawn(_facts("async-semi-sync-off"))
    node = drawn.node("a1")
    assert node is not None
    assert (node.health, drawn.health) == (Health.WARN, Health.WARN)
    assert node.reason.startswith(
        "semi-synchronous replication has fallen back to asynchronous: 0 of 1 semi-sync replicas"
    )
    assert "14 commits since the start were not acknowledged" in node.reason
    assert _number(node) == ("semi-sync", "fallen back", Health.WARN)


def test_that_the_old_words_of_mysql_and_mariadb_are_read_too() -> None:
    status = {
        "Rpl_semi_sync_master_status": "OFF", "Rpl_semi_sync_master_clients": "0", "Rpl_semi_sync_slave_status": "OFF",
        "Rpl_semi_sync_master_no_tx": "7",
    }  # fmt: skip
    variables = {
        "rpl_semi_sync_master_enabled": "ON", "rpl_semi_sync_slave_enabled": "OFF",
        "rpl_semi_sync_master_wait_for_slave_count": "2", "rpl_semi_sync_master_timeout": "500",
    }  # fmt: skip
    found = parse_semi_sync(status, variables)
    assert found is not None
    assert (found.source_enabled, found.source_active, found.clients, found.wanted) == (True, False, 0, 2)
    assert (found.timeout_ms, found.not_acknowledged, found.replica_enabled) == (500, 7, False)
    assert parse_semi_sync({}, {"version": "11.8"}) is None


ACTIVE = SemiSyncFacts(source_enabled=True, source_active=True, clients=1)
REPLICA = SemiSyncFacts(source_enabled=False, source_active=False, replica_enabled=True, replica_active=True)


def _pair(source: SemiSyncFacts | None, replica: SemiSyncFacts | None) -> ClusterSnapshot:
    return s.only(s.estate(replace(s.plain(1), semi_sync=source), replace(s.plain(2, s.channel(1)), semi_sync=replica)))


@pytest.mark.parametrize(
    ("source", "replica", "told"),
    [
        (ACTIVE, REPLICA, True),
        (replace(ACTIVE, source_active=False), REPLICA, False),
        (ACTIVE, replace(REPLICA, replica_active=False), False),
        (replace(ACTIVE, source_enabled=False), REPLICA, None),
        (None, REPLICA, True),
        (ACTIVE, replace(REPLICA, replica_active=None), None),
        (ACTIVE, None, None),
    ],
)
def test_that_an_edge_tells_only_what_both_ends_say(
    source: SemiSyncFacts | None, replica: SemiSyncFacts | None, told: bool | None
) -> None:
    assert [e.semi_sync for e in _pair(source, replica).replication] == [told]


def test_that_too_few_replicas_are_told_before_the_next_commit_has_to_wait() -> None:
    node = _pair(replace(ACTIVE, clients=1, wanted=2, timeout_ms=10_000), REPLICA).node("db1")
    assert node is not None
    assert node.health is Health.WARN
    assert "1 of 2 semi-sync replicas connected, the next commit will wait for more; after 10 s" in node.reason
    held = _pair(replace(ACTIVE, clients=0, waiting=3), REPLICA).node("db1")
    assert held is not None
    assert "0 of 1 semi-sync replicas connected, commits wait for more now" in held.reason


def test_that_what_was_not_read_is_not_known_and_what_is_switched_off_is_not_spoken_of() -> None:
    unread = _pair(replace(ACTIVE, source_active=None), REPLICA).node("db1")
    assert _number(unread) == ("semi-sync", "not known", Health.UNKNOWN)
    off = _pair(replace(ACTIVE, source_enabled=False), None).node("db1")
    assert off is not None
    assert (_number(off), off.health, off.reason) == (None, Health.GOOD, "")


def test_that_a_replica_which_is_ready_to_be_a_source_and_has_no_replicas_is_well() -> None:
    node = _pair(ACTIVE, replace(REPLICA, source_enabled=True, source_active=False, clients=0)).node("db2")
    assert node is not None
    assert node.health is Health.GOOD


@pytest.mark.parametrize("wanted", ["many", "-1", "0", "1.5"])
def test_that_a_count_of_acknowledgements_that_can_not_be_read_is_not_one(wanted: str) -> None:
    variables = {"rpl_semi_sync_source_enabled": "ON", "rpl_semi_sync_source_wait_for_replica_count": wanted}
    told = parse_semi_sync({"Rpl_semi_sync_source_status": "ON", "Rpl_semi_sync_source_clients": "1"}, variables)
    assert told is not None
    assert told.wanted is None
    node = _pair(told, REPLICA).node("db1")
    assert node is not None
    assert node.health is Health.UNKNOWN
    assert "how many acknowledgements its commits wait for is not known" in node.reason
    assert _number(node) == ("semi-sync", "1 of ?", Health.UNKNOWN)
    none = _pair(replace(told, clients=0), REPLICA).node("db1")
    assert none is not None
    assert none.health is Health.WARN  # whatever it waits for, it is one at least
    del variables["rpl_semi_sync_source_wait_for_replica_count"]
    mariadb = parse_semi_sync({}, variables)
    assert mariadb is not None
    assert mariadb.wanted == 1

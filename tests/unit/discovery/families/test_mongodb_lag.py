"""Lag and oplog of the members of a replica set: who is behind, by how much, and who can not come back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.connections.mongo.document import Stamp
from services.discovery.model import ClusterSnapshot, NodeView
from services.discovery.snapshot import updated_estate
from services.facts.mongodb.oplog import Oplog
from services.types import Health
from tests.unit.discovery import mongo_scenes as m
from tests.unit.discovery import scenes as s


def told(cluster: ClusterSnapshot) -> dict[str, tuple[str, Health]]:
    return {n.name: (n.state, n.health) for n in cluster.nodes}


def node(cluster: ClusterSnapshot, name: str) -> NodeView:
    return next(n for n in cluster.nodes if n.name == name)


@pytest.mark.parametrize(("behind", "health"), [(5, Health.GOOD), (11, Health.WARN), (61, Health.BAD)])
def test_that_lag_is_of_what_both_say_of_themselves(behind: int, health: Health) -> None:
    heard = m.rows("PRIMARY", "SECONDARY", "SECONDARY")  # an old heartbeat tells no lag
    own = (m.row(1, "PRIMARY"), m.row(2, behind=behind), m.row(3))
    cluster = s.only(s.estate(m.member(1, m.view(1, heard)), m.member(2, m.view(2, own)), m.member(3)))
    assert told(cluster)["m2"] == ("SECONDARY", health)


def test_that_the_delay_of_a_delayed_member_is_no_lag_and_stands_in_its_role() -> None:
    late = (m.row(1, "PRIMARY"), m.row(2, behind=3600, delay_s=3600, priority=0.0, hidden=True), m.row(3))
    cluster = s.only(s.estate(*(m.member(n, m.view(n, late)) for n in (1, 2, 3))))
    assert told(cluster)["m2"] == ("SECONDARY", Health.GOOD)
    assert node(cluster, "m2").role == "hidden"


def test_that_a_member_behind_every_oplog_can_not_come_back_and_one_that_nears_it_is_told() -> None:
    short = Oplog(Stamp(m.NOW - 100, 1), Stamp(m.NOW, 1), 10**9, 10**9)
    for behind, health, words in (
        (200, Health.BAD, "initial sync"),
        (80, Health.BAD, "remain in the oplog that it needs"),
    ):
        seen = (m.row(1, "PRIMARY"), m.row(2, behind=behind), m.row(3))
        hosts = [m.member(n, m.view(n, seen), oplog=short) for n in (1, 2, 3)]
        cluster = s.only(s.estate(*hosts))
        assert told(cluster)["m2"] == ("SECONDARY", health)
        assert words in node(cluster, "m2").reason


def test_that_the_first_write_after_a_pause_makes_nobody_look_behind_by_the_whole_pause() -> None:
    """3.2 makes no entries by itself: the primary is read right after the write, the member was read before it."""
    quiet = (m.row(1, "PRIMARY", behind=3600), m.row(2, behind=3600), m.row(3, behind=3600))
    before = s.estate(*(m.member(n, m.view(n, quiet)) for n in (1, 2, 3)))
    written = (m.row(1, "PRIMARY"), m.row(2, behind=3600), m.row(3, behind=3600))
    primary = replace(m.member(1, m.view(1, written)), sql_at=s.AT + 1.0, at=s.AT + 1.0)
    others = [replace(m.member(n, m.view(n, quiet)), sql_at=s.AT + 0.5, at=s.AT + 0.5) for n in (2, 3)]
    cluster = s.only(updated_estate(before, {f.host: f for f in (primary, *others)}, s.AT + 1))
    assert told(cluster)["m2"] == ("SECONDARY", Health.GOOD)
    late = [replace(m.member(n, m.view(n, quiet)), sql_at=s.AT + 1.5, at=s.AT + 1.5) for n in (2, 3)]
    held = s.only(updated_estate(before, {f.host: f for f in (primary, *late)}, s.AT + 2))
    assert told(held)["m2"] == ("SECONDARY", Health.BAD)  # asked after the write, and it still has nothing of it


def test_that_a_delayed_member_that_is_behind_its_delay_is_not_known_to_be_stuck() -> None:
    late = (m.row(1, "PRIMARY"), m.row(2, behind=3700, delay_s=3600, priority=0.0), m.row(3))
    cluster = s.only(s.estate(*(m.member(n, m.view(n, late)) for n in (1, 2, 3))))
    assert told(cluster)["m2"] == ("SECONDARY", Health.UNKNOWN)
    assert " beyond its delay, or there were no writes for that long" in node(cluster, "m2").reason


def test_that_an_oplog_that_was_not_read_condemns_nobody() -> None:
    seen = (m.row(1, "PRIMARY"), m.row(2, behind=5), m.row(3))
    hosts = [m.member(n, m.view(n, seen), oplog=None) for n in (1, 2, 3)]
    assert told(s.only(s.estate(*hosts)))["m2"] == ("SECONDARY", Health.GOOD)


def test_that_one_that_recovers_behind_every_oplog_needs_an_initial_sync() -> None:
    short = Oplog(Stamp(m.NOW - 100, 1), Stamp(m.NOW, 1), 10**9, 10**9)
    seen = (m.row(1, "PRIMARY"), m.row(2), m.row(3, "RECOVERING", behind=500))
    cluster = s.only(s.estate(*(m.member(n, m.view(n, seen), oplog=short) for n in (1, 2, 3))))
    assert told(cluster)["m3"] == ("RECOVERING", Health.BAD)
    assert "needs an initial sync" in node(cluster, "m3").reason

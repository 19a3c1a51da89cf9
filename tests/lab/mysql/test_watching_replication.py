"""The live watcher on real replicas: what stopped, why, and how many transactions are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.discovery.families.replication.kind import ASYNC
from services.discovery.judgement import states
from services.discovery.model import ClusterSnapshot, NodeView
from services.sampling.watcher import Watcher
from services.types import Health
from tests.lab.estate.estate import Estate
from tests.lab.mysql.seeing import until_there, write
from tests.lab.mysql.watching import becomes, watched


@pytest.fixture
def watcher(mysql: Estate, tmp_path: Path) -> Iterator[Watcher]:
    """A watcher that knows the source, and has found its replicas."""
    with watched(mysql, tmp_path) as found:
        becomes(lambda: {n.health for n in _replication(found).nodes} == {Health.GOOD}, limit_s=20)
        yield found


def _replication(watcher: Watcher) -> ClusterSnapshot:
    found = [c for c in watcher.snapshot().clusters if c.kind == ASYNC and len(c.nodes) == 3]
    assert len(found) == 1, [c.name for c in watcher.snapshot().clusters]
    return found[0]


def _node(watcher: Watcher, name: str) -> NodeView:
    return next(n for n in _replication(watcher).nodes if n.name == name)


def _number(watcher: Watcher, name: str, label: str) -> tuple[str, Health]:
    return next((value, health) for known, value, health in _node(watcher, name).numbers if known == label)


def test_that_a_stopped_sql_thread_is_told_with_the_error_of_the_worker_that_failed(
    mysql: Estate, watcher: Watcher
) -> None:
    mysql.break_sql("a3")
    becomes(lambda: _node(watcher, "a3").code == states.SQL_STOPPED.code)
    assert "error 1062" in _node(watcher, "a3").reason
    assert "Could not execute Write_rows event on table sbtest.lab_probe" in _node(watcher, "a3").reason
    becomes(lambda: _number(watcher, "a3", "GTID gap") == ("1 transaction", Health.BAD))
    mysql.repair("a3")
    becomes(lambda: _node(watcher, "a3").health is Health.GOOD, limit_s=15)


def test_that_the_gap_is_known_while_nothing_was_received_since_the_replica_started(
    mysql: Estate, watcher: Watcher
) -> None:
    until_there(mysql, "a3", write(mysql, "a1"))
    mysql.sql("a3", "STOP REPLICA; RESET REPLICA; START REPLICA")  # what was received is forgotten
    becomes(lambda: _forgotten(watcher), limit_s=10)
    assert _number(watcher, "a3", "GTID gap") == ("0 transactions", Health.GOOD)


def _forgotten(watcher: Watcher) -> bool:
    facts = _node(watcher, "a3").facts
    assert facts is not None
    assert facts.replication is not None
    (channel,) = facts.replication.channels
    return (channel.gtid_received, channel.io_running) == ("", "Yes")


def test_that_a_source_that_goes_on_without_its_semi_synchronous_replica_says_so_within_three_samples(
    mysql: Estate, watcher: Watcher
) -> None:
    # A source counts a replica that came back twice until it sends something over the connection that ended.
    until_there(mysql, "a2", write(mysql, "a1"))
    becomes(lambda: _number(watcher, "a1", "semi-sync") == ("1 of 1", Health.GOOD), limit_s=30)
    acknowledging = {e.replica_id for e in _replication(watcher).replication if e.semi_sync}
    assert acknowledging == {_node(watcher, "a2").node_id}
    mysql.stop("a2")
    mysql.sql("a1", "SET GLOBAL rpl_semi_sync_source_timeout = 500")
    write(mysql, "a1", 2)
    becomes(lambda: _number(watcher, "a1", "semi-sync") == ("fallen back", Health.WARN))
    assert _node(watcher, "a1").health is Health.WARN
    assert "fallen back to asynchronous" in _node(watcher, "a1").reason
    becomes(lambda: "0 of 1 semi-sync replicas connected" in _node(watcher, "a1").reason, limit_s=15)
    mysql.sql("a1", "SET GLOBAL rpl_semi_sync_source_timeout = DEFAULT")
    mysql.start("a2")
    becomes(lambda: _number(watcher, "a1", "semi-sync") == ("1 of 1", Health.GOOD), limit_s=30)

"""Lag by a heartbeat table on real asynchronous replication: whose row counts, and what local time is taken for."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from services.clock import SystemClock
from services.facts.model import NodeFacts
from services.sampling.polled import ServerPoll
from services.sampling.server_poll import server_poll
from services.sampling.settings import WatchSettings
from tests.lab.connections.connecting import entry, session, with_sql
from tests.lab.estate.estate import Estate

TABLE = "percona.heartbeat"
BEAT = (
    f"REPLACE INTO {TABLE} VALUES (DATE_FORMAT(UTC_TIMESTAMP(6) + INTERVAL {{}} SECOND, '%Y-%m-%dT%H:%i:%s.%f'), "
    "@@server_id, '', 0)"
)


@pytest.fixture
def beating(replication: Estate) -> Iterator[Estate]:
    """The estate with a table as pt-heartbeat makes it, a row of the source and one of the replica r1 itself."""
    replication.sql(
        "src",
        f"CREATE DATABASE percona; CREATE TABLE {TABLE} (ts VARCHAR(26) NOT NULL, server_id INT UNSIGNED NOT NULL "
        "PRIMARY KEY, file VARCHAR(255), position BIGINT UNSIGNED); "
        f"GRANT SELECT ON {TABLE} TO observer@'%'; {BEAT.format(-1800)}",
    )
    _until_there(replication)
    replication.sql("r1", f"SET SESSION sql_log_bin = 0; {BEAT.format(0)}")
    yield replication
    replication.sql("src", f"REVOKE SELECT ON {TABLE} FROM observer@'%'; DROP DATABASE percona")
    replication.sql("r1", "DROP DATABASE IF EXISTS percona")


def _until_there(estate: Estate) -> None:
    deadline = time.monotonic() + 30.0
    while not estate.sql("r1", "SELECT 1 FROM information_schema.tables WHERE table_schema = 'percona'"):
        assert time.monotonic() < deadline, "the table did not come through"
        time.sleep(0.2)
    while not estate.sql("r1", f"SELECT 1 FROM {TABLE}"):
        assert time.monotonic() < deadline, "the beat did not come through"
        time.sleep(0.2)


def _polled(poll: ServerPoll) -> NodeFacts:
    return poll.poll().merged(NodeFacts(host="r1", at=0.0))


@pytest.mark.long
def test_that_the_sources_beat_counts_and_one_in_local_time_is_recognised(beating: Estate) -> None:
    clock = SystemClock()
    host = with_sql(entry(beating, "r1"), heartbeat_table=TABLE)
    with session(beating, host) as made:
        poll = server_poll(host, made, clock, WatchSettings())
        facts = _polled(poll)
        assert facts.replication is not None
        assert facts.replication.heartbeat_lag_s is not None
        assert 1800 <= facts.replication.heartbeat_lag_s < 1900
        beating.sql("src", BEAT.format(7200))
        told: list[float | None] = []
        deadline = time.monotonic() + 120.0
        while not told or told[-1] is None or told[-1] > 900:
            assert time.monotonic() < deadline, told
            beating.sql("src", BEAT.format(7200))
            facts = _polled(poll)
            assert facts.replication is not None
            told.append(facts.replication.heartbeat_lag_s)
        assert 0 <= told[-1] < 15
        assert None in told
        assert "UTC+02:00" in facts.problems[-1].sentence

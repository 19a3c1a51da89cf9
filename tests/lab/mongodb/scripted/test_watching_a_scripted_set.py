"""The live watcher on a scripted replica set: it tells the primary, the secondaries, a killed member, a step down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.discovery.families.mongodb.judge import NO_MAJORITY
from services.discovery.families.mongodb.kind import REPLICA_SET
from services.discovery.families.mongodb.problems import OLD_PROTOCOL
from services.discovery.judgement import states
from services.discovery.model import ClusterSnapshot
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, MongoAccess
from services.sampling.watcher import Watcher
from services.secrets import MemoryVault, SecretRef
from tests.lab.mongodb.conforming import reconfigure
from tests.lab.mongodb.scripted.server import ScriptedServer
from tests.lab.mongodb.servers import initiate
from tests.lab.mysql.watching import becomes

PRIMARY, SECONDARY = "mongodb-primary", "mongodb-secondary"
WHOLE = {"m1": PRIMARY, "m2": SECONDARY, "m3": SECONDARY}


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[ScriptedServer]]:
    """A set of three; the first is its primary."""
    made = [ScriptedServer("mongod", tmp_path, "--replSet", "rs0") for _ in range(3)]
    initiate(made)
    yield made
    for one in made:
        one.kill()


@pytest.fixture
def watcher(servers: list[ScriptedServer], tmp_path: Path) -> Iterator[Watcher]:
    """A watcher of the three, by a port each of one address."""
    vault = MemoryVault({"env:P": ""})
    clock = SystemClock()
    seeds = [
        HostEntry(
            f"m{n}", "127.0.0.1", sql=MongoAccess("", SecretRef("env", "P"), port=one.port, tls="off"), kind="mongodb"
        )
        for n, one in enumerate(servers, 1)
    ]
    store = HistoryStore.open(tmp_path / "history.sqlite")
    found = Watcher("scripted", seeds, lambda entry: HostSession(entry, vault, clock=clock), store, clock)
    found.start()
    yield found
    found.stop()


def _codes(watcher: Watcher) -> dict[str, str]:
    """Of the watched: one that others named first stays a while beside itself, where all are on loopback."""
    return {node.name: node.code for cluster in watcher.snapshot().clusters for node in cluster.nodes if node.host}


def _set(watcher: Watcher) -> ClusterSnapshot:
    (found,) = [one for one in watcher.snapshot().clusters if one.kind == REPLICA_SET]
    return found


def test_that_a_killed_secondary_is_told_and_comes_back(servers: list[ScriptedServer], watcher: Watcher) -> None:
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=20)
    assert [(one.votes, one.votes_known) for one in _set(watcher).components] == [(3, 3)]
    becomes(lambda: [(e.lag_s, e.channel) for e in _set(watcher).replication] == [(0.0, "oplog")] * 2, limit_s=20)
    servers[2].kill()
    becomes(lambda: _codes(watcher)["m3"] not in {PRIMARY, SECONDARY}, limit_s=20)
    becomes(lambda: [one.may_lose for one in _set(watcher).components if one.primary] == [0], limit_s=20)
    servers[2].start()
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=20)


def test_that_a_killed_primary_is_succeeded_and_no_majority_is_told(
    servers: list[ScriptedServer], watcher: Watcher
) -> None:
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=20)
    servers[0].kill()
    becomes(lambda: PRIMARY in {_codes(watcher)["m2"], _codes(watcher)["m3"]}, limit_s=30)
    assert any("PRIMARY" in event.text for event in watcher.events())
    servers[1].kill()
    becomes(lambda: _codes(watcher)["m3"] == NO_MAJORITY.code, limit_s=30)
    assert _codes(watcher)["m1"] == states.REFUSED.code


def test_that_a_step_down_and_the_old_protocol_are_told(servers: list[ScriptedServer], watcher: Watcher) -> None:
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=20)
    reconfigure(servers[0], lambda config: config.update(protocolVersion=0))
    becomes(lambda: [problem.code for problem in _set(watcher).problems] == [OLD_PROTOCOL], limit_s=20)
    reconfigure(servers[0], lambda config: config.update(protocolVersion=1))
    becomes(lambda: _set(watcher).problems == (), limit_s=20)
    with suppress(OSError, EOFError):
        servers[0].command("admin", {"replSetStepDown": 30})
    becomes(lambda: PRIMARY in {_codes(watcher)["m2"], _codes(watcher)["m3"]}, limit_s=30)
    becomes(lambda: _codes(watcher)["m1"] == SECONDARY, limit_s=20)  # it closed its connections as it stepped down

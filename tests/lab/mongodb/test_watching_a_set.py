"""The live watcher on a real replica set: each fault is drawn truthfully; lag and window are those that were made."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from app.__main__ import main
from services.discovery.families.mongodb.judge import NO_MAJORITY, STALE
from services.discovery.families.mongodb.kind import REPLICA_SET
from services.discovery.families.mongodb.problems import EVEN_VOTES, OLD_PROTOCOL
from services.discovery.judgement import states
from services.discovery.model import ClusterSnapshot, NodeView
from services.sampling.watcher import Watcher
from services.types import Health
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import mongodb
from tests.lab.estate.servers.mongo_wire import RefusedError
from tests.lab.mongodb.by_hand import reconfigure
from tests.lab.mongodb.procedures.conversion import anew
from tests.lab.mysql.watching import becomes, watched

WHOLE = {"d1": "mongodb-primary", "d2": "mongodb-secondary", "d3": "mongodb-secondary"}
HEARTBEAT_S = 15.0
"""A member is believed for ten seconds after its last heartbeat (heartbeatTimeoutSecs); then three samples."""
ELECTION_S = 30.0
_CUT_OFF = 2_000
"""Rows that a parted primary takes: it leads for ten seconds more, and 3.2 rolls back by asking for each row by itself
(rs_rollback.cpp). Ten times as many outlast both on a server that was built without optimising."""


@pytest.fixture
def watcher(mongo_rs: Estate, tmp_path: Path) -> Iterator[Watcher]:
    """A watcher that knows d1, and has found the others."""
    with watched(mongo_rs, tmp_path) as found:
        becomes(lambda: _codes(found) == WHOLE, limit_s=30)
        yield found


def _set(watcher: Watcher) -> ClusterSnapshot:
    found = [c for c in watcher.snapshot().clusters if c.kind == REPLICA_SET]
    assert len(found) == 1, [(c.name, c.kind.code) for c in watcher.snapshot().clusters]
    return found[0]


def _name(node: NodeView) -> str:
    return node.name.partition(":")[0]


def _codes(watcher: Watcher) -> dict[str, str]:
    return {_name(node): node.code for c in watcher.snapshot().clusters for node in c.nodes}


def _node(watcher: Watcher, name: str) -> NodeView:
    return next(n for n in _set(watcher).nodes if _name(n) == name)


def _majority(watcher: Watcher) -> set[str]:
    names = {n.node_id: _name(n) for n in _set(watcher).nodes}
    return {names[m] for c in _set(watcher).components if c.primary for m in c.members}


def _votes(watcher: Watcher) -> list[tuple[int, int, int | None]]:
    return [(c.votes, c.votes_known, c.may_lose) for c in _set(watcher).components if c.primary]


def _insert(estate: Estate, host: str, count: int, *, size: int = 1000, by: int = 1) -> None:
    """Insert documents, acknowledged by that member alone, or by so many."""
    mongodb.wait_takes_writes(estate.spec, host, limit_s=30)
    for first in range(0, count, 500):
        rows = [{"_id": uuid4().hex, "d": "x" * size} for _ in range(min(500, count - first))]
        asked = {"insert": "rows", "documents": rows, "writeConcern": {"w": by, "wtimeout": 60_000}}
        said = mongodb.ask(estate.spec, host, asked, database="lab", limit_s=60)
        assert said["n"] == len(rows), said
        assert "writeConcernError" not in said, said


@contextmanager
def _writing(estate: Estate, watcher: Watcher) -> Iterator[None]:
    """Insert a document each second, by whoever is shown as the primary; one that steps down meanwhile takes none."""
    over = threading.Event()

    def write() -> None:
        while not over.wait(1.0):
            for name in (name for name, code in _codes(watcher).items() if code == "mongodb-primary"):
                with suppress(LabError, RefusedError):
                    mongodb.ask(estate.spec, name, {"insert": "rows", "documents": [{"d": "x"}]}, database="lab")

    thread = threading.Thread(target=write, name="writing")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(60)


def test_that_one_member_shows_the_whole_set_by_the_inventorys_name(watcher: Watcher) -> None:
    assert _set(watcher).name == "mongo-rs"
    assert _majority(watcher) == {"d1", "d2", "d3"}
    assert _node(watcher, "d1").role == "primary"
    becomes(lambda: [(e.lag_s, e.channel) for e in _set(watcher).replication] == [(0.0, "oplog")] * 2, limit_s=20)


def test_that_a_killed_secondary_is_not_running_and_the_part_may_lose_none(mongo_rs: Estate, watcher: Watcher) -> None:
    mongo_rs.kill9("d3")
    becomes(lambda: _codes(watcher)["d3"] == states.NOT_RUNNING.code, limit_s=8)
    becomes(lambda: _majority(watcher) == {"d1", "d2"}, limit_s=HEARTBEAT_S)
    assert next(c.may_lose for c in _set(watcher).components if c.primary) == 0
    assert _node(watcher, "d3").numbers == ()
    mongo_rs.start("d3")
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=ELECTION_S)


def test_that_without_a_majority_nobody_is_primary_whatever_answers(mongo_rs: Estate, watcher: Watcher) -> None:
    mongo_rs.kill9("d2")
    mongo_rs.kill9("d3")
    becomes(lambda: _codes(watcher)["d1"] == NO_MAJORITY.code, limit_s=HEARTBEAT_S)
    becomes(lambda: _majority(watcher) == set(), limit_s=HEARTBEAT_S)
    assert _set(watcher).health is Health.BAD
    assert _node(watcher, "d1").role != "primary"


def test_that_a_killed_primary_is_succeeded_and_the_election_is_told(mongo_rs: Estate, watcher: Watcher) -> None:
    mongo_rs.kill9("d1")
    becomes(lambda: "mongodb-primary" in {_codes(watcher)["d2"], _codes(watcher)["d3"]}, limit_s=ELECTION_S)
    assert _majority(watcher) == {"d2", "d3"}
    assert any("PRIMARY" in event.text for event in watcher.events())


def test_that_a_parted_primary_is_outvoted_and_rolls_back_when_it_returns(mongo_rs: Estate, watcher: Watcher) -> None:
    _insert(mongo_rs, "d1", 100)
    mongo_rs.partition(["d1"])
    _insert(mongo_rs, "d1", _CUT_OFF, size=200)  # acknowledged by the cut-off side alone
    becomes(lambda: "mongodb-primary" in {_codes(watcher)["d2"], _codes(watcher)["d3"]}, limit_s=ELECTION_S)
    becomes(lambda: _codes(watcher)["d1"] in {STALE.code, NO_MAJORITY.code}, limit_s=HEARTBEAT_S)
    assert _majority(watcher) == {"d2", "d3"}
    new = next(n for n in ("d2", "d3") if _codes(watcher)[n] == "mongodb-primary")
    _insert(mongo_rs, new, 10)
    mongo_rs.heal()
    seen: set[str] = set()

    def back() -> bool:
        seen.add(_codes(watcher)["d1"])
        return _codes(watcher) == WHOLE

    # Two that both rolled back may take each other for their source. They look for another one when that lies 30 s
    # behind the primary (maxSyncSourceLagSecs), which it does only where somebody writes: seen on 3.2.5.
    with _writing(mongo_rs, watcher):
        becomes(back, limit_s=150)
    assert seen & {"mongodb-rollback", "mongodb-recovering", "mongodb-secondary"}, seen


def test_that_a_member_in_maintenance_is_recovering_and_not_good(mongo_rs: Estate, watcher: Watcher) -> None:
    mongodb.ask(mongo_rs.spec, "d3", {"replSetMaintenance": True})
    try:
        becomes(lambda: _codes(watcher)["d3"] == "mongodb-recovering", limit_s=8)
        assert _node(watcher, "d3").health is Health.WARN
    finally:
        mongodb.ask(mongo_rs.spec, "d3", {"replSetMaintenance": False})
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=15)


def test_that_a_step_down_moves_the_primary(mongo_rs: Estate, watcher: Watcher) -> None:
    with suppress(LabError):  # the server closes the connection
        mongodb.ask(mongo_rs.spec, "d1", {"replSetStepDown": 20, "secondaryCatchUpPeriodSecs": 10})
    becomes(lambda: "mongodb-primary" in {_codes(watcher)["d2"], _codes(watcher)["d3"]}, limit_s=ELECTION_S)
    assert _codes(watcher)["d1"] == "mongodb-secondary"
    assert _majority(watcher) == {"d1", "d2", "d3"}


def test_that_a_member_that_does_not_apply_is_as_far_behind_as_it_was_held(mongo_rs: Estate, watcher: Watcher) -> None:
    """fsyncLock holds a secondary's applier: what the primary takes meanwhile is what it lacks."""
    # 3.2 makes no entries by itself: a pause in the writes is no lag. All have this one before anybody is held.
    _insert(mongo_rs, "d1", 1, by=3)
    time.sleep(2)
    mongodb.ask(mongo_rs.spec, "d3", {"fsync": 1, "lock": True}, limit_s=60)
    began = time.time()
    try:
        while time.time() - began < 14:
            _insert(mongo_rs, "d1", 10)
            time.sleep(1)
        becomes(lambda: _node(watcher, "d3").health is Health.WARN, limit_s=10)
        lag = next(value for label, value, _ in _node(watcher, "d3").numbers if label == "lag")
        held = time.time() - began
        assert held - 6 <= float(lag.split()[0]) <= held + 2, (lag, held)
    finally:
        mongodb.ask(mongo_rs.spec, "d3", {"fsyncUnlock": 1})
    becomes(lambda: _codes(watcher) == WHOLE and _node(watcher, "d3").health is Health.GOOD, limit_s=60)


def test_that_the_oplog_window_is_that_of_what_was_written(mongo_rs: Estate, watcher: Watcher) -> None:
    began = time.time()
    facts = _node(watcher, "d1").facts
    assert facts is not None
    assert facts.mongo is not None
    assert facts.mongo.oplog is not None
    before = facts.mongo.oplog.window_s
    assert before is not None
    _insert(mongo_rs, "d1", 1)

    def grown() -> bool:
        now = _node(watcher, "d1").facts
        oplog = now.mongo.oplog if now is not None and now.mongo is not None else None
        last = oplog.last.seconds if oplog is not None and oplog.last is not None else 0
        return abs(last - began) <= 2 and oplog is not None and (oplog.window_s or 0) >= before

    becomes(grown, limit_s=8)


def test_that_a_member_started_alone_is_told_and_so_is_what_it_lost_there(
    mongo_rs: Estate, capsys: pytest.CaptureFixture[str]
) -> None:
    """A colleague's maintenance: d3 without its set, a database dropped there, and back as if nothing had been (E8)."""
    inventory = str(mongo_rs.client_dir / "inventory-all.toml")
    row = {"_id": uuid4().hex}
    asked = {"insert": "orders", "documents": [row], "writeConcern": {"w": 3, "wtimeout": 20_000}}
    assert mongodb.ask(mongo_rs.spec, "d1", asked, database="shop", limit_s=30)["n"] == 1
    host = mongo_rs.host("d3")
    mongo_rs.stop("d3")
    host.sh("cp -p /etc/mongod.conf /etc/mongod.conf.set; sed -i '/^replication:/,$d' /etc/mongod.conf")
    mongo_rs.start("d3")
    mongodb.wait_answers(mongo_rs.spec, "d3")
    try:
        assert main(["check", "--inventory", inventory]) == 1
        assert "runs standalone" in capsys.readouterr().out
        mongodb.ask(mongo_rs.spec, "d3", {"dropDatabase": 1}, database="shop")
    finally:
        mongo_rs.stop("d3")
        host.sh("mv /etc/mongod.conf.set /etc/mongod.conf")
        mongo_rs.start("d3")
    mongodb.wait_set(mongo_rs.spec, ["d1", "d2", "d3"])
    capsys.readouterr()
    try:
        assert main(["check", "--inventory", inventory]) == 1
        assert "shop: empty or missing on d3" in capsys.readouterr().out
    finally:  # an initial sync brings it back
        mongo_rs.stop("d3")
        host.sh("rm -rf /var/lib/mysql/db && install -d -o mysql -g mysql /var/lib/mysql/db")
        mongo_rs.start("d3")
    mongodb.wait_set(mongo_rs.spec, ["d1", "d2", "d3"])
    assert main(["check", "--inventory", inventory]) == 0


def test_that_a_configuration_that_is_changed_by_hand_is_seen(mongo_rs: Estate, watcher: Watcher) -> None:
    def hide(config: dict[str, Any]) -> None:
        config["members"][2] |= {"priority": 0, "hidden": True, "slaveDelay": 30, "votes": 0}

    def show(config: dict[str, Any]) -> None:
        config["members"][2] |= {"priority": 1, "hidden": False, "slaveDelay": 0, "votes": 1}

    reconfigure(mongo_rs, hide)
    try:
        becomes(lambda: _node(watcher, "d3").role == "hidden", limit_s=15)
        becomes(lambda: EVEN_VOTES in [p.code for p in _set(watcher).problems], limit_s=15)
        becomes(lambda: _votes(watcher) == [(2, 2, 0)], limit_s=8)
        _insert(mongo_rs, "d1", 1)
        time.sleep(12)
        assert _node(watcher, "d3").health in {Health.GOOD, Health.UNKNOWN}  # its delay is meant, a pause may be
    finally:
        reconfigure(mongo_rs, show)
    becomes(lambda: _codes(watcher) == WHOLE and _set(watcher).problems == (), limit_s=60)


@pytest.fixture
def moved_back(mongo_rs: Estate) -> Iterator[Estate]:
    """The set, made anew afterwards: after protocol 0 terms begin at 0, and a server that starts knows the old ones."""
    yield mongo_rs
    anew(mongo_rs)


def test_that_the_old_protocol_is_told_and_the_set_is_judged_by_it_as_well(
    moved_back: Estate, watcher: Watcher
) -> None:
    reconfigure(moved_back, lambda config: config.update(protocolVersion=0))
    becomes(lambda: [p.code for p in _set(watcher).problems] == [OLD_PROTOCOL], limit_s=20)
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=30)
    # By all: a member whose newest entry is of an old term ends itself when it meets one of the first new term.
    _insert(moved_back, "d1", 10, by=3)
    becomes(lambda: _node(watcher, "d2").health is Health.GOOD, limit_s=10)
    assert _majority(watcher) == {"d1", "d2", "d3"}
    reconfigure(moved_back, lambda config: config.update(protocolVersion=1))
    becomes(lambda: _codes(watcher) == WHOLE and _set(watcher).problems == (), limit_s=60)

"""A second of MongoDB on replies that 3.2.5 gave: what is asked how often, which numbers come of it, which charts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pytest

from services.clock import ManualClock
from services.connections.mongo.document import Document, Reply, Stamp
from services.connections.reads import mongo as reads
from services.connections.reads.mongo import MONGO_READS, MongoRead
from services.errors import Dropped, QueryFailed, Unreachable
from services.facts.model import NodeFacts
from services.facts.mongodb.numeric import MOST_NUMBERS, status_values
from services.inventory.kinds import MONGODB
from services.inventory.model import HostEntry, MongoAccess
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.formula import Frame
from services.sampling.mongo_poll import MongoPoll, MongoResult, poll_mongodb
from services.sampling.server_poll import server_poll
from services.sampling.settings import WatchSettings
from tests.unit.recorded.mongo_replies import recorded

BIG = 1_795_000_000


@dataclass
class ScriptedSession:
    """Answers by name of the command as the recorded server did; counts what it was asked."""

    name: str
    asked: Counter[str] = field(default_factory=Counter)
    hello: Document = field(default_factory=dict)

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        self.asked[read.name] += 1
        if read == reads.OPLOG_FIRST:
            return Reply({}, ({"ts": Stamp(BIG - 600, 1)},))
        if read == reads.OPLOG_LAST:
            return Reply({}, ({"ts": Stamp(BIG, 1)},))
        if read == reads.DATABASES:
            return Reply({"databases": [{"name": "shop", "empty": False}, {"name": "local", "empty": False}]})
        command = next(iter(MONGO_READS[read.name].command))
        said = recorded(self.name).answer(command)
        if said is None:
            raise QueryFailed("no such command", errno=59)
        return Reply({**said, **self.hello} if read == reads.HELLO else said)


class Second:
    """Polls again and again, a second each."""

    def __init__(self, name: str) -> None:
        self.session = ScriptedSession(name)
        self.poll = MongoPoll()
        self.clock = ManualClock()

    def __call__(self, seconds: float = 1.0) -> MongoResult:
        result = poll_mongodb(cast("Any", self.session), self.poll, cast("Any", self.clock), WatchSettings())
        self.clock.advance(seconds)
        return result


def test_that_the_status_is_asked_each_second_and_the_rest_each_ten() -> None:
    second = Second("1-sccc.s0")
    for _ in range(20):
        second()
    each = {reads.HELLO, reads.SERVER_STATUS, reads.SET_STATUS, reads.OPLOG_FIRST, reads.OPLOG_LAST}
    assert {second.session.asked[one.name] for one in each} == {20}
    for one in (reads.BUILD_INFO, reads.SET_CONFIG, reads.COMMAND_LINE, reads.OPLOG_SIZE):
        assert second.session.asked[one.name] in {2, 3}, one
    assert second.session.asked[reads.DATABASES.name] in {1, 2}


def test_that_a_changed_configuration_of_the_set_is_read_at_once() -> None:
    second = Second("1-sccc.s0")
    second(0.1)
    second(0.1)
    assert second.session.asked[reads.SET_CONFIG.name] == 1
    second.session.hello = {"setVersion": 99}
    second(0.1)
    assert second.session.asked[reads.SET_CONFIG.name] == 2


def test_that_a_mongos_is_asked_for_no_set_and_no_oplog() -> None:
    second = Second("1-sccc.m1")
    result = second()
    assert result.answer.facts.set is None
    assert not set(second.session.asked) & {"replica-set-status", "oplog-first", "oplog-last", "databases"}
    assert result.values["uptime"] > 0


def test_that_lag_and_window_are_sampled_and_what_can_not_be_told_is_no_number() -> None:
    primary, secondary = Second("1-sccc.s0")().values, Second("0-replica-set.d2")().values
    assert "mongo.lag_s" not in primary  # it follows nobody
    assert secondary["mongo.lag_s"] == 0.0
    assert secondary["mongo.oplog_window_s"] == 600.0


def test_that_an_answer_that_was_remembered_tells_when_it_was_read() -> None:
    second = Second("1-sccc.s0")
    first = second(7.0).answer.facts.contents
    again = second(7.0).answer.facts.contents
    assert first is not None
    assert again is not None
    assert first.with_data == ("shop",)
    assert again.at in {first.at, first.at + 7.0}


def test_that_a_server_that_gives_no_greeting_ends_the_poll() -> None:
    second = Second("1-sccc.s0")
    second.session.ask = lambda read, *, limit_s=5.0: (_ for _ in ()).throw(Unreachable("closed"))  # type: ignore[method-assign]
    with pytest.raises(Unreachable):
        second()


def test_that_the_charts_formulas_have_values_on_what_3_2_5_gives() -> None:
    values = Second("0-replica-set.d2")().values
    columns = {name: np.array([value, value + 1.0, value + 2.0]) for name, value in values.items()}
    moments = np.array([1.0, 2.0, 3.0])
    frame = Frame(moments, moments, np.zeros(3), columns)
    catalogue = load_catalogue()
    silent = {
        metric.key
        for metric in catalogue
        if metric.key.startswith("mongo.") and np.isnan(catalogue.formula(metric.formula).evaluate(frame)).all()
    }
    assert silent == {"mongo.flow_waits"}  # 4.2 and newer


def test_that_numbers_are_bounded_whatever_a_server_makes_up() -> None:
    many: Document = {f"n{n}": n for n in range(5000)}
    assert len(status_values(many)) == MOST_NUMBERS
    deep: Document = {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"x": 1}}}}}}}}
    assert status_values(deep) == {}
    assert status_values({"x" * 121: 1, "y" * 121: {"z": 1}}) == {}
    odd: Document = {"a b/c": 1, "t": True, "s": "1", "f": float("inf"), "localTime": 5.0}
    assert status_values(odd) == {"mongo.a_b_c": 1.0}


def test_that_a_result_is_of_its_moment() -> None:
    result = Second("1-sccc.s0")()
    assert replace(result, at=1.0).at == 1.0
    assert result.round_trip_s >= 0.0


class DroppedSession(ScriptedSession):
    """A session that the server ends so many times before it answers."""

    drops = 1

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        if read == reads.SET_STATUS and self.drops:
            self.drops -= 1
            raise Dropped("The server closed the connection.")
        return super().ask(read, limit_s=limit_s)


def test_that_a_session_that_a_stepping_primary_ends_is_opened_again_before_anything_is_said_of_the_server() -> None:
    entry = HostEntry("d1", "10.0.0.1", sql=MongoAccess(), kind=MONGODB.code)
    session = DroppedSession("1-sccc.s0")
    poll = server_poll(entry, cast("Any", session), cast("Any", ManualClock()), WatchSettings())
    assert poll.poll().values(NodeFacts("d1", 0.0))["mongo.oplog_window_s"] == 600.0
    assert session.asked[reads.HELLO.name] == 2
    session.drops = 2
    with pytest.raises(Unreachable):
        poll.poll()


def test_that_a_read_which_the_server_stops_is_not_asked_again_each_second() -> None:
    """Hashes hold a lock of the metadata while they are made: asked anew each second they would hold it always."""
    second = Second("1-sccc.c2")
    plain = second.session.ask

    def stopped(read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        if read == reads.CONFIG_HASH:
            second.session.asked[read.name] += 1
            raise QueryFailed("The server stopped the command.", errno=50)
        return plain(read, limit_s=limit_s)

    second.session.ask = stopped  # type: ignore[method-assign]
    for _ in range(20):
        assert second().answer.facts.server.config == "mirrored"
    assert second.session.asked[reads.CONFIG_HASH.name] in {1, 2}

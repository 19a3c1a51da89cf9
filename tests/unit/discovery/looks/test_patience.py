"""A host that answers piece by piece is waited for; one that says nothing is given up. On a scripted session."""

from __future__ import annotations

import threading
import time
from typing import Any

from services.clock import ManualClock, SystemClock
from services.connections.ports import Output, Rows
from services.connections.reads.read import CommandRead, SqlRead
from services.discovery.looks.crawl import crawl
from services.discovery.looks.patience import Patience
from services.errors import Unreachable
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.inventory.trust import Trust
from services.types import Reach
from tests.unit.recorded.replies import ReplaySession, load

LIVE: dict[str, Any] = load("situations/galera-healthy.json")["hosts"]["n1"]
LIMIT_S = 0.6
TRIP_S = 0.15


class ScriptedFar(ReplaySession):
    """Recorded answers, each after one long round trip."""

    def __init__(self, entry: HostEntry) -> None:
        super().__init__(entry.name, LIVE)
        self.began: dict[str, float] = {}

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        time.sleep(TRIP_S)
        return super().query(read, limit_s=limit_s)

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        self.began["sql"] = time.monotonic()
        time.sleep(TRIP_S)
        return super().status(limit_s=limit_s)

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        self.began.setdefault("ssh", time.monotonic())
        time.sleep(TRIP_S)
        return super().run(read, limit_s=limit_s)


class ScriptedMute(ReplaySession):
    """Says nothing until it is closed."""

    def __init__(self, entry: HostEntry) -> None:
        super().__init__(entry.name, LIVE)
        self._closed = threading.Event()

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        self._closed.wait(10.0)
        raise Unreachable("closed")

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        self._closed.wait(10.0)
        raise Unreachable("closed")

    def close(self) -> None:
        self._closed.set()


def entry(name: str) -> HostEntry:
    return HostEntry(name, LIVE["address"], SshAccess("dba"), SqlAccess("obs"))


def test_that_a_healthy_host_far_away_is_read_whole_however_many_trips_that_takes() -> None:
    far = ScriptedFar(entry("n1"))
    found = crawl((entry("n1"),), lambda _: far, SystemClock(), trust=Trust(), limit_s=LIMIT_S)
    assert found.facts["n1"].reach is Reach.FULL
    assert found.problems == ()
    assert abs(far.began["sql"] - far.began["ssh"]) < TRIP_S, "one road waited for the other"


def test_that_a_host_that_says_nothing_is_told_after_the_limit() -> None:
    began = time.monotonic()
    found = crawl((entry("n2"),), ScriptedMute, SystemClock(), trust=Trust(), limit_s=LIMIT_S)
    assert time.monotonic() - began < 3 * LIMIT_S
    assert found.facts["n2"].problems[0].sentence == "No answer within 0.6 s."


def test_that_answers_prolong_the_search_and_its_end_stands_all_the_same() -> None:
    clock = ManualClock()
    patience = Patience(clock, 5.0)
    patience.heard("n1")
    patience.heard("n2")
    clock.advance(4.0)
    patience.heard("n1")
    assert (patience.left_s(["n1", "n2"]), patience.left_s(["n2"])) == (5.0, 1.0)
    for _ in range(5):
        clock.advance(3.0)
        patience.heard("n1")
    assert patience.left_s(["n1"]) == 1.0

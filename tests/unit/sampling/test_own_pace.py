"""A console that got no processor judges nobody by it: its own lateness is seen, and is no silence of a server."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from services.clock import ManualClock, SystemClock
from services.connections.sql.text_rows import PacketReader
from services.discovery.judgement.states import NO_NEWS
from services.errors import TimedOut
from services.events import Event
from services.facts.machine.machine import clock_offset
from services.facts.model import NodeFacts, Problem
from services.inventory.model import HostEntry, SqlAccess
from services.sampling.clock_drift import ClockDrift
from services.sampling.cost import PollCost
from services.sampling.host_watch import Beginning, HostWatch
from services.sampling.own_pace import LATE_S, TICK_S, OwnPace
from services.sampling.settings import WatchSettings
from services.series import Sample
from services.types import Health, Reach
from tests.unit.discovery.scenes import AT, estate, member, only
from tests.unit.recorded.replies import ReplaySession


def test_that_a_thread_that_woke_late_is_remembered_with_its_moment() -> None:
    clock = ManualClock()
    pace = OwnPace(clock)
    assert not pace.was_late(0.0), "nobody looks yet"
    pace._due = clock.monotonic() + TICK_S
    clock.advance(TICK_S)
    pace.woke()
    assert not pace.was_late(0.0)
    clock.advance(TICK_S + 2 * LATE_S)
    before = clock.monotonic()
    assert pace.was_late(before), "it is late now"
    pace.woke()
    assert pace.was_late(before)
    clock.advance(TICK_S)
    assert not pace.was_late(clock.monotonic())


def test_that_the_thread_ends_with_the_watch() -> None:
    pace = OwnPace(SystemClock())
    pace.start()
    time.sleep(3 * TICK_S)
    pace.stop()
    assert pace._thread is not None
    assert not pace._thread.is_alive()


def test_that_a_server_that_was_not_asked_for_a_while_is_no_news_and_not_bad() -> None:
    late = replace(member(1), sql_at=AT - 12.0)
    told = only(estate(late, member(2), member(3))).nodes[0]
    assert (told.code, told.health) == (NO_NEWS.code, Health.UNKNOWN)
    assert told.reason.startswith("no answer over SQL for 12")
    failed = replace(late, reach=Reach.SSH_ONLY, problems=(Problem("sql", "No answer.", "timed-out"),))
    assert only(estate(failed, member(2), member(3))).nodes[0].health is Health.BAD


class MockSink:
    """Keeps what a watched host tells."""

    def __init__(self) -> None:
        self.facts: list[NodeFacts] = []

    def put_facts(self, facts: NodeFacts) -> None:
        self.facts.append(facts)

    def put_sample(self, sample: Sample) -> None:
        raise AssertionError(sample)

    def tell(self, event: Event) -> None:
        raise AssertionError(event)


class ScriptedLate(ReplaySession):
    """A server whose answer is not read within its limit: the clock goes on by `asleep_s` meanwhile."""

    def __init__(self, clock: ManualClock, asleep_s: float) -> None:
        super().__init__("s1", {"sql": True, "ssh": False})
        self._clock, self._asleep_s = clock, asleep_s

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        self._clock.advance(self._asleep_s)
        raise TimedOut("The server did not answer within 0.9 s.", host="s1")


@pytest.mark.parametrize(("late", "told"), [(True, 0), (False, 1)])
def test_that_a_limit_that_ran_out_while_nobody_here_ran_is_not_told_as_silence(*, late: bool, told: int) -> None:
    clock, sink = ManualClock(), MockSink()
    pace = OwnPace(clock)
    if late:
        pace._due = clock.monotonic() + TICK_S
    entry = HostEntry("s1", "10.0.0.1", sql=SqlAccess("obs"))
    session = ScriptedLate(clock, 0.9)
    watch = HostWatch(entry, session, sink, clock, PollCost(clock), WatchSettings(), Beginning(0.0, pace=pace))
    assert watch._poll_once() is False
    assert len(sink.facts) == told


class ScriptedSocket:
    """Has its bytes ready; a wait that the kernel ends too late is a TimeoutError, as Python's TLS raises it."""

    def __init__(self, pieces: list[bytes], *, late: bool) -> None:
        self._pieces, self._late = pieces, late

    def settimeout(self, _seconds: float | None, /) -> None: ...

    def recv(self, _size: int, /) -> bytes:
        if self._late:
            self._late = False
            raise TimeoutError
        if not self._pieces:
            raise TimeoutError
        return self._pieces.pop(0)


def reader(sock: ScriptedSocket, limit_s: float) -> PacketReader:
    return PacketReader(sock, limit_s=limit_s, most=1000)  # type: ignore[arg-type]


def test_that_an_answer_that_lies_there_when_the_limit_is_over_is_read() -> None:
    packet = b"\x02\x00\x00\x01ok"
    assert reader(ScriptedSocket([packet], late=True), 0.5).packet() == b"ok"
    asleep = reader(ScriptedSocket([packet], late=False), 0.2)
    time.sleep(0.25)
    assert asleep.packet() == b"ok"


def test_that_nothing_is_waited_for_beyond_the_limit_and_its_grace_is_bounded() -> None:
    with pytest.raises(TimeoutError):
        reader(ScriptedSocket([], late=True), 0.5).packet()
    dripping = reader(ScriptedSocket([b"\x02"] * 50, late=False), 0.05)
    time.sleep(0.12)
    with pytest.raises(TimeoutError):
        dripping.packet()


def test_that_a_clock_is_behind_only_where_the_best_of_several_readings_says_so() -> None:
    drift = ClockDrift()
    assert drift.offset(0.01, -2.0) == 0.01
    assert [drift.offset(0.01, late) for late in (-2.2, -0.01, -3.0, -2.0)] == [0.01] * 4
    behind = ClockDrift()
    assert [behind.offset(0.01, -60.0 - late) for late in (0.0, 2.0, 0.1, 0.0, 1.0)] == [0.01] * 4 + [-60.0]
    assert behind.offset(-60.0, 0.0) == 0.0, "set right again: nothing makes a clock seem ahead"
    assert ClockDrift().offset(None, -2.0) is None


def test_that_a_slow_answer_tells_only_the_offset_that_it_leaves_no_doubt_of() -> None:
    assert clock_offset("1000.000", 999.9, 1000.3) == pytest.approx(-0.1)
    assert clock_offset("1000.000", 1000.0, 1004.0) == 0.0
    assert clock_offset("1000.000", 1060.0, 1064.0) == -60.0

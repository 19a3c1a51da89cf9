"""Lag by a heartbeat table: whose row, in which time, and what stays not known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.connections.observer.allowlist import check_statement
from services.connections.ports import Rows, SqlValue
from services.connections.reads.registry import statement_of
from services.facts.model import ReplicationChannel
from services.facts.replication.heartbeat import (
    ZONES_S,
    Heartbeats,
    Lag,
    heartbeat_lag,
    heartbeat_problems,
    heartbeat_statement,
)
from services.facts.server.server import is_sealed
from tests.examples import examples

NOON = datetime(2026, 7, 3, 12, 0, 0, 250_000, tzinfo=UTC)
OWN = 22


def _rows(beat: object, now: object) -> Rows:
    return Rows(("ts", "now", "server_id", "own"), ((beat, now, 11, OWN),))  # type: ignore[arg-type]


def table(beats: dict[int, float], now: datetime = NOON) -> Rows:
    """Return a table of pt-heartbeat's: server_id -> by how many seconds its moment is before the replica's UTC."""
    bare = now.replace(tzinfo=None)
    written = [((bare - timedelta(seconds=behind)).isoformat(), one) for one, behind in beats.items()]
    rows: list[tuple[SqlValue, ...]] = [(ts, one, "binlog.000004", 155, str(bare), OWN) for ts, one in written]
    return Rows(("ts", "server_id", "file", "position", "now", "own"), tuple(rows))


def source(one: int | None, delay: int = 0) -> ReplicationChannel:
    return ReplicationChannel(source_host="db1", source_server_id=one, delay_s=delay)


def seconds_of(behind: list[float], delay: int = 0, every: float = 1.0) -> list[Lag]:
    """Return what successive reads tell of the source 11; `behind`: what its moment is before UTC at each read."""
    watch = Heartbeats()
    moments = (NOON + timedelta(seconds=n * every) for n in range(len(behind)))
    return [watch.lag(table({11: b}, now), (source(11, delay),)) for b, now in zip(behind, moments, strict=True)]


@pytest.mark.parametrize(
    ("beat", "now", "lag"),
    [
        ("2026-11-21T10:00:00.001230", "2026-11-21 10:00:01.501230", 1.5),
        ("2026-11-21T10:00:03", "2026-11-21 10:00:01.500000", 0.0),
        (b"2026-11-21T10:00:00.5", "2026-11-21 10:00:01.000000", 0.5),
    ],
)
def test_that_the_lag_is_the_replicas_now_less_the_beat(beat: object, now: object, lag: float) -> None:
    """Ahead by less than clocks may differ is no lag."""
    assert heartbeat_lag(_rows(beat, now)) == pytest.approx(lag)


@pytest.mark.parametrize("rows", [None, Rows((), ()), _rows(None, "2026-11-21 10:00:01"), _rows("garbage", "x")])
def test_that_no_beat_is_no_lag_and_never_zero(rows: Rows | None) -> None:
    assert heartbeat_lag(rows) is None


@pytest.mark.parametrize("ahead", [2.5, 30.0, 1800.0, 5400.0, 7200.0, 19_800.0, 100_000.0])
def test_that_a_moment_ahead_of_utc_is_not_known(ahead: float) -> None:
    (lag,) = seconds_of([-ahead])
    assert lag == Lag(doubt="zone")
    assert "--utc" in heartbeat_problems(lag)[0].sentence


@pytest.mark.parametrize("beat", ["1970-01-01T00:00:00", "1970-01-01T00:00:01.5", "1987-06-05T04:03:02", "0001-01-01"])
def test_that_a_moment_of_a_clock_that_was_never_set_is_no_lag(beat: str) -> None:
    """A lag of decades would turn every scale flat: whose clock stood at its beginning is not known."""
    lag = Heartbeats().lag(_rows(beat, "2026-07-03 12:00:00"), (source(11),))
    assert lag == Lag(doubt="zone")
    assert [one.code for one in heartbeat_problems(lag)] == ["heartbeat-not-utc"]


@pytest.mark.parametrize("beat", ["0000-00-00 00:00:00", "0000-00-00T00:00:00.000000", "9999-99-99T99:99:99"])
def test_that_a_zero_date_is_no_moment(beat: str) -> None:
    assert Heartbeats().lag(_rows(beat, "2026-07-03 12:00:00"), (source(11),)) == Lag()


@pytest.mark.parametrize("beat", ["9999-12-31T23:59:59", "2038-01-19T03:14:07"])
def test_that_a_moment_of_the_future_is_not_known_however_often_it_is_read(beat: str) -> None:
    watch = Heartbeats()
    told = [watch.lag(_rows(beat, f"2026-07-03 12:00:{second:02}"), (source(11),)) for second in range(20)]
    assert set(told) == {Lag(doubt="zone")}


@pytest.mark.parametrize(
    ("beats", "sources", "lag"),
    [
        ({11: 1700.0, OWN: 0.1}, (11,), 1700.0),  # the replica writes one as well
        ({11: 1700.0, OWN: 0.1, 31: 0.2}, (11,), 1700.0),  # and so does a server of another branch
        ({7: 42.0, OWN: 0.1}, (11,), 42.0),  # the source writes none: the beat of its own source comes through
        ({7: 42.0, 31: 0.2}, (11,), None),  # whose lag is meant is open
        ({OWN: 0.1}, (11,), None),
        ({11: 3.0}, (None,), 3.0),  # a channel that was never connected
        ({11: 3.0, 12: 90.0}, (11, 12), 90.0),  # two sources: the one that is furthest behind
        ({11: 3.0}, (11, 12), None),  # one of them is not known
        ({11: 3.0, 12: 90.0}, (), None),
    ],
)
def test_that_only_the_row_of_the_source_counts(
    beats: dict[int, float], sources: tuple[int | None, ...], lag: float | None
) -> None:
    found = Heartbeats().lag(table(beats), tuple(source(one) for one in sources)).seconds
    assert found == (None if lag is None else pytest.approx(lag))


_UNSIGNED = ("2026-07-03 11:59:50", 1, str(NOON.replace(tzinfo=None)), OWN)
"""A row of pt-heartbeat before 2.1: a moment and the row's number."""


@pytest.mark.parametrize("sources", [(), (11,), (None,), (11, 12)])
@pytest.mark.parametrize("many", [1, 2])
def test_that_whose_row_without_a_server_id_it_is_is_not_known_and_said(
    sources: tuple[int | None, ...], many: int
) -> None:
    rows = Rows(("ts", "id", "now", "own"), (_UNSIGNED,) * many)
    lag = Heartbeats().lag(rows, tuple(source(one) for one in sources))
    assert lag == Lag(doubt="unsigned")
    assert [one.code for one in heartbeat_problems(lag)] == ["heartbeat-unsigned"]
    signed = Rows(("ts", "server_id", "now", "own"), (("2026-07-03 11:59:50", "x", *_UNSIGNED[2:]),))
    assert Heartbeats().lag(signed, (source(11),)) == Lag(doubt="unsigned")


def test_that_a_row_without_a_server_id_counts_where_only_one_channel_can_have_written_it() -> None:
    rows = Rows(("ts", "id", "now", "own"), (_UNSIGNED,))
    assert Heartbeats().lag(rows, (source(11),), sealed=True).seconds == pytest.approx(10.25)
    assert Heartbeats().lag(rows, (source(11), source(12)), sealed=True) == Lag(doubt="unsigned")
    twice = Rows(rows.columns, (_UNSIGNED, _UNSIGNED))
    assert Heartbeats().lag(twice, (source(11),), sealed=True) == Lag(doubt="unsigned")


@pytest.mark.parametrize(
    ("told", "sealed"),
    [
        ({"read_only": "ON", "super_read_only": "ON"}, True),
        ({"read_only": "NO_LOCK_NO_ADMIN"}, True),
        ({"read_only": "ON", "super_read_only": "OFF"}, False),
        ({"read_only": "ON"}, False),  # MariaDB: who may administer, or pass read_only by, writes
        ({"read_only": "ON", "super_read_only": "maybe"}, False),
    ],
)
def test_that_a_server_is_sealed_only_where_administrators_may_not_write_either(
    told: dict[str, str], *, sealed: bool
) -> None:
    assert is_sealed(told) is sealed


@pytest.mark.parametrize("zone_s", sorted(zone for zone in ZONES_S if zone > 0))
def test_that_local_time_east_of_greenwich_is_recognised_by_its_constant_offset_and_said(zone_s: int) -> None:
    lags = seconds_of([0.4 - zone_s] * 5 + [0.4 - zone_s + n for n in range(1, 1801)])  # then its beat stands still
    assert [lag.seconds for lag in lags[:4]] == [None] * 4
    assert lags[4].seconds == pytest.approx(0.4)
    assert lags[-1].seconds == pytest.approx(1800.4)
    assert f"UTC+{zone_s // 3600:02}:{zone_s % 3600 // 60:02}" in heartbeat_problems(lags[-1])[0].sentence


def test_that_a_replica_that_is_behind_when_it_is_first_seen_has_no_zone_made_up_for_it() -> None:
    """Half an hour behind a writer of UTC+2 looks as UTC+1:30, which is no zone; an hour and a half as UTC+0:30."""
    for behind in (1800.0, 5400.0, 2000.0):
        assert {lag.seconds for lag in seconds_of([behind - 7200.0] * 30)} == {None}


def test_that_a_delayed_replica_has_its_delay_and_no_zone() -> None:
    assert [lag.seconds for lag in seconds_of([3600.3] * 10, delay=3600)] == [pytest.approx(3600.3)] * 10
    assert {lag.seconds for lag in seconds_of([-3600.0] * 10, delay=3600)} == {None}


def test_that_local_time_west_of_greenwich_is_not_told_as_hours_behind() -> None:
    lags = seconds_of([18_000.4] * 20)
    assert set(lags) == {Lag(doubt="zone")}


def test_that_a_thread_that_stopped_and_a_replica_that_falls_back_are_told_as_they_are() -> None:
    stopped = seconds_of([890.0 + n for n in range(30)])  # the beat stands still
    assert [lag.seconds for lag in stopped] == [pytest.approx(890.0 + n) for n in range(30)]
    falling = seconds_of([16.0 + 30.0 * n for n in range(200)], every=60.0)
    told = [lag.seconds for lag in falling if lag.seconds is not None]
    assert len(told) > 180
    assert max(told) > 5900


def test_that_the_end_of_summer_time_makes_nobody_an_hour_behind() -> None:
    lags = seconds_of([0.3 - 7200.0] * 6 + [0.3 - 3600.0] * 6)
    assert [lag.seconds for lag in lags[4:6]] == [pytest.approx(0.3)] * 2
    assert all(lag.seconds is None or lag.seconds < 1 for lag in lags)
    assert lags[-1].seconds == pytest.approx(0.3)
    assert lags[-1].zone_s == 3600


def test_that_the_beginning_of_summer_time_and_a_change_to_utc_are_noticed() -> None:
    lags = seconds_of([0.3 - 3600.0] * 6 + [0.3 - 7200.0] * 6 + [0.3] * 2)
    assert all(lag.seconds is None or lag.seconds < 1 for lag in lags)
    assert lags[11].zone_s == 7200
    assert lags[-1].seconds == pytest.approx(0.3)
    assert lags[-1].zone_s == 0


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=4), st.text(max_size=4))
@settings(max_examples=examples(300), deadline=None)
def test_that_no_text_becomes_a_lag_unless_both_moments_can_be_read(ts: str, now: str, one: str, own: str) -> None:
    rows = Rows(("ts", "server_id", "now", "own"), ((ts, one, now, own),))
    if heartbeat_lag(rows, (source(11),)) is not None:
        datetime.fromisoformat(ts.strip().replace(" ", "T"))
        datetime.fromisoformat(now.strip().replace(" ", "T"))


def test_that_only_the_table_of_the_inventory_may_be_read() -> None:
    statement = statement_of(heartbeat_statement("percona.heartbeat"))
    check_statement(statement, heartbeat_table="percona.heartbeat")
    with pytest.raises(Exception, match="heartbeat"):
        check_statement(statement)

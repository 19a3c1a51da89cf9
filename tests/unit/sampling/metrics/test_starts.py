"""A restart is told where something shows one: a start that nobody knew yet, or a clock that was late, shows none."""

from __future__ import annotations

import numpy as np
import pytest

from services.clock import ManualClock
from services.facts.server.dialect import dialect_of
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, SqlAccess
from services.sampling.facts_of_host import HostState
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.reader import SeriesReader
from services.sampling.past.past_positions import last_start
from services.sampling.past.starts import known_starts
from services.sampling.server_poll import polled_sql
from services.sampling.sql_poll import SqlResult
from services.series import Sample
from tests.unit.sampling.conftest import START


def keep(store: HistoryStore, seconds: range, epoch: str, uptime: float | None = 1000.0) -> None:
    for i in seconds:
        values = {"os.loadavg_1": 1.0} | ({} if uptime is None else {"questions": 10.0 * i, "uptime": uptime + i})
        store.append(Sample("s1", START + i, 1000.0 + i, values, epoch))
    store.flush()


def restarts(store: HistoryStore, end: int) -> tuple[float, ...]:
    reader = SeriesReader(store, load_catalogue())
    drawn = reader.series("s1", "load.questions", START, START + end, 1000).restarts
    assert reader.tail("s1", "load.questions", START - 1).restarts == drawn
    return tuple(at - START for at in drawn)


def test_that_a_start_that_becomes_known_is_no_restart(store: HistoryStore) -> None:
    keep(store, range(5), "", uptime=None)
    keep(store, range(5, 20), ":1795489591")
    assert restarts(store, 20) == ()


def test_that_a_next_run_that_hears_the_host_before_its_server_makes_no_restart(store: HistoryStore) -> None:
    keep(store, range(10), ":1795489591")
    keep(store, range(10, 13), "", uptime=None)
    assert last_start(store, "s1", START + 13) == ":1795489591"
    keep(store, range(13, 20), ":1795489589")
    assert restarts(store, 20) == ()


def test_that_another_start_is_a_restart_at_the_first_sample_of_it(store: HistoryStore) -> None:
    keep(store, range(10), ":1795489591")
    keep(store, range(10, 13), "", uptime=None)
    keep(store, range(13, 20), ":1795490600", uptime=-13.0)
    assert restarts(store, 20) == (13.0,)


def test_that_unknown_starts_alone_stay_as_they_are() -> None:
    same = np.array([3.0, 3.0])
    assert known_starts(same, lambda _: "") is same


class Server:
    """Answers of one server to one console, whose clocks a test moves apart."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_795_490_000.0)
        self.state = HostState(HostEntry("s1", "10.0.0.1", sql=SqlAccess("obs")), self.clock, None)

    def answers(self, uptime: float, late_s: float = 0.0) -> str:
        at = self.clock.wall() + late_s
        status = {"Uptime": str(uptime), "Threads_running": "1"}
        self.state.sql_answered(polled_sql(SqlResult(at, self.clock.monotonic(), 0.01, status, {}, dialect_of({}))))
        return self.state.sql_epoch()


@pytest.mark.parametrize("late_s", [2.0, 30.0, -3600.0])
def test_that_an_answer_which_a_late_console_dates_wrongly_is_of_the_same_start(late_s: float) -> None:
    server = Server()
    first = server.answers(1065.0)
    server.clock.advance(3.0)
    assert server.answers(1068.0, late_s) == first
    facts = server.state.facts().server
    assert facts is not None
    assert facts.started_at == 1_795_490_000.0 - 1065.0


@pytest.mark.parametrize(("away_s", "uptime"), [(8.0, 2.0), (7200.0, 3600.0)])
def test_that_an_uptime_that_went_back_or_began_meanwhile_is_a_restart(away_s: float, uptime: float) -> None:
    server = Server()
    first = server.answers(1065.0)
    server.clock.advance(away_s)
    assert server.answers(uptime) != first

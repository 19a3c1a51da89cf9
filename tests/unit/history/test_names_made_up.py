"""Servers that make up names, each second or of any length: memory and the file's lists stay bounded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.events import Event
from services.facts.model import NodeFacts, Problem, ServerFacts
from services.facts.server.dialect import dialect_of
from services.facts.server.server import parse_server
from services.facts.server.variable_changes import MOST, changed_variables
from services.history import store_file
from services.history.columns import dictionary
from services.history.columns.hot import Ring
from services.history.recordings.bounds import MOST_NAME
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, SqlAccess
from services.sampling.cost import PollCost
from services.sampling.facts_of_host import MOST_STARTS, HostState
from services.sampling.host_watch import Beginning, HostWatch
from services.sampling.metrics.kept_names import MOST_LETTERS, KeptNames
from services.sampling.server_poll import polled_sql
from services.sampling.settings import WatchSettings
from services.sampling.sql_poll import SqlResult
from services.series import Sample
from tests.unit.history.conftest import START

Open = Callable[..., HistoryStore]


def test_that_a_server_s_first_names_stay_and_its_later_ones_are_told() -> None:
    names = KeptNames(most=10)
    honest = {f"name{n}": 1.0 for n in range(8)}
    assert names.kept(honest) is honest
    assert names.problem() is None
    flood = {**honest, **{f"new{n}": 1.0 for n in range(5)}, "x" * (MOST_LETTERS + 1): 1.0}
    assert list(names.kept(flood)) == [*honest, "new0", "new1"]
    assert names.kept(honest) is honest
    told = names.problem()
    assert told is not None
    assert "after the first 10" in told.sentence


def test_that_a_ring_goes_on_with_the_names_that_have_a_number() -> None:
    numbers = {"a": 16, "b": 17, "c": 18}
    ring = Ring(numbers.get)
    ring.append(Sample("db1", START, 1.0, {"a": 1.0, "x": 5.0, "b": 2.0}), 1)
    ring.append(Sample("db1", START + 1, 2.0, {"y": 5.0, "a": 3.0, "b": 2.0}), 1)
    ring.append(Sample("db1", START + 2, 3.0, {"b": 4.0, "c": 6.0, "z": 7.0}), 1)
    _, _, _, columns = ring.read(("a", "b", "c", "x", "z"), 0.0)
    assert ring.keys() == ("a", "b", "c")
    np.testing.assert_equal(columns["a"], [1.0, 3.0, np.nan])
    np.testing.assert_equal(columns["b"], [2.0, 2.0, 4.0])
    np.testing.assert_equal(columns["c"], [np.nan, np.nan, 6.0])
    assert np.isnan(columns["x"]).all()


def test_that_a_history_can_be_opened_again_whatever_names_came(
    open_store: Open, clock: ManualClock, monkeypatch
) -> None:  # type: ignore[no-untyped-def]
    """A name longer than names are, or one too many, made the whole file unreadable with the next start."""
    monkeypatch.setattr(dictionary, "MOST_OFFERED", 100)
    store = open_store()
    for second in range(30):
        made_up = {f"made_up_{second}_{n}": 1.0 for n in range(10)}
        values = {"questions": float(second), "x" * (MOST_NAME + 1): 1.0, **made_up}
        store.append(Sample("db1", START + second, float(second), values, epoch=f"{second}:" + "e" * (second * 100)))
        clock.advance(1.0)
    store.close()
    again = open_store()
    assert len(again._metrics.names()) <= 100
    assert len(again._epochs.names()) <= 101
    assert again.read("db1", ("questions",), START, START + 29).values["questions"].tolist() == list(
        map(float, range(30))
    )


def test_that_a_store_that_holds_too_many_names_already_opens_and_goes_on_with_its_first_ones(
    open_store: Open, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as a server made up while a program before this one watched it."""
    store = open_store()
    values = {"questions": 1.0, **{f"made_up_{n}": 1.0 for n in range(60)}, "x" * (MOST_NAME + 1): 1.0}
    monkeypatch.setattr(dictionary, "MOST_NAME", 10_000)
    store.append(Sample("db1", START, 1.0, values, epoch="e"))
    own = store._metrics.number("derived of the console")
    store.close()
    monkeypatch.setattr(dictionary, "MOST_OFFERED", 20)
    monkeypatch.setattr(store_file, "MOST_NAMES", 40)
    for _ in range(2):
        clock.advance(5.0)
        told: list[Event] = []
        again = open_store(on_event=told.append)
        assert len(again._metrics.names()) == 40
        assert [" names more than can be read at once: their values are left out." in event.text for event in told] == [
            True
        ]
        assert again._metrics.number("derived of the console") == own
        assert again._metrics.number("new of the console") > own
        again.append(Sample("db1", clock.wall(), 2.0, {"questions": 2.0, "made_up_59": 3.0}, epoch="e"))
        assert again.read("db1", ("questions",), START, clock.wall()).values["questions"].tolist()[-1] == 2.0
        again.close()


def test_that_a_server_that_starts_anew_each_second_gives_no_more_names_of_starts() -> None:
    clock = ManualClock(START)
    state = HostState(HostEntry("db1", "10.0.0.1", sql=SqlAccess("obs")), clock, None)
    seen = set()
    for n in range(MOST_STARTS + 50):
        facts = NodeFacts("db1", START, server=ServerFacts(server_uuid=f"u{n}", started_at=START - n * 100.0))
        state._with_epoch(facts)
        seen.add(state.sql_epoch())
    assert len(seen) == MOST_STARTS


class _Sink:
    def __init__(self) -> None:
        self.facts: list[NodeFacts] = []
        self.samples: list[Sample] = []
        self.put_facts = self.facts.append
        self.put_sample = self.samples.append

    def tell(self, event: object) -> None:
        """See Sink."""


def test_that_the_host_that_makes_up_names_says_so_and_keeps_its_first_numbers() -> None:
    class Inventing:
        has_sql, has_ssh, host, kind = True, False, "db1", "mysql"
        reached = ()
        asked = 0

        def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
            self.asked += 1
            return {"Uptime": str(self.asked), **{f"Made_up_{self.asked}_{n}": "1" for n in range(3000)}}

        def query(self, read: object, *, limit_s: float = 5.0) -> object:
            return Rows((), ())

    sink, clock = _Sink(), ManualClock(START)
    entry = HostEntry("db1", "10.0.0.1", sql=SqlAccess("obs"))
    watch = HostWatch(entry, Inventing(), sink, clock, PollCost(clock), WatchSettings(), Beginning(0.0))  # type: ignore[arg-type]
    for _ in range(4):
        watch._poll_once()
        clock.advance(1.0)
    assert all("uptime" in sample.values for sample in sink.samples)
    assert len({name for sample in sink.samples for name in sample.values}) <= 5000
    codes = [[problem.code for problem in facts.problems] for facts in sink.facts]
    assert codes[0] == []
    assert codes[-1] == ["too-many-names"]


def test_that_paths_uptimes_and_changes_of_settings_have_a_size() -> None:
    facts = parse_server({"datadir": "/" + "x" * 5000, "log_error": "y" * 5000}, {"Uptime": "1e300"}, START)
    assert (facts.datadir, facts.log_error, facts.started_at) == ("", "", None)
    long = {"x" * 70_000: "1", "wsrep_provider_options": ";".join(f"o{n}=1" for n in range(5000))}
    phrases = changed_variables(long, {name: value.replace("=1", "=2") + "2" for name, value in long.items()})
    assert len(phrases) <= MOST
    assert all(len(phrase) < 300 for phrase in phrases)


def test_that_a_problem_about_names_stands_once(clock: ManualClock) -> None:
    state = HostState(HostEntry("db1", "10.0.0.1", sql=SqlAccess("obs")), clock, None)
    state.names_refused(Problem("numbers", "x", "too-many-names"))
    result = SqlResult(START, 1.0, 0.1, {"Uptime": "5"}, {}, dialect_of({}))
    for _ in range(3):
        facts = state.sql_answered(polled_sql(result))
    assert [problem.code for problem in facts.problems] == ["too-many-names"]

"""The windows that the charts page offers around runs, out of the events that tell of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.window.charts.run_windows import run_windows
from services.events import Event
from services.procedures.plan.run_model import RunState
from services.procedures.report.around import windows_around
from services.procedures.service.run_events import run_events
from services.sampling.change.model import Window
from tests.unit.procedures.reports.test_report_change import ended

T = 1_795_200_000.0
RUN = (
    Event(T, "run", "Run 47 begins: x", key="run:47:"),
    Event(T + 10, "step", "Run 47, step 3: y", key="run:47:set-n1"),
    Event(T + 40, "run", "Run 47 is done: x", key="run:47:done"),
)


def test_that_the_windows_lie_around_the_steps_that_change_something() -> None:
    ((words, before, after),) = run_windows(RUN, T + 10_000)
    assert words == "Run 47 begins: x"
    assert before == Window(T + 10 - 600, T + 10)
    assert after == Window(T + 100, T + 700)


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_that_a_run_without_beginning_change_or_end_is_not_offered(left_out: int) -> None:
    assert run_windows(RUN[:left_out] + RUN[left_out + 1 :], T + 10_000) == ()


def test_that_a_run_that_has_just_ended_is_not_offered_and_the_newest_comes_first() -> None:
    assert run_windows(RUN, T + 90) == ()
    later = tuple(replace(e, at=e.at + 5_000, key=e.key.replace("47", "4")) for e in RUN)
    found = run_windows((*RUN, *later), T + 10_000)
    assert [before.end for _, before, _ in found] == [T + 5_010, T + 10]


def test_that_events_and_journal_agree_on_where_a_run_begins_to_change() -> None:
    view = ended().view()
    assert view.state is RunState.LEFT
    of_journal, _ = windows_around(view, 1e12)
    ((_, of_events, _),) = run_windows(tuple(run_events(view)), 1e12)
    assert of_events == of_journal

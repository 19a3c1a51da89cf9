"""The run as an engine shows it: made once for each change, and never the one before a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.clock import ManualClock
from services.procedures.engine import run_log
from services.procedures.engine.run_log import RunLog
from services.procedures.journal import entries as line
from services.procedures.journal.journal import MemoryJournal
from services.procedures.plan.actions import Ask
from services.procedures.plan.condition import Answer
from services.procedures.plan.run_model import Question, RunState, RunView, StepState
from tests.unit.procedures.plans import GOOD

FIRST = GOOD.steps[0].step_id
ASKED = Question(Ask("Now?"), FIRST, topic="step", since=1.0)
NEWER = Question(Ask("Now, with 2 s left?"), FIRST, topic="step", since=1.0)
CHANGES: dict[str, Callable[[RunLog], None]] = {
    "an entry": lambda log: log.write(line.step_state(FIRST, StepState.CHECKING)),
    "armed hosts": lambda log: log.armed(("n1",)),
    "nobody at work": lambda log: log.rests(),
    "a wait": lambda log: log.waiting(FIRST, Answer(False, "3 of 9"), "nine", 5.0),
    "a question's words": lambda log: log.asking(NEWER),
    "a line of an act": lambda log: log.said(FIRST, "half of it"),
    "a value": lambda log: log.keep(FIRST, (("seqno", "7"),)),
}
CHANGED = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())


class Listener:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[RunView] = []

    def run_changed(self, view: RunView) -> None:
        self.told.append(view)


def log_of_a_run(listener: Listener | None = None) -> RunLog:
    journal = MemoryJournal(ManualClock(1_800_000_000.0))
    run_id = journal.new_run(GOOD.procedure, GOOD.cluster_id, GOOD.title)
    for one in (
        line.planned(GOOD, {}, (), (), "ana@desk"),
        line.approved("ana"),
        line.run_state(RunState.RUNNING),
        line.asked(ASKED),
    ):
        journal.append(run_id, *one)
    return RunLog(journal, run_id, listener)


@CHANGED
def test_that_a_view_is_made_anew_behind_each_change_and_only_then(change: Callable[[RunLog], None]) -> None:
    log = log_of_a_run()
    before = log.view
    assert log.view is before
    change(log)
    after = log.view
    assert after != before
    assert log.view is after
    assert after == log._made()


@CHANGED
def test_that_a_listener_is_told_the_run_with_the_change(change: Callable[[RunLog], None]) -> None:
    listener = Listener()
    log = log_of_a_run(listener)
    before = log.view
    change(log)
    assert listener.told == [log.view]
    assert listener.told != [before]


@CHANGED
def test_that_a_view_begun_before_a_change_and_finished_behind_it_is_not_kept(
    change: Callable[[RunLog], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What two threads may do: the one makes a view of what it has read, meanwhile the other writes."""
    log, wanted = log_of_a_run(), log_of_a_run()
    change(wanted)
    real, waiting = run_log.replace, [change]

    def interrupted(thing: Any, **how: Any) -> Any:
        if waiting:
            waiting.pop()(log)
        return real(thing, **how)

    monkeypatch.setattr(run_log, "replace", interrupted)
    assert log.view.live
    assert waiting == []
    assert log.view == wanted.view

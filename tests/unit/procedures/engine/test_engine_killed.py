"""The console killed before and after every journal entry of a run, and of the run that resumed it."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace

import pytest

from services.errors import BadInput
from services.procedures.engine.parts import Policy
from services.procedures.plan.checks import Check
from services.procedures.plan.model import Plan, Step, Undo
from services.procedures.plan.run_model import RunState, RunView, StepState
from tests.sample import EVERY
from tests.unit.procedures.engine.test_engine import MORE
from tests.unit.procedures.engine_world import (
    Bench,
    Killed,
    ask,
    borrow,
    give_back,
    is_,
    plan_of,
    put,
    rest,
    switch,
    wait,
    work,
)

EASY = plan_of(
    borrow("n1", "frozen"),
    switch("n2", "drained", repeatable=True, before=(is_("n2", "drained", "OFF"),)),
    ask(keep="word"),
    work("n2", "data"),
    rest(),
    wait("n2", "data"),
    switch("n3", "b", repeatable=True),
    give_back("n1", "frozen"),
)
"""Every act is repeatable, or re-attached, or proven at once."""
FAILING = plan_of(*EASY.steps[:-1], switch("n3", "c", proof=(is_("n3", "never"),)), EASY.steps[-1])
GROWING = plan_of(borrow("n1", "frozen"), give_back("n1", "frozen"), MORE)


def silent(host: str, name: str) -> Step:
    """Return a step of which nothing shows that it was not done."""
    return switch(host, name, undo=Undo("Switch it off", put(name, "OFF")))


def _longer(view: RunView) -> tuple[tuple[Check, ...], Plan]:
    return (), replace(view.plan, steps=(*view.plan.steps[:3], switch("n2", "b"), work("n3", "data")))


def _bench(plan: Plan) -> Bench:
    bench = Bench(plan, policy=Policy("undo", unattended=True, by="ann"), continuing=_longer)
    bench.person.answers = {"doubt": ["again"], "step": ["yes"], "continued": ["approve"]}
    return bench


def _settle(bench: Bench, kills: tuple[tuple[int, bool], ...]) -> RunState:
    """Run with these kills (journal write of that console, before or after it); the last console is let alone."""
    for number, before in kills:
        bench.journal.written, bench.journal.kill_at, bench.journal.kill_before = 0, number, before
        try:
            state = bench.run()
        except Killed:
            continue
        finally:
            bench.journal.kill_at = 0
        if state is not RunState.WAITING:
            return bench.run()  # whoever opens the run again clears what a kill behind its end left
    state = bench.run()
    if state is RunState.WAITING:  # a doubt: only a person can say, and says that it was not done
        bench.policy = replace(bench.policy, unattended=False)
        state = bench.run()
    return state


def _all_kills(plan: Plan) -> list[tuple[int, bool]]:
    whole = _bench(plan)
    whole.run()
    return [(number, before) for number in range(1, whole.journal.written + 1) for before in (True, False)]


@pytest.mark.parametrize("plan", [EASY, FAILING, GROWING], ids=["to its end", "failing and undone", "growing"])
def test_that_a_run_killed_at_any_entry_ends_like_an_unbroken_one(plan: Plan) -> None:
    """A run takes every third moment, before an entry and after one by turns; `test everything` takes all."""
    unbroken = _bench(plan)
    wanted = unbroken.run()
    assert wanted in {RunState.DONE, RunState.UNDONE}
    for kill in _all_kills(plan)[:: 1 if EVERY else 3]:
        bench = _bench(plan)
        assert _settle(bench, (kill,)) is wanted, kill
        assert bench.world.settings == unbroken.world.settings, kill
        assert bench.engine().view.obligations == (), kill
        assert bench.hosts.armed == ()
        assert not bench.lock.held, kill


@pytest.mark.parametrize("plan", [EASY, FAILING], ids=["to its end", "failing and undone"])
def test_that_the_resumed_run_may_be_killed_at_any_entry_too(plan: Plan) -> None:
    unbroken = _bench(plan)
    wanted = unbroken.run()
    for first, _ in _all_kills(plan)[::8]:
        for second in range(1, 14, 2):
            bench = _bench(plan)
            assert _settle(bench, ((first, False), (second, False))) is wanted, (first, second)
            assert bench.world.settings == unbroken.world.settings, (first, second)
            assert bench.engine().view.obligations == (), (first, second)


def test_that_an_undo_of_a_run_that_was_killed_with_its_lock_on_says_what_takes_the_lock_away() -> None:
    unbroken, bench = _bench(EASY), _bench(EASY)
    unbroken.run()
    bench.journal.kill_at = unbroken.journal.written - 1  # behind 'done', before the lock is given back
    with pytest.raises(Killed):
        bench.run()
    assert bench.lock.held
    with pytest.raises(BadInput) as refused:
        bench.engine().undo()
    assert refused.value.try_ == (f"Remove what it left on the hosts: pilothouse resume {bench.run_id} --yes",)
    assert bench.run() is RunState.DONE
    assert not bench.lock.held
    with pytest.raises(BadInput) as refused:
        bench.engine().undo()
    assert refused.value.try_ == ()


def test_that_what_must_not_be_done_twice_is_done_at_most_once_whatever_entry_the_kill_hits() -> None:
    once = plan_of(silent("n1", "a"), switch("n2", "b"), replace(silent("n3", "c"), proof=()))
    doubts = 0
    for kill in _all_kills(once):
        bench = _bench(once)
        bench.person.answers = {"doubt": ["done"]}
        assert _settle(bench, (kill,)) is RunState.DONE
        doubts += bool(bench.person.asked)
        assert max(Counter(bench.world.done).values()) == 1, kill
    assert doubts


def test_that_a_long_job_that_goes_on_without_the_console_is_attached_to_and_not_begun_again() -> None:
    for kill in _all_kills(plan_of(work("n1", "data"))):
        bench = _bench(plan_of(work("n1", "data")))
        assert _settle(bench, (kill,)) is RunState.DONE
        assert bench.world.done == ["n1: data=ON"], kill
        assert bench.person.asked == []


@pytest.mark.parametrize(
    ("word", "state", "acts"),
    [("done", RunState.DONE, 0), ("again", RunState.DONE, 1), ("stop", RunState.LEFT, 0)],
)
def test_that_a_doubt_is_settled_by_the_person_s_word(word: str, state: RunState, acts: int) -> None:
    bench = Bench(plan_of(silent("n1", "a")), policy=Policy("ask", by="ann"))
    bench.person.answers = {"doubt": [word], "failed": ["leave"]}
    acting = 1 + next(i for i, e in enumerate(_entries(bench)) if e == "acting")
    fresh = Bench(plan_of(silent("n1", "a")), policy=bench.policy)
    fresh.person.answers = bench.person.answers
    assert _settle(fresh, ((acting, False),)) is state
    assert len(fresh.world.done) == acts


def test_that_a_doubt_nobody_is_there_to_settle_waits_and_does_nothing() -> None:
    bench = Bench(plan_of(silent("n1", "a")))
    acting = 1 + next(i for i, e in enumerate(_entries(Bench(plan_of(silent("n1", "a"))))) if e == "acting")
    bench.journal.kill_at = acting
    with pytest.raises(Killed):
        bench.run()
    bench.journal.kill_at = 0
    for _ in range(3):
        assert bench.run() is RunState.WAITING
    assert bench.states() == {"a-n1": "in doubt"}
    assert bench.world.done == []


def test_that_an_obligation_whose_act_never_came_is_proven_to_be_off_and_not_released_by_an_act() -> None:
    bench = _bench(plan_of(borrow("n1", "frozen"), give_back("n1", "frozen")))
    taken = 1 + _entries(_bench(plan_of(borrow("n1", "frozen"), give_back("n1", "frozen")))).index("obligation-taken")
    bench.journal.kill_at = taken
    with pytest.raises(Killed):
        bench.run()
    bench.journal.kill_at = 0
    assert [o.obligation.key for o in bench.engine().view.obligations] == ["frozen:n1"]
    assert bench.engine().leave("enough") is RunState.LEFT
    assert bench.engine().view.obligations == ()
    assert bench.world.done == []


def test_that_the_boundary_of_a_step_s_log_is_when_its_act_was_announced_first() -> None:
    began: dict[str, float] = {}
    for wait_s in (0.0, 1000.0):
        bench = _bench(plan_of(switch("n1", "a")))
        proving = 1 + _entries(_bench(plan_of(switch("n1", "a")))).index("proving")
        bench.journal.kill_at, bench.journal.kill_before = proving, True
        with pytest.raises(Killed):
            bench.run()
        bench.journal.kill_at = 0
        bench.clock.advance(wait_s)
        assert bench.run() is RunState.DONE
        announced = [e.at for e in bench.journal.entries(bench.run_id) if (e.data or {}).get("state") == "acting"]
        began[str(wait_s)] = announced[-1]
        assert len(announced) == 1
    assert began["0.0"] == began["1000.0"]


def test_that_a_run_killed_while_it_failed_can_be_taken_back_by_the_next_console() -> None:
    for kill in _all_kills(FAILING)[:: 1 if EVERY else 3]:
        bench = _bench(FAILING)
        bench.journal.kill_at, bench.journal.kill_before = kill
        with contextlib.suppress(Killed):
            bench.run()
        bench.journal.kill_at = 0
        engine = bench.engine()
        if engine.view.state in {RunState.NOT_STARTED, RunState.UNDONE}:
            continue
        assert engine.undo() is RunState.UNDONE, kill
        assert set(bench.world.settings.values()) <= {"OFF"} or bench.world.value("n2", "data") == "ON"
        assert bench.engine().view.obligations == ()


NEVER_PROVEN = plan_of(switch("n3", "c", before=(is_("n3", "ready", "OFF"),), proof=(is_("n3", "never"),)))


def _tried_again() -> Bench:
    bench = Bench(NEVER_PROVEN, policy=Policy(by="ann"))
    bench.person.answers = {"failed": ["again", "undo"]}
    return bench


def test_that_a_console_killed_before_a_second_try_acts_forgets_nothing_of_the_first() -> None:
    words = _entries(_tried_again())
    assert words.count("checking") == 2
    bench = _tried_again()
    bench.journal.kill_at = 1 + words.index("checking", words.index("checking") + 1)
    with pytest.raises(Killed):
        bench.run()
    bench.journal.kill_at = 0
    assert bench.states() == {"c-n3": "checking"}
    assert bench.world.value("n3", "c") == "ON"
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.world.value("n3", "c") == "OFF"


def test_that_a_second_try_broken_off_before_it_acts_forgets_nothing_of_the_first() -> None:
    bench = _tried_again()

    def shown(view: RunView) -> None:
        if view.steps[0].state is StepState.CHECKING and bench.world.done and not bench.control.cancelled.is_set():
            bench.world.deaf["n3"] = 2  # what must hold before can't be read: it waits, and can be broken off
            bench.control.cancel()

    bench.run_changed = shown  # type: ignore[method-assign]
    assert bench.run() is RunState.UNDONE
    assert bench.world.value("n3", "c") == "OFF"


def _entries(bench: Bench) -> list[str]:
    bench.run()
    words = [str((e.data or {}).get("state", e.kind)) for e in bench.journal.entries(bench.run_id)]
    return words[2:]

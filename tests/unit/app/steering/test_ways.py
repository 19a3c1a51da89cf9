"""Which commands a run at rest offers, and what a lock of this console's own names as the way out: by codes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.cli.arguments import build_parser
from app.cli.commands.plan import _need_owner
from services.errors import BadInput
from services.procedures.engine.lock import LockHeld
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import LockSeen
from services.procedures.plan.model import Obligation
from services.procedures.plan.run_model import OpenObligation, RunState, RunView
from services.procedures.service.ways import WayCode, tell_holder, ways_of, with_ways
from tests.unit.procedures.engine_world import is_, plan_of, put, switch
from tests.unit.procedures.facts_of_three import facts, host

OWNER = "ann@desk1 0a0b0c"
SEEN = LockSeen(OWNER, "9", 1_700_000_000.0, "trial", "uuid")
DUTY = Obligation("f:n1", "n1", "n1 is frozen", put("f", "OFF"), (is_("n1", "f", "OFF"),))
ON = (OpenObligation("9", DUTY, 1.0),)
BLOCK = Check("LOCK-FREE", "No other console works", Verdict.BLOCK, "n1: held", try_=("Wait.",))
RESUME, UNDO, RELEASE, LEAVE, CLEAR = WayCode
FORTH, BACK = (RESUME, UNDO), (UNDO,)
RESTS = [
    (RunState.NOT_STARTED, (RESUME, LEAVE), (RESUME, LEAVE)),
    (RunState.RUNNING, (*FORTH, LEAVE), (*FORTH, RELEASE, LEAVE)),
    (RunState.PAUSED, (*FORTH, LEAVE), (*FORTH, RELEASE, LEAVE)),
    (RunState.WAITING, (*FORTH, LEAVE), (*FORTH, RELEASE, LEAVE)),
    (RunState.FAILED, (*FORTH, LEAVE), (*FORTH, RELEASE, LEAVE)),
    (RunState.UNDOING, (*BACK, LEAVE), (*BACK, RELEASE, LEAVE)),
    (RunState.UNDO_FAILED, (*BACK, LEAVE), (*BACK, RELEASE, LEAVE)),
    (RunState.DONE, (), (RELEASE,)),
    (RunState.UNDONE, (), (RELEASE,)),
    (RunState.LEFT, (), (RELEASE,)),
]


def _view(state: RunState, on: tuple[OpenObligation, ...] = ()) -> RunView:
    return RunView("9", plan_of(switch("n1", "a")), state, (), obligations=on, owner=OWNER, approved=1.0)


@pytest.mark.parametrize(("state", "bare", "switched_on"), RESTS)
def test_that_each_state_offers_what_the_engine_and_the_command_line_take(
    state: RunState, bare: tuple[WayCode, ...], switched_on: tuple[WayCode, ...]
) -> None:
    for on, codes in (((), bare), (ON, switched_on)):
        ways = ways_of(_view(state, on))
        assert tuple(way.code for way in ways) == codes
        for way in ways:
            read = build_parser().parse_args(way.words)
            assert (read.command, read.run) == (way.words[0], "9")
            assert bool(getattr(read, "release", False)) == (way.code is RELEASE)
            assert bool(getattr(read, "leave", "")) == (way.code is LEAVE)


def test_that_a_driven_run_offers_nothing_and_one_that_is_over_only_to_take_its_lock_away() -> None:
    assert ways_of(replace(_view(RunState.RUNNING), live=True)) == ()
    assert ways_of(replace(_view(RunState.RUNNING), elsewhere=True)) == ()
    assert [way.code for way in ways_of(replace(_view(RunState.DONE), locked=("n1",)))] == [CLEAR]
    (resume, _) = ways_of(replace(_view(RunState.NOT_STARTED), approved=None))
    assert resume.command == "pilothouse resume 9 --yes"  # what nobody approved begins by a yes alone


@pytest.mark.parametrize(("state", "bare", "switched_on"), RESTS)
def test_that_a_lock_of_this_console_names_the_way_out_of_the_run_that_holds_it(
    state: RunState, bare: tuple[WayCode, ...], switched_on: tuple[WayCode, ...]
) -> None:
    seen = facts(host("n1", lock=SEEN), host("n2", lock=SEEN), host("n3"))
    for on in ((), ON):
        view = _view(state, on)
        commands = tuple(way.command for way in ways_of(view))
        (told,) = with_ways((BLOCK,), seen, OWNER, lambda _, view=view: view)
        assert told.commands == commands
        held = LockHeld(SEEN, "n1")
        tell_holder(held, OWNER, lambda _, view=view: view)
        assert held.own is (view if commands else None)
        assert ("Wait." in told.try_) == (not commands)  # over, and its lock is there all the same: taken over
    del bare, switched_on


def test_that_a_lock_of_another_console_names_its_run_there_and_an_unknown_run_nothing() -> None:
    def unknown(run: str) -> RunView:
        raise BadInput(f"There is no run {run}.")

    seen = facts(host("n1", lock=SEEN), host("n2"), host("n3"))
    (told,) = with_ways((BLOCK,), seen, "eva@desk2 d1e2f3", unknown)
    assert (told.commands, told.try_[0]) == ((), "Wait.")
    assert "pilothouse undo 9" in told.try_[1]
    assert with_ways((BLOCK,), seen, OWNER, unknown) == (BLOCK,)
    passed = replace(BLOCK, verdict=Verdict.PASS)
    assert with_ways((passed,), seen, OWNER, lambda _: _view(RunState.FAILED)) == (passed,)


def test_that_a_lock_is_taken_over_by_its_owner_typed_exactly_and_the_refusal_says_what_to_type() -> None:
    held = LockHeld(SEEN, "n1")
    _need_owner(held, "12", OWNER)
    with pytest.raises(LockHeld) as refused:
        _need_owner(held, "12", "ann@desk1")
    command = f"pilothouse resume 12 --take-over '{OWNER}'"
    assert refused.value.try_[1] == f"If that console is permanently gone, take over its lock: {command}"


def test_that_this_console_is_told_to_end_its_own_run_first_and_never_overruns_a_driven_one() -> None:
    for view, typed in ((_view(RunState.FAILED), ""), (replace(_view(RunState.RUNNING), live=True), OWNER)):
        held = LockHeld(SEEN, "n1")
        tell_holder(held, OWNER, lambda _, view=view: view)
        with pytest.raises(LockHeld) as refused:
            _need_owner(held, "12", typed)
        assert refused.value.try_[-1] == "Then continue this run: pilothouse resume 12"
        assert not any("--take-over" in told for told in refused.value.try_)

"""Long work that may still run is ended before a step is taken back or an obligation released, or nothing is."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from services.errors import TimedOut, Unreachable, UserError
from services.procedures.engine.parts import Policy
from services.procedures.plan.run_model import RunState
from tests.unit.procedures.engine_world import Bench, Killed, borrow, give_back, plan_of, switch, work

PLAN = plan_of(
    borrow("n2", "held"), switch("n2", "moved"), work("n2", "data"), switch("n1", "after"), give_back("n2", "held")
)
WORK = ("n2", "copy-n2")
STAY = Policy("ask", unattended=True, by="ann")


def _killed_at_work() -> Bench:
    """Return a bench whose console died when it had announced the work, which goes on."""
    for number in range(1, 60):
        bench = Bench(PLAN, policy=STAY)
        bench.journal.kill_at = number
        with contextlib.suppress(Killed):
            bench.run()
        last = bench.journal.entries(bench.run_id)[-1]
        if last.step_id == "work-n2" and (last.data or {}).get("state") == "acting":
            bench.journal.kill_at = 0
            bench.world.at_work.add(WORK)
            bench.world.done.clear()
            return bench
    raise AssertionError


def test_that_an_undo_ends_the_job_first_and_takes_back_after_it() -> None:
    bench = _killed_at_work()
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.world.done == ["n2: end copy-n2", "n2: moved=OFF", "n2: held=OFF"]
    told = [line["text"] for line in bench.lines("note") if line["about"] == "work-ended"]
    assert told == ["Copy data to n2: it was still running on n2 and was ended."]


def test_that_a_job_which_can_not_be_ended_stops_the_undo_and_keeps_what_is_on_its_host() -> None:
    bench = _killed_at_work()
    bench.world.fails["end copy-n2"] = [Unreachable("No answer.", host="n2")] * 10
    assert bench.engine().undo() is RunState.UNDO_FAILED
    assert bench.world.done == []
    assert WORK in bench.world.at_work
    assert "Not known whether this still runs on n2: Copy data to n2. " in bench.engine().view.sentence
    assert [o.obligation.key for o in bench.engine().view.obligations] == ["held:n2"]
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.world.done == ["n2: end copy-n2", "n2: moved=OFF", "n2: held=OFF"]


def test_that_a_broken_way_to_the_job_is_tried_again() -> None:
    bench = _killed_at_work()
    bench.world.fails["end copy-n2"] = [Unreachable("No answer.", host="n2")] * 3
    assert bench.engine().undo() is RunState.UNDONE


def test_that_a_job_whose_limit_ran_out_is_ended_before_the_undo_and_before_a_release_alone() -> None:
    for leaves in (False, True):
        bench = Bench(PLAN, policy=STAY)
        bench.world.fails["work-n2"] = [TimedOut("It takes too long.", host="n2")]
        assert bench.run() is RunState.FAILED
        bench.world.at_work.add(WORK)
        bench.world.done.clear()
        engine = bench.engine()
        assert (engine.release("held:n2") if leaves else engine.undo()) in {RunState.FAILED, RunState.UNDONE}
        assert bench.world.done[0] == "n2: end copy-n2"
        assert bench.world.at_work == set()


def test_that_a_run_left_as_it_is_ends_its_job_on_a_host_where_nothing_is_switched_on_too() -> None:
    for fails in (0, 5):
        bench = Bench(plan_of(borrow("n1", "held"), work("n2", "data"), give_back("n1", "held")), policy=STAY)
        bench.world.fails["work-n2"] = [TimedOut("It takes too long.", host="n2")]
        assert bench.run() is RunState.FAILED
        bench.world.at_work.add(WORK)
        bench.world.done.clear()
        bench.world.fails["end copy-n2"] = [Unreachable("No answer.", host="n2")] * fails
        assert bench.engine().leave("enough") is RunState.LEFT
        said = bench.engine().view.sentence
        if not fails:
            assert bench.world.done == ["n2: end copy-n2", "n1: held=OFF"]
            assert "still runs on" not in said
            assert not bench.engine().view.locked
            continue
        assert bench.world.done == ["n1: held=OFF"]
        assert "Not known whether this still runs on n2: Copy data to n2. " in said
        assert f"pilothouse resume {bench.run_id} --yes" in said
        assert bench.engine().view.locked  # no other console may work there meanwhile
        assert bench.run() is RunState.LEFT
        assert (bench.world.at_work, bench.engine().view.locked) == (set(), ())


def test_that_an_obligation_stays_where_the_job_on_its_host_can_not_be_ended() -> None:
    bench = _killed_at_work()
    bench.world.fails["end copy-n2"] = [Unreachable("No answer.", host="n2")] * 10
    assert bench.engine().leave("enough") is RunState.LEFT
    assert bench.world.done == []
    (left,) = bench.engine().view.obligations
    assert "it was not released. Not known whether this still runs on n2" in left.release_failed


def test_that_a_job_told_as_done_is_asked_for_once_more_only_on_the_host_that_is_moved_at() -> None:
    bench = Bench(PLAN, policy=STAY)
    bench.world.fails["after-n1"] = [UserError("It failed.", host="n1")]
    assert bench.run() is RunState.FAILED
    bench.world.at_work.add(WORK)  # its proof held while it still wrote
    bench.world.done.clear()
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.world.done.index("n2: end copy-n2") < bench.world.done.index("n2: moved=OFF")


def test_that_what_goes_with_the_undo_of_an_earlier_step_is_not_told_to_stay() -> None:
    for goes_with, told in (("", True), ("held-n2", True), ("moved-n2", False)):
        last = replace(work("n2", "data"), goes_with=goes_with)
        plan = plan_of(borrow("n1", "held"), switch("n2", "moved"), last, give_back("n1", "held"))
        bench = Bench(plan, policy=STAY)
        bench.world.fails["end-held-n1"] = [UserError("It failed.", host="n1")] * 9
        assert bench.run() is RunState.FAILED
        assert bench.engine().undo() is RunState.UNDONE
        assert ("This remains: Copy data to n2" in bench.engine().view.sentence) is told

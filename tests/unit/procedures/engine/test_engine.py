"""What an engine does between the first and the last entry of a run that nobody kills."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.connections.command import Command
from services.errors import BadInput, StoreError, UserError
from services.procedures.engine.parts import Policy
from services.procedures.plan.actions import Ask, Continue, Run
from services.procedures.plan.checks import Check, Override, Verdict
from services.procedures.plan.looks import AT_THE_END
from services.procedures.plan.model import Plan, Risk, Step
from services.procedures.plan.run_model import Question, RunState, RunView
from tests.unit.procedures.engine_world import (
    Bench,
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

ASKING = Policy("ask", by="ann")
BLOCK = Check("DISK-FREE", "Free disk", Verdict.BLOCK, "2 GB on n1")


def test_that_a_plan_runs_to_its_end_and_leaves_nothing_armed_locked_or_switched_on() -> None:
    bench = Bench(plan_of(borrow("n1", "frozen"), switch("n2", "drained"), ask(), work("n2", "data"), rest(),
                          give_back("n1", "frozen")))  # fmt: skip
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: frozen=ON", "n2: drained=ON", "n2: data=ON", "n1: frozen=OFF"]
    assert bench.view.obligations == ()
    assert bench.hosts.armed == ()
    assert not bench.lock.held
    assert bench.view.armed == ()
    assert not bench.view.live
    assert [d["what"] for d in bench.lines("lock")] == ["take", "taken", "released"]


def test_that_the_obligation_and_the_act_are_announced_before_the_act() -> None:
    bench = Bench(plan_of(borrow("n1", "frozen"), give_back("n1", "frozen")))
    seen: list[list[str]] = []
    bench.world.after["frozen-n1"] = lambda: seen.append(
        [f"{e.kind} {(e.data or {}).get('state', '')}".strip() for e in bench.journal.entries(bench.run_id)][-3:]
    )
    bench.run()
    assert seen == [["step checking", "obligation-taken", "step acting"]]


def test_that_a_second_run_finds_nothing_to_do_in_a_step_that_is_already_so() -> None:
    bench = Bench(plan_of(switch("n1", "drained", already=(is_("n1", "drained"),))))
    bench.world.settings["n1", "drained"] = "ON"
    assert bench.run() is RunState.DONE
    assert bench.world.done == []
    assert bench.states() == {"drained-n1": "already so"}


def test_that_a_precondition_that_moved_stops_the_run_with_its_evidence() -> None:
    bench = Bench(plan_of(switch("n1", "drained", before=(is_("n2", "synced"),))))
    assert bench.run() is RunState.UNDONE
    assert bench.world.done == []
    error = bench.view.steps[0].error
    assert "synced of n2 is OFF" in error
    assert "This step changed nothing" in error


def test_that_a_precondition_that_can_not_be_read_is_tried_again_for_a_while() -> None:
    bench = Bench(plan_of(switch("n1", "drained", before=(is_("n2", "synced"),))))
    bench.world.settings["n2", "synced"] = "ON"
    bench.world.deaf["n2"] = 5
    assert bench.run() is RunState.DONE


def test_that_a_host_that_never_answers_stops_the_run_before_the_act() -> None:
    bench = Bench(plan_of(switch("n1", "drained", before=(is_("n2", "synced"),))))
    bench.world.deaf["n2"] = 10_000
    assert bench.run() is RunState.UNDONE
    assert bench.world.done == []
    assert "n2 does not answer" in bench.view.steps[0].error


def test_that_standing_blocks_refuse_a_run_and_named_ones_with_a_reason_do_not() -> None:
    plan = plan_of(switch("n1", "drained"))
    refused = Bench(plan, checks=(BLOCK,))
    with pytest.raises(BadInput):
        refused.run()
    assert refused.world.done == []
    assert not refused.lock.held
    assert Bench(plan, checks=(BLOCK,), overrides=(Override("DISK-FREE", "it is a test"),)).run() is RunState.DONE


def test_that_a_plan_that_breaks_the_laws_is_refused() -> None:
    bench = Bench(plan_of(borrow("n1", "frozen"), replace(switch("n1", "drained"), host="stranger")))
    with pytest.raises(BadInput):
        bench.run()
    assert bench.world.done == []


def test_that_a_full_disk_stops_the_run_before_the_act_and_disarms() -> None:
    whole = Bench(plan_of(switch("n1", "a"), switch("n2", "b")))
    whole.run()
    for full_at in range(1, whole.journal.written + 1):
        bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b")))
        bench.journal.full_at = full_at
        with pytest.raises(StoreError):
            bench.run()
        announced = [e.step_id for e in bench.journal.entries(bench.run_id) if (e.data or {}).get("state") == "acting"]
        assert len(bench.world.done) <= len(announced)
        assert bench.hosts.armed == ()


# -- failure and undo --------------------------------------------------------------------------------------------------


def test_that_a_failed_proof_is_undone_in_reverse_and_releases_what_is_on() -> None:
    never = switch("n3", "c", proof=(is_("n3", "other"),))
    bench = Bench(plan_of(borrow("n1", "frozen"), switch("n2", "b"), never, give_back("n1", "frozen")))
    assert bench.run() is RunState.UNDONE
    assert bench.world.done[3:] == ["n3: c=OFF", "n2: b=OFF", "n1: frozen=OFF"]
    assert bench.view.obligations == ()
    assert not bench.lock.held


def test_that_an_undo_that_fails_is_a_state_from_which_it_can_be_tried_again() -> None:
    bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b", proof=(is_("n2", "other"),))))
    bench.world.fails["undo:a-n1"] = [UserError("No room.", host="n1") for _ in range(60)]
    assert bench.run() is RunState.UNDO_FAILED
    assert bench.states()["a-n1"] == "undo failed"
    bench.world.fails.clear()
    assert bench.engine().undo() is RunState.UNDONE
    assert bench.world.value("n1", "a") == "OFF"


def test_that_a_release_that_fails_keeps_the_obligation_open_and_can_be_tried_later() -> None:
    bench = Bench(plan_of(borrow("n1", "frozen"), switch("n2", "b", proof=(is_("n2", "other"),)),
                          give_back("n1", "frozen")))  # fmt: skip
    key = "release:frozen:n1"
    bench.world.fails["undo:frozen-n1"] = [UserError("Gone.", host="n1") for _ in range(60)]
    bench.world.fails[key] = [UserError("Gone.", host="n1") for _ in range(5)]
    assert bench.run() is RunState.UNDO_FAILED
    assert bench.world.fails[key] == []
    assert "Gone." in bench.view.obligations[0].release_failed
    bench.engine().release()
    assert bench.view.obligations == ()
    assert bench.world.value("n1", "frozen") == "OFF"


def test_that_a_person_may_try_a_failed_step_again() -> None:
    bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b")), policy=ASKING)
    bench.world.fails["b-n2"] = [UserError("Busy.", host="n2")]
    bench.person.answers = {"failed": ["again"]}
    assert bench.run() is RunState.DONE


def test_that_a_step_whose_proof_came_late_is_not_done_a_second_time() -> None:
    bench = Bench(plan_of(switch("n1", "a", proof=(is_("n1", "slow"),))), policy=ASKING)

    def meanwhile(question: Question) -> None:
        bench.world.settings["n1", "slow"] = "ON"

    bench.person.answers, bench.person.on_ask = {"failed": ["again"]}, meanwhile
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: a=ON"]


def test_that_leaving_a_failed_run_releases_what_is_on_and_takes_nothing_else_back() -> None:
    bench = Bench(plan_of(borrow("n1", "frozen"), switch("n2", "b", proof=(is_("n2", "other"),)),
                          give_back("n1", "frozen")), policy=ASKING)  # fmt: skip
    bench.person.answers = {"failed": ["leave"]}
    assert bench.run() is RunState.LEFT
    assert bench.world.value("n1", "frozen") == "OFF"
    assert bench.world.value("n2", "b") == "ON"
    assert not bench.lock.held


@pytest.mark.parametrize("wish", ["undo", "leave"])
def test_that_a_wish_from_another_thread_is_followed_inside_a_wait(wish: str) -> None:
    bench = Bench(plan_of(borrow("n1", "frozen"), wait("n2", "never", limit_s=1e6), give_back("n1", "frozen")))
    engine = bench.engine()

    def look(view: RunView) -> None:
        if view.steps[1].waits_for:
            bench.control.undo() if wish == "undo" else bench.control.leave("enough")

    bench.run_changed = look  # type: ignore[method-assign]
    assert engine.run() is (RunState.UNDONE if wish == "undo" else RunState.LEFT)
    assert bench.world.value("n1", "frozen") == "OFF"


def test_that_the_wish_to_undo_does_not_break_off_the_undo_s_own_waits() -> None:
    bench = Bench(plan_of(switch("n1", "a"), ask()), policy=ASKING)
    engine = bench.engine()
    bench.person.on_ask = lambda question: bench.control.undo()
    bench.world.after["undo:a-n1"] = lambda: bench.world.deaf.update({"n1": 20})
    assert engine.run() is RunState.UNDONE
    assert bench.world.deaf["n1"] == 0


def test_that_cancelling_breaks_a_step_off_where_that_is_safe_only() -> None:
    for cancellable, expected in ((True, "cancelled"), (False, "failed")):
        bench = Bench(plan_of(switch("n1", "a", proof=(is_("n1", "slow"),), cancellable=cancellable)), policy=ASKING)
        engine = bench.engine()
        bench.world.after["a-n1"] = bench.control.cancel
        bench.person.answers = {"failed": ["leave"]}
        assert engine.run() is RunState.LEFT
        assert bench.states()["a-n1"] == expected


def test_that_an_act_that_was_broken_off_by_a_person_is_cancelled_and_not_failed() -> None:
    bench = Bench(plan_of(work("n1", "data")), policy=ASKING)
    engine = bench.engine()
    bench.world.after["work-n1"] = bench.control.cancel
    bench.world.fails["late work-n1"] = [UserError("The work was stopped.", host="n1")]
    bench.person.answers = {"failed": ["leave"]}
    assert engine.run() is RunState.LEFT
    assert bench.states()["work-n1"] == "cancelled"
    assert not bench.control.cancelled.is_set()


def test_that_a_pause_stops_before_the_next_act_and_goes_on() -> None:
    bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b")))
    engine = bench.engine()
    bench.world.after["a-n1"] = bench.control.pause
    seen: list[tuple[str, ...]] = []

    def look(view: RunView) -> None:
        if view.state is RunState.PAUSED:
            seen.append(tuple(bench.world.done))
            bench.control.go_on()

    bench.run_changed = look  # type: ignore[method-assign]
    assert engine.run() is RunState.DONE
    assert seen == [("n1: a=ON",)]


def test_that_a_console_that_closes_leaves_the_run_to_be_resumed() -> None:
    bench = Bench(plan_of(borrow("n1", "frozen"), wait("n2", "ready", limit_s=1e6), give_back("n1", "frozen")))
    engine = bench.engine()
    bench.world.after["frozen-n1"] = bench.control.close
    assert engine.run() is RunState.RUNNING
    assert bench.hosts.armed == ()
    assert [o.obligation.key for o in bench.engine().view.obligations] == ["frozen:n1"]
    bench.world.settings["n2", "ready"] = "ON"
    assert bench.run() is RunState.DONE


# -- questions ---------------------------------------------------------------------------------------------------------


WIPE = Step("wipe", "n1", "Wipe n1", put("wiped"), risk=Risk.IRREVERSIBLE, proof=(is_("n1", "wiped"),), confirm="n1")


def test_that_a_step_that_can_not_be_undone_waits_for_the_host_s_name() -> None:
    asking = Bench(plan_of(WIPE), policy=ASKING)
    asking.person.answers = {"step": ["n2", "yes", "n1"]}
    assert asking.run() is RunState.DONE
    alone = Bench(plan_of(WIPE))
    assert alone.run() is RunState.WAITING
    assert alone.world.done == []
    alone.policy = replace(alone.policy, confirmed=frozenset({"n1"}))
    assert alone.run() is RunState.DONE


def test_that_a_question_only_a_person_can_answer_lets_an_unattended_run_wait() -> None:
    only_you = Step("you", "", "Look at it", Ask("Is it well?"), risk=Risk.YOU)
    bench = Bench(plan_of(borrow("n1", "frozen"), only_you, give_back("n1", "frozen")))
    assert bench.run() is RunState.WAITING
    assert bench.hosts.armed == ()
    bench.policy = ASKING
    bench.person.answers = {"step": ["yes"]}
    assert bench.run() is RunState.DONE
    assert bench.world.value("n1", "frozen") == "OFF"


def test_that_a_script_takes_nothing_back_once_the_cluster_serves_again() -> None:
    steps = (switch("n1", "up", serves=True), switch("n2", "up"))
    bench = Bench(plan_of(*steps))
    bench.world.fails["up-n2"] = [UserError("Busy.", host="n2")]
    assert bench.run() is RunState.FAILED
    assert bench.world.value("n1", "up") == "ON"
    bench.policy = ASKING
    bench.person.answers = {"failed": ["again"]}
    assert bench.run() is RunState.DONE
    early = Bench(plan_of(*steps))
    early.world.fails["up-n1"] = [UserError("Busy.", host="n1")]
    assert early.run() is RunState.UNDONE


def test_that_a_chosen_answer_is_kept_for_later_steps() -> None:
    which = Ask("Which?", "choice", choices=(("left", ""), ("right", "")), keep="side")
    bench = Bench(plan_of(Step("which", "", "Choose", which, risk=Risk.YOU)), policy=ASKING)
    bench.person.answers = {"step": ["neither", "left"]}
    assert bench.run() is RunState.DONE
    assert bench.view.kept == (("side", "left"),)


def test_that_values_of_acts_are_kept() -> None:
    look = Run(Command(("set", "place", "here")), keep="place")
    find = Step("find", "n1", "Find it", look, why="It changes nothing.", repeatable=True)
    bench = Bench(plan_of(find))
    assert bench.run() is RunState.DONE
    assert bench.view.kept == (("place", "here"),)


# -- plans that go on --------------------------------------------------------------------------------------------------

MORE = Step("more", "", "Plan the rest", Continue("the positions are known now"), risk=Risk.READS)


def _longer(view: RunView) -> tuple[tuple[Check, ...], Plan]:
    return (), replace(view.plan, steps=(*view.plan.steps, switch("n2", "b")))


def test_that_the_rest_of_a_plan_is_made_approved_and_run() -> None:
    bench = Bench(plan_of(switch("n1", "a"), MORE), policy=ASKING, continuing=_longer)
    bench.person.answers = {"continued": ["approve"]}
    assert bench.run() is RunState.DONE
    assert bench.world.done == ["n1: a=ON", "n2: b=ON"]


def test_that_the_question_for_the_rest_names_what_changes_a_server_where_nothing_is_final() -> None:
    def more(view: RunView) -> tuple[tuple[Check, ...], Plan]:
        steps = (switch("n2", "b"), switch("n2", "c"))
        return (), replace(view.plan, steps=(*view.plan.steps, *steps))

    bench = Bench(plan_of(switch("n1", "a"), MORE), policy=ASKING, continuing=more)
    bench.person.answers = {"continued": ["approve"]}
    assert bench.run() is RunState.DONE
    assert "is ready: 2 steps change n2, among them: Switch b of n2 on; Switch c of n2 on. Approve it?" in str(
        bench.lines("asked")
    )


def test_that_the_question_for_the_rest_names_the_step_that_can_not_be_undone() -> None:
    def wiping(view: RunView) -> tuple[tuple[Check, ...], Plan]:
        return (), replace(view.plan, steps=(*view.plan.steps, WIPE, switch("n2", "b")))

    bench = Bench(plan_of(switch("n1", "a"), MORE), policy=ASKING, continuing=wiping)
    bench.person.answers = {"continued": ["approve"], "step": ["n1"]}
    assert bench.run() is RunState.DONE
    assert "The rest of the plan is ready: 2 steps change n1, n2, among them: Wipe n1. Approve it?" in str(
        bench.lines("asked")[0]
    )


def test_that_a_rest_that_changes_what_was_approved_is_refused_and_the_journal_stays_readable() -> None:
    def other(view: RunView) -> tuple[tuple[Check, ...], Plan]:
        return (), replace(view.plan, steps=(switch("n3", "c"), MORE, switch("n2", "b")))

    bench = Bench(plan_of(switch("n1", "a"), MORE), continuing=other)
    assert bench.run() is RunState.UNDONE
    assert bench.states()["a-n1"] == "undone"


def test_that_a_block_found_on_the_way_stops_the_rest() -> None:
    def blocked(view: RunView) -> tuple[tuple[Check, ...], Plan]:
        return (replace(BLOCK, try_=("remove old backups.",)),), _longer(view)[1]

    bench = Bench(plan_of(switch("n1", "a"), MORE), continuing=blocked)
    assert bench.run() is RunState.UNDONE
    assert bench.world.done == ["n1: a=ON", "n1: a=OFF"]
    said = " ".join(shown.failed + shown.error for shown in bench.view.steps)
    assert "2 GB on n1. Try: remove old backups." in said
    assert "undo the run and start again" in said


# -- what can't be -----------------------------------------------------------------------------------------------------


def test_that_a_run_that_is_over_or_did_nothing_is_not_taken_back() -> None:
    bench = Bench(plan_of(switch("n1", "a")))
    with pytest.raises(BadInput):
        bench.engine().undo()
    bench.run()
    with pytest.raises(BadInput):
        bench.engine().undo()
    assert bench.world.value("n1", "a") == "ON"


def test_that_a_run_killed_in_its_undo_can_be_left() -> None:
    bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b", proof=(is_("n2", "other"),))))
    bench.world.fails["undo:b-n2"] = [UserError("Busy.", host="n2") for _ in range(60)]
    bench.run()
    assert bench.engine().leave("by hand") is RunState.LEFT


def test_that_a_sentence_kept_for_the_end_follows_what_was_expected() -> None:
    step = ask()
    assert isinstance(step.action, Ask)
    bench = Bench(plan_of(replace(step, action=replace(step.action, keep=f"{AT_THE_END}x"))))
    assert bench.run() is RunState.DONE
    assert bench.view.sentence == f"It is so. {dict(bench.view.kept)[f'{AT_THE_END}x']}"

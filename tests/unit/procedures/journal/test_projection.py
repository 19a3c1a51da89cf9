"""What a journal says of a run: true after a kill behind any entry, strict about what can't follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.clock import ManualClock
from services.errors import StoreError
from services.procedures.journal import entries as line
from services.procedures.journal.journal import MemoryJournal
from services.procedures.journal.obligations import open_obligations
from services.procedures.journal.projection import Projecting, acts_began, at_work_elsewhere, project
from services.procedures.plan.actions import Ask, Continue
from services.procedures.plan.checks import Check, Override, Verdict
from services.procedures.plan.model import Breach, Plan
from services.procedures.plan.run_model import RUN_WAYS, STEP_WAYS, Entry, Question, RunState, RunView, StepState
from tests.unit.procedures.plans import FREEZE, GOOD, freeze, good_plans, plan_of, rest, start, unfreeze, wait

CHECKS = (Check("DISK-FREE", "Free disk", Verdict.BLOCK, "n1: 3 GB", "The disk fills."),)
OVERRIDES = (Override("DISK-FREE", "The volume is being grown."),)
QUESTION = Question(Ask("Is it done?"), "ask-work")
S = TypeVar("S", RunState, StepState)
START = 1_800_000_000.0


class Writer:
    """Writes entries ten seconds apart."""

    def __init__(self, plan: Plan = GOOD, *, approved: bool = True) -> None:
        self.clock = ManualClock(START)
        self.journal = MemoryJournal(self.clock)
        self.run_id = self.journal.new_run(plan.procedure, plan.cluster_id, plan.title)
        self.write(line.planned(plan, {"node": "n2"}, CHECKS, OVERRIDES, "ana@desk"))
        if approved:
            self.write(line.approved("ana@desk"), line.run_state(RunState.RUNNING, "Nothing was changed yet."))

    def write(self, *lines: line.Line) -> Writer:
        for kind, step_id, data in lines:
            self.journal.append(self.run_id, kind, step_id, data)
            self.clock.advance(10.0)
        return self

    def step(self, step_id: str, *states: StepState) -> Writer:
        return self.write(*(line.step_state(step_id, state) for state in states))

    def entries(self) -> tuple[Entry, ...]:
        return self.journal.entries(self.run_id)

    def view(self) -> RunView:
        return project(self.entries())


def done_run(plan: Plan) -> Writer:
    """A run from approval to the end as an engine writes it."""
    writer = Writer(plan)
    for step in plan.steps:
        writer.step(step.step_id, StepState.CHECKING)
        if step.takes:
            writer.write(line.obligation_taken(step.step_id, step.takes))
        writer.step(step.step_id, StepState.ACTING)
        writer.write(line.output(step.step_id, ("done",)))
        writer.step(step.step_id, StepState.PROVING)
        for key in step.discharges:
            writer.write(line.obligation_discharged(step.step_id, key, "it is -1"))
        writer.step(step.step_id, StepState.DONE)
    return writer.write(line.run_state(RunState.DONE, "All is as it was."))


def test_that_an_unbroken_run_is_told_as_it_was() -> None:
    view = done_run(GOOD).view()
    assert view.state is RunState.DONE
    assert view.sentence == "All is as it was."
    assert [s.state for s in view.steps] == [StepState.DONE] * len(GOOD.steps)
    assert view.plan == GOOD
    assert (view.checks, view.overrides, view.owner) == (CHECKS, OVERRIDES, "ana@desk")
    assert (view.approved, view.started) == (START + 10, START + 20)
    assert view.ended == view.journal_at
    assert view.obligations == ()
    assert view.question is None
    first = view.steps[0]
    assert (first.started, first.ended, first.output) == (START + 30, START + 80, ("done",))


@given(good_plans())
def test_that_at_every_prefix_nothing_that_may_have_happened_is_denied(plan: Plan) -> None:
    entries = done_run(plan).entries()
    for cut in range(1, len(entries) + 1):
        seen = entries[:cut]
        view = project(seen)
        acted = {e.step_id for e in seen if e.kind == "step" and (e.data or {})["state"] == "acting"}
        for shown in view.steps:
            rests = shown.state in (StepState.PENDING, StepState.CHECKING)
            assert (shown.step.step_id in acted) is not rests
        taken = {s.takes.key for s in plan.steps if s.takes and s.step_id in acted}
        released = {str((e.data or {})["key"]) for e in seen if e.kind == "obligation-discharged"}
        on = {o.obligation.key for o in view.obligations}
        assert taken - released <= on
        assert not on & released
        assert view.journal_at == seen[-1].at
        assert open_obligations(seen) == view.obligations


def test_that_folding_one_by_one_is_folding_all() -> None:
    entries = done_run(GOOD).entries()
    folding = Projecting(entries[0])
    for cut, entry in enumerate(entries[1:], 2):
        folding.add(entry)
        assert folding.view() == project(entries[:cut])


def test_that_a_step_killed_in_its_act_may_have_happened() -> None:
    shown = Writer().step("freeze-n1", StepState.CHECKING, StepState.ACTING).view().steps[0]
    assert shown.state is StepState.ACTING
    assert "outcome unknown" in shown.said
    assert shown.ended is None
    assert (shown.started, shown.until) == (START + 30, START + 40 + 30.0)


def test_that_a_step_which_another_program_drives_is_under_way_and_not_in_doubt() -> None:
    writer = Writer().step("stop-n2", StepState.CHECKING, StepState.ACTING)
    told = at_work_elsewhere(writer.view())
    (step,) = [s for s in told.steps if s.state is StepState.ACTING]
    assert (told.elsewhere, step.said) == (True, "")
    spoken = replace(told, steps=tuple(replace(s, said="waits for Synced") for s in told.steps))
    assert {s.said for s in at_work_elsewhere(spoken).steps} == {"waits for Synced"}


def test_that_a_waiting_step_says_what_it_waits_for_and_until_when() -> None:
    writer = Writer(plan_of(wait("all"))).step("wait-all", StepState.CHECKING, StepState.ACTING)
    shown = writer.view().steps[0]
    assert shown.waits_for == "every member to be Synced"
    assert shown.until == START + 40 + 30.0
    assert writer.step("wait-all", StepState.DONE).view().steps[0].waits_for == ""


def test_that_a_step_begun_again_is_timed_from_its_last_beginning() -> None:
    writer = Writer().step("freeze-n1", StepState.CHECKING, StepState.ACTING, StepState.FAILED)
    assert writer.view().steps[0].ended == START + 50
    writer.step("freeze-n1", StepState.CHECKING, StepState.ACTING)
    assert writer.view().steps[0].started == START + 60
    assert acts_began(writer.entries()) == {"freeze-n1": START + 70}


def test_that_what_a_step_says_and_why_it_failed_is_shown() -> None:
    writer = Writer().step("freeze-n1", StepState.CHECKING)
    writer.write(line.step_state("freeze-n1", StepState.FAILED, said="It stands.", evidence=("a", "b"), error="No."))
    shown = writer.view().steps[0]
    assert (shown.said, shown.evidence, shown.error) == ("It stands.", ("a", "b"), "No.")


def test_that_evidence_stays_until_the_step_is_begun_again() -> None:
    writer = Writer().step("freeze-n1", StepState.CHECKING, StepState.ACTING)
    writer.write(line.step_state("freeze-n1", StepState.PROVING, evidence=("it is 128",)))
    assert writer.step("freeze-n1", StepState.FAILED).view().steps[0].evidence == ("it is 128",)
    assert writer.step("freeze-n1", StepState.CHECKING).view().steps[0].evidence == ()


def test_that_questions_stand_until_they_are_answered_or_passed_over() -> None:
    writer = Writer().write(line.asked(QUESTION))
    assert writer.view().question == replace(QUESTION, since=START + 30)
    writer.write(line.run_state(RunState.WAITING, "It waits for you."))
    assert writer.view().question is not None
    writer.write(line.answered(QUESTION, "yes", "ana@desk"))
    assert writer.view().question is None
    writer.write(line.asked(QUESTION), line.run_state(RunState.UNDOING))
    assert writer.view().question is None


def test_that_values_breaches_and_failed_releases_are_told() -> None:
    writer = Writer().write(
        line.value_kept("stop-n2", "position", "12"),
        line.value_kept("stop-n2", "position", "13"),
        line.breach("disk", "The disk fills.", "n1: 1 GB", Breach.RELEASE, "ask-work"),
        line.obligation_taken("freeze-n1", FREEZE),
        line.release_failed("freeze-n1", "freeze:n1", "n1 does not answer"),
        line.release_failed("freeze-n1", "other", "nobody took it"),
    )
    view = writer.view()
    assert view.kept == (("position", "13"),)
    assert view.breaches == ("The disk fills. (n1: 1 GB)",)
    assert [(o.obligation, o.release_failed) for o in view.obligations] == [(FREEZE, "n1 does not answer")]
    assert view.obligations[0].since == START + 60
    writer.write(line.obligation_discharged("freeze-n1", "freeze:n1"))
    assert writer.view().obligations == ()


def test_that_an_obligation_is_on_from_the_entry_before_its_act_and_since_the_first_time() -> None:
    writer = Writer().write(line.obligation_taken("freeze-n1", FREEZE), line.obligation_taken("freeze-n1", FREEZE))
    (one,) = open_obligations(writer.entries())
    assert (one.run_id, one.since) == (writer.run_id, START + 30)


def test_that_a_later_look_says_when_an_obligation_was_last_seen_on_and_off() -> None:
    writer = Writer().write(line.obligation_taken("freeze-n1", FREEZE), line.obligation_seen(FREEZE.key, "f", on=True))
    (one,) = writer.view().obligations
    assert (one.seen, one.seen_off) == (START + 40, None)
    (one,) = writer.write(line.obligation_seen(FREEZE.key, "-1", on=False)).view().obligations
    assert (one.seen, one.seen_off) == (START + 40, START + 50)
    (one,) = writer.write(line.obligation_seen(FREEZE.key, "f", on=True)).view().obligations
    assert (one.seen, one.seen_off) == (START + 60, None)
    assert open_obligations(writer.entries()) == (one,)


def test_that_obligations_of_several_runs_stay_apart_oldest_first() -> None:
    entries = Writer().write(line.obligation_taken("freeze-n1", FREEZE)).entries()
    older = tuple(replace(e, run_id="0", at=e.at - 1) for e in entries)
    discharged = replace(entries[-1], kind="obligation-discharged", data={"key": FREEZE.key})
    assert [o.run_id for o in open_obligations((*entries, *older))] == ["0", "1"]
    assert [o.run_id for o in open_obligations((*entries, *older, discharged))] == ["0"]


MORE = plan_of(freeze(), replace(rest("x"), step_id="more", action=Continue("the position")))
LONGER = replace(MORE, steps=(*MORE.steps, rest("end"), unfreeze()))


def test_that_a_continued_plan_is_the_plan_and_waits_for_its_own_approval() -> None:
    writer = Writer(MORE).step("freeze-n1", StepState.CHECKING, StepState.ACTING, StepState.DONE)
    writer.write(line.continued("more", LONGER, (replace(CHECKS[0], code="SECOND"),)))
    view = writer.view()
    assert view.plan == LONGER
    assert view.approved is None
    assert [s.state for s in view.steps] == [StepState.DONE, *[StepState.PENDING] * 3]
    assert [c.code for c in view.checks] == ["DISK-FREE", "SECOND"]
    with pytest.raises(StoreError, match="'rest-end' acts without an approval"):
        Writer(MORE).write(line.continued("more", LONGER, ())).step(
            "rest-end", StepState.CHECKING, StepState.ACTING
        ).view()
    again = writer.write(line.approved("ana@desk")).step("rest-end", StepState.CHECKING, StepState.ACTING).view()
    assert again.steps[2].state is StepState.ACTING


def test_that_a_continued_plan_can_neither_change_nor_repeat_what_was_approved() -> None:
    for other, words in (
        (replace(LONGER, steps=LONGER.steps[1:]), "changed steps"),
        (replace(LONGER, steps=(*LONGER.steps, freeze())), "the id of an earlier step"),
        (replace(LONGER, steps=(*LONGER.steps, unfreeze())), "the id of an earlier step"),
    ):
        with pytest.raises(StoreError, match=words):
            Writer(MORE).write(line.continued("more", other, ())).view()


def test_that_a_plan_nobody_approved_is_shown_and_can_not_run() -> None:
    writer = Writer(approved=False)
    view = writer.view()
    assert (view.state, view.approved, view.started) == (RunState.NOT_STARTED, None, START)
    assert "waits for its approval" in view.sentence
    with pytest.raises(StoreError, match="not approved"):
        writer.write(line.run_state(RunState.RUNNING)).view()


@pytest.mark.parametrize("before", RunState)
@pytest.mark.parametrize("after", RunState)
def test_that_a_run_only_takes_its_legal_ways(before: RunState, after: RunState) -> None:
    writer = Writer(approved=False).write(line.approved("ana@desk"))
    for state in _way(RUN_WAYS, RunState.NOT_STARTED, before):
        writer.write(line.run_state(state))
    writer.write(line.run_state(after))
    if after in RUN_WAYS[before] or after is before:
        assert writer.view().state is after
    else:
        with pytest.raises(StoreError, match=f"a run that is '{before.value}' cannot become '{after.value}'"):
            writer.view()


@pytest.mark.parametrize("before", StepState)
@pytest.mark.parametrize("after", StepState)
def test_that_a_step_only_takes_its_legal_ways(before: StepState, after: StepState) -> None:
    writer = Writer().step("freeze-n1", *_way(STEP_WAYS, StepState.PENDING, before), after)
    if after in STEP_WAYS[before] or after is before:
        assert writer.view().steps[0].state is after
    else:
        with pytest.raises(StoreError, match=f"is '{before.value}' and cannot become '{after.value}'"):
            writer.view()


def _way(ways: dict[S, frozenset[S]], first: S, last: S) -> tuple[S, ...]:
    """Return the states that lead from `first` (left out) to `last`."""
    known: dict[S, tuple[S, ...]] = {first: ()}
    while last not in known:
        known.update({n: (*way, n) for s, way in list(known.items()) for n in ways[s] if n not in known})
    return known[last]


GOOD_ENTRIES = done_run(GOOD).entries()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ((), "no plan in the journal"),
        (GOOD_ENTRIES[1:], "it does not begin with a plan"),
        ((*GOOD_ENTRIES[:4], *GOOD_ENTRIES[5:]), "entry 5 is missing"),
        ((*GOOD_ENTRIES[:4], GOOD_ENTRIES[3]), "entry 5 is missing"),
        ((GOOD_ENTRIES[0], replace(GOOD_ENTRIES[0], seq=2)), "kind 'planned' has no meaning here"),
        ((GOOD_ENTRIES[0], Entry("1", 2, 0.0, "dreamt")), "kind 'dreamt' has no meaning here"),
        ((GOOD_ENTRIES[0], Entry("1", 2, 0.0, "run", "", {"state": "dreaming"})), "'dreaming' is of a newer"),
        ((GOOD_ENTRIES[0], Entry("1", 2, 0.0, "step", "gone", {"state": "acting"})), "has no step 'gone'"),
        ((GOOD_ENTRIES[0], Entry("1", 2, 0.0, "step", "freeze-n1")), "the state None"),
    ],
)
def test_that_a_journal_that_can_not_be_followed_names_the_entry(changed: tuple[Entry, ...], words: str) -> None:
    with pytest.raises(StoreError, match=words):
        project(changed)


@given(st.sampled_from(GOOD_ENTRIES), st.sampled_from(("state", "plan", "obligation", "question", "checks")))
def test_that_damaged_data_is_an_error_of_the_store_or_harmless(entry: Entry, name: str) -> None:
    damaged = replace(entry, data={**(entry.data or {}), name: {"is": 7}})
    entries = tuple(damaged if e.seq == entry.seq else e for e in GOOD_ENTRIES)
    try:
        assert project(entries).plan == GOOD
    except StoreError:
        assert name in (entry.data or {})


def test_that_locks_and_notes_change_nothing_of_the_view() -> None:
    before = Writer().view()
    after = Writer().write(line.lock("taken", ("n1",), "Locked."), line.note("x", "y", "freeze-n1")).view()
    assert replace(after, journal_at=before.journal_at) == before


def test_that_a_finished_start_step_is_not_among_what_waits() -> None:
    writer = Writer(plan_of(start())).step("start-n2", StepState.CHECKING, StepState.ALREADY)
    shown = writer.view().steps[0]
    assert (shown.ended, shown.until, shown.said) == (START + 40, None, "")

"""Whatever goes wrong, is wished for and is killed: the engine goes no way that the model does not know."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from services.errors import StoreError, UserError
from services.procedures.engine.parts import Policy
from services.procedures.journal.projection import ENDED, UNFINISHED, project
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Breach, Plan, Step, WatchRule
from services.procedures.plan.run_model import RUN_WAYS, STEP_WAYS, Entry, Question, RunState, RunView, StepState
from tests.examples import examples
from tests.unit.procedures.engine_world import (
    Bench,
    Killed,
    ask,
    borrow,
    give_back,
    is_,
    lost,
    plan_of,
    rest,
    switch,
    wait,
    work,
)

MANY = 40
WISHES = ("pause", "cancel", "undo", "leave", "close", "go_on")
ANSWERS = {
    "failed": ("again", "undo", "leave"),
    "doubt": ("done", "again", "stop"),
    "breach": ("go on", "undo", "stop"),
    "step": ("yes", "stop"),
}


@dataclass(frozen=True, slots=True)
class Fate:
    """What happens to one run."""

    plan: Plan
    kills: tuple[tuple[int, bool], ...]
    full_at: int
    faults: tuple[tuple[str, bool, int], ...]  # key, way broke (else refused), how often
    wishes: tuple[tuple[int, str], ...]  # at the n-th look of the listener
    answers: dict[str, str]
    undoes: bool


@st.composite
def fates(draw: st.DrawFn) -> Fate:
    """Return any plan of this world with anything that can go wrong."""
    frozen = draw(st.booleans())
    pool: list[Step] = [switch("n1", "a"), switch("n2", "b", repeatable=True), work("n2", "data"), ask(), rest()]
    pool += [switch("n3", "c", proof=(is_("n3", "never"),)), wait("n3", "late", limit_s=20.0)]
    middle = draw(st.lists(st.sampled_from(pool), unique=True, max_size=4))
    steps = [borrow("n1", "frozen"), *middle, give_back("n1", "frozen")] if frozen else [*middle, rest()]
    steps = list(dict.fromkeys(steps))
    does, releases = (Breach.RELEASE, "frozen:n1") if frozen and draw(st.booleans()) else (Breach.PAUSE, "")
    rule = WatchRule("ROOM", is_("n3", "full", "OFF"), "The disk fills.", does, releases=releases)
    keys = [s.step_id for s in steps] + [f"undo:{s.step_id}" for s in steps] + ["release:frozen:n1"]
    keys += [f"late {key}" for key in keys]
    number = st.integers(1, 40)
    return Fate(
        plan_of(*steps, watches=draw(st.sampled_from(((), (rule,))))),
        draw(st.lists(st.tuples(number, st.booleans()), max_size=3).map(tuple)),
        draw(st.sampled_from((0, 0, 0)) | number),
        draw(st.lists(st.tuples(st.sampled_from(keys), st.booleans(), st.integers(1, 8)), max_size=3).map(tuple)),
        draw(st.lists(st.tuples(st.integers(1, 60), st.sampled_from(WISHES)), max_size=3).map(tuple)),
        {topic: draw(st.sampled_from(words)) for topic, words in ANSWERS.items()},
        draw(st.booleans()),
    )


@settings(max_examples=examples(MANY))
@given(fates())
def test_that_no_fate_of_a_run_leads_off_the_legal_ways_or_leaves_anything_armed(fate: Fate) -> None:
    assert violations(fate.plan, begun=True) == ()
    bench = _live(fate)
    entries = bench.journal.entries(bench.run_id)
    view = project(entries)  # raises for a way that no reader could follow
    _legal(entries)
    assert bench.hosts.armed == ()
    if view.state in ENDED:
        assert not view.live
        assert all(o.release_failed for o in view.obligations)
    if view.state in {RunState.DONE, RunState.UNDONE}:
        assert view.obligations == ()
    _announced(bench, entries)


@settings(max_examples=examples(MANY))
@given(fates())
def test_that_any_fate_can_be_brought_to_a_rest_by_leaving_and_nothing_stays_on_or_locked(fate: Fate) -> None:
    bench = _live(fate)
    bench.world.fails.clear()
    bench.world.deaf.clear()
    bench.journal.full_at = 0
    engine = bench.engine()
    if engine.view.state in ENDED:
        engine.release()
    else:
        assert engine.leave("enough") is RunState.LEFT
    view = bench.engine().view
    assert view.state in ENDED
    assert view.obligations == ()
    assert view.locked == ()
    assert bench.world.value("n1", "frozen") == "OFF"
    assert bench.hosts.armed == ()


@settings(max_examples=examples(MANY))
@given(fates())
def test_that_any_fate_that_is_not_over_can_be_taken_back_once_the_hosts_answer(fate: Fate) -> None:
    bench = _live(fate)
    bench.world.fails.clear()
    bench.journal.full_at = 0
    engine = bench.engine()
    if engine.view.state in ENDED | {RunState.NOT_STARTED}:
        return
    assert engine.undo() is RunState.UNDONE
    for name, host in (("a", "n1"), ("b", "n2"), ("c", "n3"), ("frozen", "n1")):
        assert bench.world.value(host, name) == "OFF"
    resting = {s.state for s in bench.engine().view.steps}
    assert not resting & UNFINISHED


def _live(fate: Fate) -> Bench:
    """Let consoles come and go as fate has it; the last one is not killed."""
    bench = Bench(fate.plan, policy=Policy("undo" if fate.undoes else "ask", by="ann"))
    bench.person.answers = {topic: [word] for topic, word in fate.answers.items()}
    for key, broken, times in fate.faults:
        bench.world.fails.setdefault(key, []).extend(
            lost("n1") if broken else UserError("Refused.", host="n1") for _ in range(times)
        )
    wishes, looks = Counter(dict(fate.wishes)), 0
    words = dict(fate.wishes)

    def shown(view: RunView) -> None:
        nonlocal looks
        looks += 1
        if looks in wishes:
            _wish(bench, words[looks])
        if view.state is RunState.PAUSED:  # nothing more is shown of a run that rests: this is the moment to go on
            bench.control.go_on()

    def asked(question: Question) -> None:
        if len(bench.person.asked) > 30:  # a person who says "again" for ever gives up one day
            bench.control.leave("no more")

    bench.run_changed, bench.person.on_ask = shown, asked  # type: ignore[method-assign, assignment]
    bench.journal.full_at = fate.full_at
    for number, before in (*fate.kills, (0, False)):
        bench.journal.written, bench.journal.kill_at, bench.journal.kill_before = 0, number, before
        try:
            bench.run()
        except (Killed, StoreError):
            continue
        finally:
            bench.journal.kill_at = 0
    return bench


def _wish(bench: Bench, word: str) -> None:
    if word == "leave":
        bench.control.leave("enough")
    else:
        getattr(bench.control, word)()


def _legal(entries: tuple[Entry, ...]) -> None:
    run, steps = RunState.NOT_STARTED, dict[str, StepState]()
    for entry in entries:
        data = entry.data or {}
        if entry.kind == "run":
            then = RunState(data["state"])
            assert then is run or then in RUN_WAYS[run]
            run = then
        elif entry.kind == "step":
            now, next_ = steps.get(entry.step_id, StepState.PENDING), StepState(data["state"])
            assert next_ is now or next_ in STEP_WAYS[now]
            steps[entry.step_id] = next_


def _announced(bench: Bench, entries: tuple[Entry, ...]) -> None:
    """Every act that reached a host stands in the journal: nothing acts unannounced."""
    announced = sum((e.data or {}).get("state") in {"acting", "undoing"} for e in entries)
    announced += sum((e.data or {}).get("about") == "release" for e in entries)
    tries = sum(times for _, _, times in _late(bench))
    assert len(bench.world.done) <= announced + tries


def _late(bench: Bench) -> list[tuple[str, bool, int]]:
    """Acts whose answer was lost are tried again under one announcement."""
    return [(key, True, 8) for key in bench.world.fails if key.startswith("late ")]

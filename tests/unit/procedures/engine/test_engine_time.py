"""'For N seconds' is N seconds of that very step, whatever a prover says: twice in a run, resumed, undone, stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.clock import ManualClock
from services.connections.ports import Rows
from services.procedures.conditions.galera.membership.flow_control import FlowControlBelow
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.galera.membership.whole import FormedAgain
from services.procedures.conditions.server.clients import NoClients
from services.procedures.conditions.server.status import StatusIs
from services.procedures.engine.looks import Looks
from services.procedures.engine.rehearsal import rehearse
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.model import Risk, Step, Undo, WatchRule
from services.procedures.plan.remembering import Memory, most_gap_s
from services.procedures.plan.run_model import RunState
from services.procedures.verify.prover import RealProver
from tests.examples import examples
from tests.unit.procedures.engine_world import Bench, Killed, ask, plan_of, put, switch
from tests.unit.procedures.scripted_sessions import UNIT, UUID, ScriptedHosts, out, status

QUEUE = "wsrep_local_recv_queue"
EMPTY = StatusIs("n1", QUEUE, "<", "10", for_s=20.0)
NOTHING = Past({}, {})


class Eager:
    """A prover for whom everything is so, for as long as anybody likes: what a memory that outlives its wait says."""

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """Say yes."""
        del condition, past, memory
        return Answer(holds=True, evidence="so it was for 60 of 60 s")


class Stopping(ManualClock):
    """A clock that goes on out of the engine's sight (a SIGSTOP), or with which its console dies, at the n-th nap."""

    def __init__(self, gaps: dict[int, float] | None = None, dies_at: int = 0) -> None:
        super().__init__()
        self.gaps, self.dies_at, self.naps = gaps or {}, dies_at, 0

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        """Nap, and perhaps for much longer."""
        self.naps += 1
        if self.naps == self.dies_at:
            raise Killed
        return super().sleep(seconds + self.gaps.get(self.naps, 0.0), stop)


def watch(step_id: str, *conditions: Condition) -> Step:
    """Return a step that waits for conditions."""
    return Step(
        step_id, "n1", f"Watch n1 ({step_id})", WaitFor(conditions, f"n1, {step_id}"), risk=Risk.READS, limit_s=600.0,
        repeatable=True,
    )  # fmt: skip


def lasted(bench: Bench, step_id: str, last: str = "done") -> float:
    """Return the seconds from a step's newest beginning to its end, by the journal."""
    at = {
        str((e.data or {})["state"]): e.at
        for e in bench.journal.entries(bench.run_id)
        if e.kind == "step" and e.step_id == step_id
    }
    return at[last] - at["undoing" if last == "undone" else "acting"]


def test_that_the_same_watch_twice_in_a_run_lasts_twice_whatever_the_prover_says() -> None:
    bench = Bench(plan_of(watch("settle", EMPTY), watch("pause", EMPTY)), prover=Eager())
    assert bench.run() is RunState.DONE
    assert min(lasted(bench, "settle"), lasted(bench, "pause")) >= 20.0


def test_that_a_watch_of_a_resumed_run_begins_its_seconds_anew() -> None:
    bench = Bench(plan_of(watch("settle", EMPTY)), prover=Eager(), clock=Stopping(dies_at=38))
    with pytest.raises(Killed):
        bench.run()
    resumed = bench.clock.wall()
    assert bench.run() is RunState.DONE
    assert bench.clock.wall() - resumed >= 20.0


def test_that_what_an_undo_waits_for_lasts_as_long_as_it_says() -> None:
    step = switch("n1", "a", proof=(EMPTY,), limit_s=600.0)
    undo = Undo("Switch a of n1 off", put("a", "OFF"), (EMPTY,), 600.0, waits=(EMPTY,), waits_s=600.0)
    bench = Bench(plan_of(replace(step, undo=undo), ask()), prover=Eager())
    bench.person.on_ask = lambda _: bench.control.undo()
    bench.policy = replace(bench.policy, unattended=False)
    assert bench.run() is RunState.UNDONE
    assert lasted(bench, "a-n1") >= 20.0
    assert lasted(bench, "a-n1", "undone") >= 40.0


def test_that_one_look_never_shows_what_takes_seconds() -> None:
    assert Looks(Eager(), ManualClock()).answers((EMPTY,), NOTHING)[0].holds is False


def test_that_a_console_that_stood_still_in_a_watch_does_not_count_the_time() -> None:
    bench = Bench(plan_of(watch("pause", EMPTY)), prover=Eager(), clock=Stopping({30: 300.0}))
    assert bench.run() is RunState.DONE
    assert lasted(bench, "pause") >= 300.0 + 15.0 + 20.0 - 0.5


@given(
    spans=st.lists(st.sampled_from([0.0, 2.0, 13.0, 40.0]), min_size=1, max_size=4),
    gaps=st.dictionaries(st.integers(1, 200), st.sampled_from([1.0, 4.0, 9.0, 30.0]), max_size=6),
)
@settings(max_examples=examples(60))
def test_that_no_watch_of_any_plan_ends_before_it_was_looked_at_for_its_seconds(
    spans: list[float], gaps: dict[int, float]
) -> None:
    steps = [watch(f"w{i}", replace(EMPTY, for_s=span)) for i, span in enumerate(spans)]
    bench = Bench(plan_of(*steps), prover=Eager(), clock=Stopping(gaps))
    ended = bench.run()
    blind = sum(gap for gap in gaps.values() if gap + 0.5 > most_gap_s(13.0))
    for number, span in enumerate(spans):
        if ended is RunState.DONE:
            assert span - 0.01 <= lasted(bench, f"w{number}") <= 6 * (span + 1) + blind


# -- every condition with time in it ----------------------------------------------------------------------------------


def _quiet(hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].state = status(local_recv_queue="0", flow_control_paused_ns="5000000000")


def _apart(hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].state = status(cluster_status="non-Primary")


def _working(hosts: ScriptedHosts) -> None:
    session = hosts.sessions["n1"]
    session.rows["SELECT SUBSTRING_INDEX"] = Rows(("u",), (("pilothouse",),))
    session.rows["SELECT trx_mysql"] = Rows(("id",), ())
    session.rows["SELECT id"] = Rows(("id", "user", "command", "info", "time"), ((7, "app", "Query", "SELECT 1", 3),))


def _stopped(hosts: ScriptedHosts) -> None:
    session = hosts.sessions["n1"]
    session.state = {}
    session.programs = {
        "systemctl": out("ActiveState=inactive\nSubState=dead\nStatusText=\nResult=success\n"),
        "journalctl": out(""), "my_print_defaults": out("--datadir=/var/lib/mysql\n"), "date": out("1700000000.0"),
    }  # fmt: skip


TIMED: list[tuple[Condition, Callable[[ScriptedHosts], None], Callable[[Answer], bool]]] = [
    (EMPTY, _quiet, lambda a: bool(a.holds)),
    (FormedAgain(("n1", "n2"), UUID, 20.0), _apart, lambda a: bool(a.holds)),
    (NoClients("n1", patience_s=20.0), _working, lambda a: bool(a.holds)),
    (FlowControlBelow("n1", 0.1), _quiet, lambda a: a.holds is not None),
    (Joined("n1", UUID, UNIT), _stopped, lambda a: a.final),
]


@pytest.mark.parametrize(("condition", "made", "ripe"), TIMED, ids=[type(t[0]).__name__ for t in TIMED])
def test_that_what_one_attempt_has_seen_is_nothing_to_the_next_one(
    condition: Condition, made: Callable[[ScriptedHosts], None], ripe: Callable[[Answer], bool]
) -> None:
    hosts, clock = ScriptedHosts("n1", "n2"), ManualClock()
    for session in hosts.sessions.values():
        session.state = status()
    made(hosts)
    prover = RealProver(hosts, clock)
    for _ in range(2):
        attempt = Looks(prover, clock)
        assert not ripe(attempt.answers((condition,), NOTHING)[0])
        for _ in range(20):
            clock.advance(2)
            answer = attempt.answers((condition,), NOTHING)[0]
        assert ripe(answer)


def test_that_a_rehearsal_and_a_watch_rule_remember_nothing_of_the_run() -> None:
    seen: list[tuple[Condition, int]] = []
    alive: list[Memory] = []

    class Noting(Eager):
        def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
            seen.append((condition, id(memory)))
            alive.append(memory)
            return super().look(condition, past, memory)

    calm = FlowControlBelow("n1", 0.9)
    plan = plan_of(watch("first", EMPTY, calm), watch("second", EMPTY, calm), watches=(WatchRule("CALM", calm, "x"),))
    rehearse(plan, Noting())
    assert len({memory for _, memory in seen}) == len(seen) == 4
    seen.clear()
    bench = Bench(plan, prover=Noting())
    assert bench.run() is RunState.DONE
    assert len({memory for condition, memory in seen if condition == EMPTY}) == 2
    assert len({memory for condition, memory in seen if condition == calm}) == 3

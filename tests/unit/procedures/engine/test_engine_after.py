"""However a run ends, how the cluster looked then is kept; a picture that can't be taken stops nothing."""

from __future__ import annotations

import pytest

from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ALL_DOWN, ClusterSnapshot
from services.facts.model import Problem
from services.procedures.engine.parts import Policy
from services.procedures.journal.entries import topology_of
from services.procedures.plan.condition import Answer, Condition
from services.procedures.plan.looks import Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.run_model import RunState
from tests.unit.procedures.engine_world import Bench, WorldProver, borrow, give_back, is_, lost, plan_of, switch
from tests.unit.procedures.planning.test_failure_texts import refused

PERSON = Policy("ask", by="ann")
BROKEN = switch("n2", "b", proof=(is_("n2", "never"),))


def pictured(policy: Policy, *answers: str) -> Bench:
    bench = Bench(plan_of(switch("n1", "a"), BROKEN), policy=policy)
    bench.snapshot = lambda: ClusterSnapshot("uuid", GALERA, "c1", bench.clock.wall())
    bench.person.answers["failed"] = list(answers)
    return bench


def after(bench: Bench) -> ClusterSnapshot | None:
    return topology_of(bench.journal.entries(bench.run_id), "after")


def test_that_a_run_that_was_taken_back_has_its_after_even_where_the_undo_failed() -> None:
    bench = pictured(Policy("undo", unattended=True, by="ann"))
    assert bench.run() is RunState.UNDONE
    taken = after(bench)
    assert taken is not None
    last = max(e.at for e in bench.journal.entries(bench.run_id) if e.kind == "step")
    assert taken.at >= last
    failed = pictured(Policy("undo", unattended=True, by="ann"))
    failed.world.fails["undo:a-n1"] = [refused(), refused()]
    assert failed.run() is RunState.UNDO_FAILED
    assert after(failed) is not None


def test_that_a_run_that_was_left_and_one_that_failed_with_nobody_there_have_their_after() -> None:
    left = pictured(PERSON, "leave")
    assert left.run() is RunState.LEFT
    assert after(left) is not None
    alone = pictured(Policy("ask", unattended=True, by="ann"))
    assert alone.run() is RunState.FAILED
    assert after(alone) is not None


def test_that_an_after_is_none_any_more_once_the_failed_step_was_tried_again() -> None:
    bench = pictured(PERSON, "again", "leave")
    seen: list[ClusterSnapshot | None] = []
    bench.world.after["b-n2"] = lambda: seen.append(after(bench))
    assert bench.run() is RunState.LEFT
    assert seen == [None, None]
    assert after(bench) is not None


class _EndedProver(WorldProver):
    """Tells of one condition that its server has ended."""

    def look(self, condition: Condition, past: Past, memory: Memory) -> Answer:
        """See ports.Prover."""
        if condition == is_("n2", "never"):
            return Answer(holds=False, evidence="no server runs on n2", final=True, ended=True)
        return super().look(condition, past, memory)


@pytest.mark.parametrize("ended", [False, True])
def test_that_with_something_on_a_picture_is_taken_only_where_a_server_has_ended(ended: bool) -> None:
    bench = Bench(plan_of(borrow("n1", "f"), BROKEN, give_back("n1", "f")), policy=PERSON)
    if ended:
        bench.prover = _EndedProver(bench.world)
    shown: list[tuple[str, ...]] = []
    down = Problem("galera", "All are down.", ALL_DOWN)
    bench.snapshot = lambda: ClusterSnapshot("uuid", GALERA, "c1", bench.clock.wall(), problems=(down,))
    bench.person.answers["failed"] = ["leave"]
    bench.person.on_ask = lambda _question: shown.append(bench.view.problems)
    assert bench.run() is RunState.LEFT
    assert shown == [(ALL_DOWN,) if ended else ()]


@pytest.mark.parametrize("policy", [PERSON, Policy("undo", unattended=True, by="ann")])
def test_that_a_picture_that_can_not_be_taken_stops_nothing(policy: Policy) -> None:
    bench = pictured(policy, "undo")

    def fails() -> ClusterSnapshot | None:
        raise lost("n1")

    bench.snapshot = fails
    assert bench.run() is RunState.UNDONE
    assert after(bench) is None

"""mongo-config-rs past its point of no return, and a mongos that does not come back: what is put off waits with it.

On scripted hosts. Seen by a DBA: a mongos was put off, and its catalog was tried for three minutes all the same; the
answer that was offered where the run rested was refused, because the step was tried once more first.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.conditions.mongodb.balancer import BalancerIs
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.run_model import PUT_OFF, RESTS_AT, Question, RunState
from tests.faults.scripted.config_servers import sharded
from tests.faults.scripted.running import Bench

WINDOW = {"way": "window", "name": "cfg", "backup": "/srv/copy", "no_ddl": "yes", "no_others": "yes"}


class _PutsOff:
    """A person who puts off once, and mends r2 when the run asks the second time."""

    def __init__(self, bench: Bench) -> None:
        self.asked: list[str] = []
        self._bench = bench

    def answer(self, run_id: str, question: Question) -> str | None:
        del run_id
        if question.topic not in RESTS_AT:
            return None
        self.asked.append(question.step_id)
        if PUT_OFF in dict(question.ask.choices):
            return PUT_OFF
        self._bench.cluster.hosts["r2"].reachable = True
        return "again"


def test_that_the_catalog_of_a_mongos_that_is_put_off_is_not_tried_before_it() -> None:
    bench = Bench(sharded(), "mongo-config-rs", dict(WINDOW), frozenset({"r1"}))
    bench.begin()

    def cut_off(_: str, what: str) -> None:
        if "r1:new-string done" in what:
            bench.cluster.hosts["r2"].reachable = False

    bench.journal.told = cut_off
    person = bench.person = _PutsOff(bench)  # type: ignore[assignment]
    assert bench.run() is RunState.DONE, bench.engine().view.sentence
    assert person.asked[0] == "r2:new-string"
    assert "r2:catalog-converted" not in person.asked
    order = [(one.step_id, (one.data or {}).get("state")) for one in bench.journal.entries(bench.run_id)]
    done = order.index(("r2:new-string", "done"))
    assert all(step != "r2:catalog-converted" for step, _ in order[:done])
    assert ("r2:catalog-converted", "done") in order[done:]


def test_that_a_step_is_put_off_where_the_run_rests_without_being_tried_once_more() -> None:
    bench = Bench(sharded(), "mongo-config-rs", dict(WINDOW), frozenset({"r1"}))
    bench.begin()

    def cut_off(_: str, what: str) -> None:
        if "r1:new-string done" in what:
            bench.cluster.hosts["r2"].reachable = False

    bench.journal.told = cut_off
    assert bench.run() in {RunState.FAILED, RunState.WAITING}
    rests = bench.engine().view
    assert rests.question is not None
    assert rests.question.step_id == "r2:new-string"
    before = len(bench.journal.entries(bench.run_id))
    engine = bench.engine()
    engine._parts = replace(engine._parts, policy=replace(engine._parts.policy, put_off="r2:new-string"))
    engine.run()
    since = bench.journal.entries(bench.run_id)[before:]
    first = next(at for at, one in enumerate(since) if (one.data or {}).get("answer") == PUT_OFF)
    assert all(one.step_id != "r2:new-string" for one in since[:first])
    shown = {one.step.step_id: one for one in engine.view.steps}
    assert shown["shards"].state.value == "done", "what does not need it went first"


def test_that_a_mongos_that_is_mended_gets_its_string_and_its_try_while_the_shards_are_waited_for() -> None:
    bench = Bench(sharded(), "mongo-config-rs", dict(WINDOW), frozenset({"r1"}))
    bench.begin()
    shards = next(one.action for one in bench.plan()[1].steps if one.step_id == "shards")
    assert isinstance(shards, WaitFor)
    r2 = bench.cluster.hosts["r2"]

    def told(_: str, what: str) -> None:
        if "r1:new-string done" in what:
            r2.reachable = False
            bench.unreadable.extend(shards.conditions)
        elif "shards acting" in what:
            r2.reachable = True
        elif "r2:catalog-converted done" in what:
            bench.unreadable.clear()

    bench.journal.told = told
    person = bench.person = _PutsOff(bench)  # type: ignore[assignment]
    assert bench.run() is RunState.DONE, bench.engine().view.sentence
    assert person.asked == ["r2:new-string"]
    order = [(one.step_id, (one.data or {}).get("state")) for one in bench.journal.entries(bench.run_id)]
    done = [order.index(one) for one in (("r2:new-string", "done"), ("r2:catalog-converted", "done"))]
    assert order.index(("shards", "acting")) < done[0] < done[1] < order.index(("shards", "done"))


@pytest.mark.parametrize("way", ["window", "rolling"])
def test_that_the_point_asks_a_config_server_for_the_balancer_where_no_mongos_tells(way: str) -> None:
    """By a window none runs; by the rolling way each asks the first config server, which has stepped down (3.2.5)."""
    new = () if way == "window" else ("n1", "n2")
    answers = {**WINDOW, "way": way, **({"new": ",".join(new)} if new else {})}
    _, plan = Bench(sharded(*new), "mongo-config-rs", answers, frozenset({"r1", "c1"})).plan()
    point = next(one for one in plan.steps if one.no_return)
    asked = [one for one in point.first_before if isinstance(one, BalancerIs)]
    assert [one.others for one in asked] == [("r2", "c1", "c2", "c3")]

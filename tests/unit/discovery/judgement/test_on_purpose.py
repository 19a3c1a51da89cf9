"""A node that a run has stopped is told calmly; whatever else happens stays as bad as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.changes import events_between
from services.discovery.judgement.on_purpose import OnPurpose, told_on_purpose
from services.discovery.judgement.states import STARTED_BY_RUN, STOPPED_BY_RUN
from services.discovery.model import EstateSnapshot
from services.facts.model import NodeFacts
from services.types import Health, Reach
from tests.unit.discovery.scenes import AT, estate, member, node, only, side, sql_gone

STOPS = OnPurpose("db3", "47", 7, 42)
WHOLE = [member(n) for n in (1, 2, 3)]


def off(at: float, **host: object) -> NodeFacts:
    unit = {"process_state": "", "process_pid": None, "unit_state": "inactive/dead", **host}
    return sql_gone(member(3, at=AT), at=at, **unit)


def told(previous: EstateSnapshot, *facts: NodeFacts, at: float, moved: tuple[OnPurpose, ...]) -> EstateSnapshot:
    now = estate(*facts, previous=previous, at=at, expected={"db1": 3})
    return told_on_purpose(now, moved, previous)


def test_that_a_node_which_the_run_stopped_is_calm_in_drawing_and_journal() -> None:
    first = estate(*WHOLE, expected={"db1": 3})
    second = told(first, *side(1, 2, at=AT + 5), off(AT + 5), at=AT + 5, moved=(STOPS,))
    shown = node(second, "db3")
    assert (shown.state, shown.health, shown.reason) == (STOPPED_BY_RUN.word, Health.TRANSFER, "run 47, step 7 of 42")
    assert (only(second).health, only(second).problems) == (Health.TRANSFER, ())
    events = {e.kind: e for e in events_between(first, second)}
    assert events["state"].text == "db3: stopped by the run (was Synced): run 47, step 7 of 42"
    assert {events[kind].health for kind in ("state", "view")} == {Health.TRANSFER}
    third = told(second, *side(1, 2, at=AT + 9), off(AT + 9), at=AT + 9, moved=(STOPS,))
    assert (node(third, "db3").state_since, events_between(second, third)) == (AT + 5, ())


def test_that_a_spare_host_does_not_trouble_the_cluster_meanwhile() -> None:
    bare = NodeFacts("db4", AT + 5, Reach.SSH_ONLY, machine=off(AT + 5).machine, ssh_at=AT + 5)
    now = estate(*side(1, 2, at=AT + 5), off(AT + 5), bare, previous=estate(*WHOLE), at=AT + 5,
                 written={"db1": "orders", "db4": "orders"})  # fmt: skip
    assert node(now, "db4").health is Health.UNKNOWN
    assert only(told_on_purpose(now, (STOPS,))).health is Health.TRANSFER


def test_that_it_is_red_once_the_run_has_failed_or_is_over() -> None:
    first = estate(*WHOLE)
    second = told(first, *side(1, 2, at=AT + 5), off(AT + 5), at=AT + 5, moved=(STOPS,))
    third = told(second, *side(1, 2, at=AT + 9), off(AT + 9), at=AT + 9, moved=())
    assert (node(third, "db3").state, node(third, "db3").health, only(third).health) == (
        "not running", Health.BAD, Health.BAD,
    )  # fmt: skip
    (event,) = [e for e in events_between(second, third) if e.kind == "state"]
    assert (event.health, event.text) == (Health.BAD, "db3: not running (was stopped by the run)")


def test_that_another_node_that_goes_is_red_beside_it() -> None:
    first = estate(*WHOLE)
    other = sql_gone(member(2), at=AT + 5, process_state="", process_pid=None, unit_state="inactive/dead")
    second = told(first, *side(1, at=AT + 5), other, off(AT + 5), at=AT + 5, moved=(STOPS,))
    assert (node(second, "db2").health, node(second, "db3").health) == (Health.BAD, Health.TRANSFER)
    assert only(second).health is Health.BAD
    assert {e.health for e in events_between(first, second) if e.kind == "view"} == {Health.WARN}


@pytest.mark.parametrize(
    "broken",
    [
        off(AT + 5, unit_state="failed/failed"),
        sql_gone(member(3), at=AT + 5, process_state="T"),
        member(3, at=AT + 5, local_state=5, local_state_comment="Inconsistent"),
    ],
)
def test_that_a_fault_of_the_stopped_node_itself_stays_a_fault(broken: NodeFacts) -> None:
    second = told(estate(*WHOLE), *side(1, 2, at=AT + 5), broken, at=AT + 5, moved=(STOPS,))
    assert node(second, "db3").health is Health.BAD


def test_that_its_return_is_told_as_part_of_the_run() -> None:
    first = estate(*WHOLE)
    back = replace(STOPS, step=9, starts=True)
    second = told(first, *side(1, 2, at=AT + 5), off(AT + 5), at=AT + 5, moved=(back,))
    assert node(second, "db3").state == STARTED_BY_RUN.word
    fresh = member(3, at=AT + 20)
    assert fresh.server is not None
    again = replace(fresh, server=replace(fresh.server, started_at=AT + 18, uptime_s=2.0))
    both = [member(n, at=AT + 20) for n in (1, 2)]
    third = told(second, *both, again, at=AT + 20, moved=(back,))
    (event,) = [e for e in events_between(second, third) if e.kind == "restart"]
    assert (event.health, event.text) == (Health.TRANSFER, "db3 was restarted (run 47, step 9 of 42)")
    assert node(third, "db3").health is Health.GOOD

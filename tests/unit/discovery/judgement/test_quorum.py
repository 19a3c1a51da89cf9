"""Whether a cluster has a Primary Component is said only as far as its nodes were heard. Invented facts."""

from __future__ import annotations

import pytest

from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.changes import events_between
from services.discovery.model import ALL_DOWN, NO_PRIMARY, NO_PRIMARY_HEARD
from services.facts.model import NodeFacts
from services.types import Health
from tests.unit.discovery.scenes import AT, address, estate, member, only, sql_gone, unreached

LATER = AT + 20
HEARD = "None of the nodes that answer is in a Primary Component; the state of db3 is not known: it may be in one."
DOWN = {"process_state": "", "process_pid": None, "unit_state": "inactive/dead"}


def island(number: int) -> NodeFacts:
    """Return a node that sees only itself, outside of a Primary Component."""
    return member(number, at=LATER, cluster_status="non-Primary", cluster_size=1, conf_id=None, members=(),
                  incoming_addresses=(f"{address(number)}:0",))  # fmt: skip


SILENT = {
    "cut off": unreached(3, member(3), at=LATER),
    "frozen": sql_gone(member(3), at=LATER, code="timed-out", process_state="T"),
    "its login is refused": sql_gone(member(3), at=LATER, code="auth-failed"),
    "its process was not read": sql_gone(member(3), at=LATER, process_state="?", process_pid=None),
    "nothing heard lately": member(3),
}


@pytest.mark.parametrize("third", SILENT.values(), ids=SILENT)
def test_that_a_silent_member_may_be_the_primary_component_that_the_others_are_not(third: NodeFacts) -> None:
    before = estate(member(1), member(2), member(3))
    snapshot = estate(sql_gone(member(1), at=LATER, **DOWN), island(2), third, previous=before, at=LATER + 0.5)
    cluster = only(snapshot)
    assert [(p.code, p.sentence) for p in cluster.problems] == [(NO_PRIMARY_HEARD, HEARD)]
    assert (cluster.silent, cluster.health) == (("db3",), Health.BAD)
    texts = [event.text for event in events_between(before, snapshot) if event.kind == "view"]
    assert texts == ["orders: none of the nodes that answer is in a primary component"]
    assert only(snapshot_from_json(snapshot_to_json(snapshot))).silent == ("db3",)


def test_that_a_primary_component_is_denied_where_every_node_was_heard() -> None:
    before = estate(member(1), member(2), member(3))
    third = sql_gone(member(3), at=LATER, **DOWN)
    cluster = only(estate(island(1), island(2), third, previous=before, at=LATER + 0.5))
    assert [p.code for p in cluster.problems] == [NO_PRIMARY]
    assert cluster.silent == ()


def test_that_all_nodes_are_called_down_only_where_each_host_says_that_no_server_runs() -> None:
    before = estate(member(1), member(2), member(3))
    gone = [sql_gone(member(n), at=LATER, **DOWN) for n in (1, 2, 3)]
    down = only(estate(*gone, previous=before, at=LATER + 0.5))
    sentence = "All nodes of orders are down: each host reports that no server runs."
    way = "bootstrap-after-crash (Procedures) guides you through the start."
    assert [(p.code, p.sentence) for p in down.problems] == [(ALL_DOWN, f"{sentence} {way}")]
    for third in SILENT.values():
        unsure = only(estate(*gone[:2], third, previous=before, at=LATER + 0.5))
        assert (unsure.problems, unsure.silent) == ((), ("db3",))

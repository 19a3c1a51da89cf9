"""A cluster's reach in its snapshot: of donors that can give, the second best; unknown says why."""

from __future__ import annotations

from services.clock import ManualClock
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.model import ClusterReach, EstateSnapshot
from services.events import Bus
from services.facts.model import NodeFacts
from services.sampling.donors import with_reach
from services.sampling.hub import Hub
from tests.unit.discovery.scenes import AT, estate, member, plain, sql_gone

RATES = {"db1": {"ist_reach_s": 9000.0}, "db2": {"ist_reach_s": 500.0}, "db3": {"ist_reach_s": 4000.0}}


def _reach(found: EstateSnapshot) -> ClusterReach:
    (cluster,) = found.clusters
    assert cluster.ist_reach is not None
    return cluster.ist_reach


def _named(found: EstateSnapshot, node_id: str) -> str:
    node = found.clusters[0].node(node_id)
    return node.name if node is not None else ""


def test_that_the_second_best_donor_speaks_for_the_cluster() -> None:
    found = with_reach(estate(member(1), member(2), member(3)), RATES)
    reach = _reach(found)
    assert (reach.seconds, _named(found, reach.donor), reach.donors, reach.reason) == (4000.0, "db3", 3, "")


def test_that_a_node_that_only_receives_or_does_not_answer_gives_nobody_its_state() -> None:
    joining = member(1, local_state=1, local_state_comment="Joining")
    found = with_reach(estate(joining, member(2), member(3)), RATES)
    assert (_reach(found).seconds, _reach(found).donors) == (500.0, 2)
    whole = estate(member(1), member(2), member(3))
    gone = estate(sql_gone(member(1), at=AT + 20), member(2, at=AT + 20), member(3, at=AT + 20), previous=whole,
                  at=AT + 20.5)  # fmt: skip
    assert _reach(with_reach(gone, RATES)).donors == 2


def test_that_a_busy_donor_is_still_counted() -> None:
    busy = member(3, local_state=2, local_state_comment="Donor/Desynced")
    assert _reach(with_reach(estate(member(1), member(2), busy), RATES)).donors == 3


def test_that_one_known_donor_is_no_promise_and_says_so() -> None:
    reach = _reach(with_reach(estate(member(1), member(2), member(3)), {"db2": {"ist_reach_s": 500.0}}))
    assert (reach.seconds, reach.donors) == (None, 1)
    assert reach.reason.startswith("The reach of only one donor is known.")


def test_that_only_a_galera_cluster_has_a_reach() -> None:
    assert with_reach(estate(plain(1)), {"db1": {"ist_reach_s": 500.0}}).clusters[0].ist_reach is None


def test_that_the_hub_puts_it_into_every_snapshot_and_json_keeps_it() -> None:
    facts: tuple[NodeFacts, ...] = (member(1), member(2), member(3))
    hub = Hub(ManualClock(AT + 0.5), None, rates=lambda: RATES, bus=Bus())
    for one in facts:
        hub.put(one)
    found = hub.refresh()
    assert _reach(found).seconds == 4000.0
    assert snapshot_from_json(snapshot_to_json(found)) == found

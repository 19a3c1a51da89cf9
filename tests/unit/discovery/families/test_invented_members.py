"""A server that names members which are not there, others each time: what is drawn and counted stays bounded."""

from __future__ import annotations

from services.discovery.families.galera.members import MOST_STRANGERS
from services.discovery.families.shared.placeholders import LOST_S, MOST_LOST
from services.discovery.model import EstateSnapshot
from services.facts.model import GaleraMember
from tests.unit.discovery.scenes import AT, address, estate, galera, group_uuid, member, node, only, unreached


def inventing(count: int, turn: int, at: float, previous: EstateSnapshot | None) -> EstateSnapshot:
    """Return what is seen of a server that names `count` members beside itself, new ones in each turn."""
    rows = tuple(
        GaleraMember(group_uuid(1000 + n, turn), f"q{turn}x{n}", f"10.{turn}.{n // 250}.{n % 250}:0")
        for n in range(count)
    )
    view = {"cluster_size": count + 1, "cluster_weight": None, "conf_id": 100 + turn, "incoming_addresses": ()}
    liar = member(1, at=at, members=(galera(1).members[0], *rows), **view)
    return estate(liar, previous=previous, at=at + 0.5)


def test_that_new_names_each_time_neither_fill_the_picture_nor_add_votes_without_end() -> None:
    seen: EstateSnapshot | None = None
    for turn in range(30):
        seen = inventing(9, turn, AT + turn, seen)
        component = only(seen).components[0]
        assert (component.votes, component.size) == (10, 10)
        assert component.votes_known == 10
        assert len(only(seen).nodes) <= 1 + 9 + MOST_LOST + 9


def test_that_more_members_than_anybody_looks_at_are_counted_and_not_drawn() -> None:
    seen: EstateSnapshot | None = None
    for turn in range(4):
        seen = inventing(1000, turn, AT + turn, seen)
        cluster = only(seen)
        assert len(cluster.nodes) <= 1 + MOST_STRANGERS
        assert (cluster.components[0].votes, cluster.components[0].votes_known) == (1001, 1001)


def lost_arbitrator(at: float, previous: EstateSnapshot) -> EstateSnapshot:
    return estate(*(member(n, 2, at=at, conf_id=8) for n in (1, 2)), previous=previous, at=at)


def with_arbitrator() -> EstateSnapshot:
    rows = (*galera(1, 2).members, GaleraMember(group_uuid(9), "garb", ""))
    return estate(*(member(n, 2, cluster_size=3, members=rows) for n in (1, 2)))


def test_that_a_lost_member_counts_for_hours_and_then_ages_out() -> None:
    seen = lost_arbitrator(AT + 1, with_arbitrator())
    for later in (60.0, LOST_S - 60.0):
        seen = lost_arbitrator(AT + later, seen)
        assert node(seen, f"member:{group_uuid(9)}").state == "not seen by any node"
        assert only(seen).components[0].votes_known == 3
    seen = lost_arbitrator(AT + LOST_S + 60.0, seen)
    assert [n.node_id for n in only(seen).nodes] == ["db1", "db2"]
    assert only(seen).components[0].votes_known == 2


def test_that_no_member_ages_out_while_nobody_answers_who_could_name_it() -> None:
    seen = with_arbitrator()
    for later in (1.0, 60.0, LOST_S + 60.0):
        seen = estate(*(unreached(n, member(n, 2), at=AT + later) for n in (1, 2)), previous=seen, at=AT + later)
    assert node(seen, f"member:{group_uuid(9)}").state == "not seen by any node"


def test_that_a_member_that_changes_its_uuid_each_time_keeps_a_bounded_past() -> None:
    seen: EstateSnapshot | None = None
    for turn in range(50):
        rows = (galera(1).members[0], GaleraMember(group_uuid(7, turn), "other", f"{address(7)}:0"))
        view = {"cluster_size": 2, "conf_id": 100 + turn, "incoming_addresses": ()}
        seen = estate(member(1, at=AT + turn, members=rows, **view), previous=seen, at=AT + turn)
    assert seen is not None
    other = next(n for n in only(seen).nodes if n.node_id != "db1")
    assert len(other.uuid_history) == 32
    assert other.uuid_history[-1] == group_uuid(7, 49)

"""Two Primary Components of one state UUID: what one look shows, when two looks prove it, and that it is told after."""

from __future__ import annotations

from dataclasses import replace

from app.cli.terminal import estate_text
from services.discovery.families.galera.two_primaries import primaries_apart, seen_twice, told_until_settled
from services.discovery.model import NOT_SETTLED, TWO_PRIMARIES, EstateSnapshot, NotSettled
from services.facts.model import NodeFacts
from services.types import Health
from tests.unit.discovery.scenes import AT, STATE, address, estate, member, only, side, sql_gone


def split(at: float = AT, left: int = 8, right: int = 8) -> EstateSnapshot:
    return estate(*side(1, 2, at=at, conf_id=left), *side(3, at=at + 0.1, conf_id=right), at=at + 0.5)


def test_that_two_sides_which_do_not_count_each_other_are_apart() -> None:
    seen = primaries_apart(only(split()))
    assert seen is not None
    assert seen.sides == (("db1", "db2"), ("db3",))
    assert (seen.cluster_uuid, seen.at) == (STATE, AT + 0.1)
    assert seen.evidence == "each answered Primary, and none counted the others: db1, db2 (view 8); db3 (view 8)"


def test_that_sides_whose_views_are_numbered_on_apart_are_no_old_view() -> None:
    """A member that leaves one side moves its number: said before 'One side has been left behind'."""
    cluster = only(split(left=9, right=8))
    assert [p.code for p in cluster.problems] == [TWO_PRIMARIES]
    assert cluster.health is Health.BAD
    assert primaries_apart(cluster) is not None


def test_that_a_host_found_by_its_address_is_told_by_its_nodes_name() -> None:
    found = replace(side(3)[0], host=address(3))
    seen = primaries_apart(only(estate(*side(1, 2), found)))
    assert seen is not None
    assert seen.sides == (("db1", "db2"), ("db3",))


def test_that_an_older_view_which_counts_the_others_is_a_view_change() -> None:
    behind = member(3, at=AT + 0.2, conf_id=7)
    cluster = only(estate(*side(1, 2), behind))
    assert [p.code for p in cluster.problems] == ["views-differ"]
    assert primaries_apart(cluster) is None


def test_that_a_member_that_nobody_can_name_may_be_the_other_side() -> None:
    silent = side(1, conf_id=9, cluster_size=2, incoming_addresses=("",))
    cluster = only(estate(*silent, *side(3, conf_id=8)))
    assert primaries_apart(cluster) is None
    assert cluster.health is Health.BAD


def test_that_one_side_without_a_primary_is_a_partition_and_no_more() -> None:
    minority = side(3, cluster_status="non-Primary")
    assert primaries_apart(only(estate(*side(1, 2), *minority))) is None


def test_that_only_two_looks_one_after_the_other_prove_it() -> None:
    first, again = only(split()), only(split(AT + 2.0))
    seen = seen_twice(first, again)
    assert seen is not None
    assert seen.at == AT + 2.1
    assert seen_twice(first, first) is None  # the same answers are one look
    healed = only(estate(member(1, at=AT + 2), member(2, at=AT + 2), member(3, at=AT + 2), at=AT + 2.5))
    assert seen_twice(first, healed) is None


def test_that_an_answer_from_before_the_first_look_proves_nothing() -> None:
    late = estate(*side(1, 2, at=AT + 2.0), *side(3, at=AT + 0.1), at=AT + 2.5)
    assert seen_twice(only(split()), only(late)) is None


def test_that_a_side_which_lost_a_member_between_the_looks_is_still_that_side() -> None:
    one, two = side(1, 2)
    first = only(estate(one, two, *side(3), at=AT + 0.5))
    later = only(estate(*side(1, at=AT + 2, conf_id=9), sql_gone(two, at=AT + 2), *side(3, at=AT + 2), at=AT + 2.5))
    seen = seen_twice(first, later)
    assert seen is not None
    assert seen.sides == (("db1",), ("db3",))


def test_that_a_node_which_changed_sides_between_the_looks_proves_nothing() -> None:
    first = only(estate(*side(1), *side(2), at=AT + 0.5))
    later = only(estate(*side(1, 2, at=AT + 2), *side(3, at=AT + 2), at=AT + 2.5))
    assert seen_twice(first, later) is None


NOT_YET = NotSettled(1, STATE, "orders", (("db1", "db2"), ("db3",)), AT, AT + 60, "by two answers")


def test_that_both_sides_look_bad_however_well_each_node_feels() -> None:
    cluster = only(split())
    assert [(n.state, n.health) for n in cluster.nodes] == [("Synced", Health.BAD)] * 3
    assert {n.name: n.reason for n in cluster.nodes} == {
        "db1": "another primary component accepts writes separately from this one: db3",
        "db2": "another primary component accepts writes separately from this one: db3",
        "db3": "another primary component accepts writes separately from this one: db1 and db2",
    }


def test_that_it_is_told_until_a_person_settles_it() -> None:
    calm = estate(member(1), member(2), member(3))
    told = only(told_until_settled(calm, (NOT_YET,)))
    assert [p.code for p in told.problems] == [NOT_SETTLED]
    assert "db1, db2 | db3" in told.problems[0].sentence
    assert "until you settle it" in told.problems[0].sentence
    assert "pilothouse settle" in estate_text(EstateSnapshot(AT, (told,))), "a terminal says how"
    assert "pilothouse" not in told.problems[0].sentence, "a window has a way of its own"
    assert told.health is Health.WARN
    assert told_until_settled(calm, ()) == calm


def test_that_what_is_seen_now_is_told_once_and_in_red() -> None:
    told = only(told_until_settled(split(), (NOT_YET,)))
    assert [p.code for p in told.problems] == [TWO_PRIMARIES]
    assert told.health is Health.BAD


def test_that_it_is_told_of_a_cluster_that_nobody_speaks_for() -> None:
    bare = [sql_gone(member(n), process_state="") for n in (1, 2, 3)]
    down = estate(*(NodeFacts(b.host, b.at, b.reach, b.address, machine=b.machine, ssh_at=b.ssh_at) for b in bare))
    assert [p.code for p in told_until_settled(down, (NOT_YET,)).problems] == [NOT_SETTLED]
    strange = NotSettled(2, "other", "elsewhere", (("x1",), ("x2",)), AT, AT, "")
    assert told_until_settled(down, (strange,)) == down

"""What happened between two snapshots: the right events, once each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.as_json import snapshot_from_json
from services.discovery.changes import events_between
from services.discovery.families.group_replication.kind import GROUP_REPLICATION
from services.discovery.model import ClusterSnapshot, Component, EstateSnapshot, NodeView
from services.errors import BadInput, NothingListens
from services.facts.model import DiskFacts, NodeFacts, Problem, TransferFacts
from services.facts.mongodb.model import MongoFacts
from services.sampling.hub import EventLog
from services.types import Health, Reach
from tests.unit.discovery import mongo_scenes as mongo
from tests.unit.discovery.scenes import (
    AT,
    address,
    estate,
    group_uuid,
    machine,
    member,
    plain,
    server,
    side,
    sql_gone,
    unreached,
)

WHOLE = (member(1), member(2), member(3))


def test_that_nothing_new_is_no_event_and_a_first_snapshot_has_no_past() -> None:
    first = estate(*WHOLE)
    assert events_between(None, first) == ()
    later = estate(*(member(n, at=AT + 1) for n in (1, 2, 3)), previous=first, at=AT + 1)
    assert events_between(first, later) == ()


def test_that_a_state_change_names_node_and_both_words() -> None:
    first = estate(*WHOLE)
    second = estate(member(1), member(2), sql_gone(WHOLE[2], process_state=""), previous=first, at=AT + 1)
    (event,) = events_between(first, second)
    assert (event.kind, event.health, event.node_id, event.at) == ("state", Health.BAD, "db3", AT + 1)
    assert event.text == "db3: not running (was Synced)"


def test_that_a_console_which_asks_a_host_for_the_first_time_tells_no_change_of_it() -> None:
    first = estate(*WHOLE)
    waiting = NodeFacts("db3", AT + 1, Reach.NOT_TRIED, address(3))
    second = estate(member(1, at=AT + 1), member(2, at=AT + 1), waiting, previous=first, at=AT + 1)
    assert [n.code for c in second.clusters for n in c.nodes if n.host == "db3"] == ["not-contacted"]
    assert [e.text for e in events_between(first, second) if e.kind == "state"] == []


def test_that_a_node_that_comes_back_with_a_warning_says_which() -> None:
    first = estate(member(1), member(2), sql_gone(WHOLE[2], code="timed-out"), at=AT)
    slow = member(3, at=AT + 1, recv_queue=30)
    second = estate(member(1, at=AT + 1), member(2, at=AT + 1), slow, previous=first, at=AT + 1)
    (event,) = [e for e in events_between(first, second) if e.kind == "state"]
    assert event.health is Health.WARN
    assert event.text.startswith("db3: Synced (was SQL does not answer")
    assert event.text.endswith(": 30 write sets wait on db3: it slows down the group (limit 28)")


def test_that_a_split_is_no_calm_event_neither_when_it_is_first_seen_nor_while_it_lasts() -> None:
    two = estate(*side(1, 2), at=AT)
    both = estate(*side(1, 2, at=AT + 1), *side(3, at=AT + 1), previous=two, at=AT + 1)
    events = events_between(two, both)
    assert [(e.kind, e.health) for e in events] == [("view", Health.BAD)]
    assert events[0].text.endswith("two primary components accept writes separately: db1, db2 | db3")
    more = (*side(1, 2, at=AT + 2), *side(3, 4, at=AT + 2))
    later = events_between(both, estate(*more, previous=both, at=AT + 2))
    assert {e.health for e in later if e.kind == "view"} == {Health.BAD}


def test_that_a_member_that_leaves_and_returns_is_a_view_event() -> None:
    first = estate(*WHOLE)
    two = [member(n, cluster_size=2, conf_id=8, members=(), cluster_weight=2,
                  incoming_addresses=tuple(f"{address(i)}:0" for i in (1, 2))) for n in (1, 2)]  # fmt: skip
    second = estate(*two, unreached(3, WHOLE[2]), previous=first, at=AT + 1)
    kinds = {e.kind: e for e in events_between(first, second)}
    assert kinds["view"].text == "orders: db3 left; 2 of 3 votes"
    assert kinds["connection"].text == "db3 does not answer: No route"
    third = estate(*WHOLE, previous=second, at=AT + 2)
    back = {e.kind: e for e in events_between(second, third)}
    assert back["view"].text == "orders: db3 joined; 3 of 3 votes"
    assert back["view"].health is Health.GOOD


def test_that_a_restart_is_told_at_its_own_time() -> None:
    first = estate(*WHOLE)
    again = replace(
        member(3, at=AT + 60, node_uuid=group_uuid(3, 1)), server=server(3, started_at=AT + 50, uptime_s=10)
    )
    second = estate(member(1, at=AT + 60), member(2, at=AT + 60), again, previous=first, at=AT + 60)
    assert [(e.kind, e.at) for e in events_between(first, second)] == [("restart", AT + 50)]


def test_that_a_wobbling_start_time_is_no_restart() -> None:
    first = estate(*WHOLE)
    wobble = replace(WHOLE[2], server=server(3, started_at=AT - 4999))
    assert events_between(first, estate(*WHOLE[:2], wobble, previous=first)) == ()


def test_that_a_transfer_is_one_span_with_one_key() -> None:
    told = TransferFacts("db3", "db2", "SST", "mariabackup", since=AT)
    first = estate(*WHOLE)
    joiner = replace(member(3, local_state=1), transfers=(told,))
    second = estate(member(1), member(2, local_state=2), joiner, previous=first, at=AT + 1)
    (begin,) = [e for e in events_between(first, second) if e.kind == "transfer"]
    assert (begin.spans, begin.until, begin.text) == (True, None, "SST from db2 to db3")
    done = replace(member(3, at=AT + 9), transfers=(replace(told, since=AT + 0.4, ended=AT + 8),))
    third = estate(member(1, at=AT + 9), member(2, at=AT + 9), done, previous=second, at=AT + 9)
    (end,) = [e for e in events_between(second, third) if e.kind == "transfer"]
    assert (end.key, end.until) == (begin.key, AT + 8)  # as the log has it, not when it was read


def test_that_disk_and_clock_have_their_events() -> None:
    first = estate(*WHOLE)
    disk = DiskFacts("/var/lib/mysql", "/dev/vdb", 100 * 10**9, 0)
    bad = replace(WHOLE[2], machine=machine(3, data_disk=disk, clock_offset_s=-30.0))
    second = estate(*WHOLE[:2], bad, previous=first, at=AT + 1)
    texts = [e.text for e in events_between(first, second)]
    assert "db3: data disk full (0 B free)" in texts
    assert "db3: its clock is 30 s behind this workstation's" in texts
    back = [e.text for e in events_between(second, estate(*WHOLE, previous=second, at=AT + 2))]
    assert "db3: the data disk has room again (60 GB free)" in back
    assert "db3: its clock is correct again" in back


def test_that_the_loss_of_the_last_primary_component_is_told() -> None:
    first = estate(*WHOLE)
    alone = [member(n, cluster_status="non-Primary", cluster_size=1, conf_id=None, members=(), ready=False,
                    incoming_addresses=(f"{address(n)}:0",)) for n in (1, 2, 3)]  # fmt: skip
    second = estate(*alone, previous=first, at=AT + 1)
    assert [e.text for e in events_between(first, second) if e.kind == "view"] == ["orders has no primary component"]


def test_that_garbage_is_no_snapshot() -> None:
    with pytest.raises(BadInput, match="not a snapshot"):
        snapshot_from_json(b'{"at": "soon"}')


def test_that_a_transfer_between_two_readings_of_the_log_is_told_whole() -> None:
    first = estate(*WHOLE)
    short = TransferFacts("db3", "db2", "IST", since=AT + 1, ended=AT + 2)
    back = replace(member(3, at=AT + 10), transfers=(short,))
    second = estate(member(1, at=AT + 10), member(2, at=AT + 10), back, previous=first, at=AT + 10)
    (whole,) = [e for e in events_between(first, second) if e.kind == "transfer"]
    assert (whole.at, whole.until, whole.text) == (AT + 1, AT + 2, "IST from db2 to db3")
    third = estate(member(1, at=AT + 11), member(2, at=AT + 11), back, previous=second, at=AT + 11)
    assert [e for e in events_between(second, third) if e.kind == "transfer"] == []


def test_that_a_silence_is_one_span_and_told_in_the_past_once_it_is_over() -> None:
    first = estate(*WHOLE)
    second = estate(*WHOLE[:2], unreached(3, WHOLE[2]), previous=first, at=AT + 9)
    (lost,) = [e for e in events_between(first, second) if e.kind == "connection"]
    assert (lost.at, lost.until, lost.spans, lost.text) == (AT, None, True, "db3 does not answer: No route")
    again = [member(n, at=AT + 34) for n in (1, 2, 3)]
    back = events_between(second, estate(*again, previous=second, at=AT + 34))
    (over,) = [e for e in back if e.kind == "connection"]
    assert (over.key, over.at, over.until) == (lost.key, AT, AT + 34)
    assert over.text == "db3 did not answer for 34 s"
    log = EventLog()
    log.add(lost)
    log.add(over)
    assert [e.text for e in log.all()] == ["db3 did not answer for 34 s"]
    later = estate(*again[:2], unreached(3, again[2]), previous=second, at=AT + 50)
    (once_more,) = [e for e in events_between(estate(*again, at=AT + 34), later) if e.kind == "connection"]
    assert once_more.key != over.key


def test_that_a_host_that_never_answered_is_told_with_its_reason_once() -> None:
    refused = (
        Problem("sql", "db9: 10.20.0.19 port 3306 refused.", NothingListens.code, "10.20.0.19 port 3306 refused."),
    )
    silent = replace(unreached(9), problems=refused)
    first = estate(silent, at=AT)
    (told,) = events_between(None, first)
    assert (told.text, told.health, told.at, told.until) == (
        "db9 does not answer: 10.20.0.19 port 3306 refused", Health.BAD, AT, None,
    )  # fmt: skip
    second = estate(silent, previous=first, at=AT + 5)
    assert events_between(first, second) == ()
    answers = estate(plain(9, at=AT + 30), previous=second, at=AT + 30)
    (over,) = [e for e in events_between(second, answers) if e.kind == "connection"]
    assert (over.key, over.at, over.until, over.text) == (told.key, AT, AT + 30, "db9 did not answer for 30 s")


def test_that_a_silence_ends_though_its_host_turns_out_to_be_in_another_cluster() -> None:
    written = {f"db{n}": "orders" for n in (1, 2, 3)}
    dark = estate(*(unreached(n) for n in (1, 2, 3)), written=written, at=AT)
    light = estate(*WHOLE, previous=dark, written=written, at=AT + 9)
    began, over = events_between(None, dark), events_between(dark, light)
    assert {e.key for e in began} == {e.key for e in over if e.kind == "connection"}


def test_that_a_bad_state_that_is_over_is_told_with_how_long_it_lasted() -> None:
    first = estate(*WHOLE)
    down = unreached(3, WHOLE[2])
    second = estate(*WHOLE[:2], down, previous=first, at=AT + 9)
    third = estate(*(member(n, at=AT + 34) for n in (1, 2, 3)), previous=second, at=AT + 34)
    (state,) = [e for e in events_between(second, third) if e.kind == "state"]
    assert state.text.startswith("db3: Synced (was ")
    assert state.text.endswith(" for 25 s)")


@pytest.mark.parametrize(
    ("named", "known"),
    [
        ({"uuid_history": ("u2",)}, {"uuid_history": ("u1", "u2")}),
        ({"address": "10.0.0.2:3306"}, {"address": "10.0.0.2:3306"}),
    ],
)
def test_that_a_member_that_was_only_named_and_is_known_now_has_neither_left_nor_come(
    named: dict[str, object], known: dict[str, object]
) -> None:
    def group(node: NodeView, at: float) -> EstateSnapshot:
        nodes = (NodeView("g1", "g1"), node)
        whole = Component("main", True, ("g1", node.node_id), votes=2, votes_known=2)
        return EstateSnapshot(
            at, (ClusterSnapshot("u", GROUP_REPLICATION, "shop", at, nodes=nodes, components=(whole,)),)
        )

    before = group(replace(NodeView("member:u2", "10.0.0.2"), **named), AT)  # type: ignore[arg-type]
    after = group(replace(NodeView("g2", "g2"), **known), AT + 1)  # type: ignore[arg-type]
    assert [e for e in events_between(before, after) if e.kind == "view"] == []
    other = group(NodeView("g3", "g3"), AT + 1)
    (event,) = [e for e in events_between(before, other) if e.kind == "view"]
    assert event.text.startswith("shop: 10.0.0.2 left and g3 joined")


def test_that_a_rollback_that_was_over_between_two_looks_is_told_and_a_restarted_counter_is_none() -> None:
    def counted(number: int, uptime_s: int = 1000) -> tuple[NodeFacts, ...]:
        one = mongo.member(1)
        assert one.mongo is not None
        said = replace(one.mongo.server, rollbacks=number, uptime_s=uptime_s, data_path="/srv/db")
        own = MongoFacts(said, one.mongo.set, one.mongo.oplog)
        return mongo.facts("m1", own), mongo.member(2), mongo.member(3)

    def told(before: tuple[NodeFacts, ...], after: tuple[NodeFacts, ...]) -> list[tuple[str, Health, str]]:
        first = estate(*before)
        later = estate(*after, previous=first, at=AT + 1)
        return [(e.node_id, e.health, e.text) for e in events_between(first, later) if e.kind == "state"]

    assert told(counted(7), counted(7)) == []
    assert told(counted(7), counted(8)) == [
        (
            "m1",
            Health.BAD,
            "m1 rolled back writes that the rest of its set does not have; the saved documents are in /srv/db/rollback",
        )
    ]
    assert told(counted(7), counted(8, uptime_s=1)) == []
    assert told(counted(7), counted(900_000_000)) == []
